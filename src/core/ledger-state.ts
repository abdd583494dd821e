/** What the ledger remembers of one exchange: the view, writable, and a few things that only the ledger needs. */
import type { CallView, LedgerView, WorkPhase } from './ledger-view.ts'
import type { RpcRequest } from './mcp/ask.ts'
import type { RecordedSource } from './record.ts'
import type { CauseKind } from './signal.ts'
import type { Timeline, TimelineBudget } from './timeline.ts'
import { createTimeline } from './timeline.ts'
import { closedByOf } from './verdict.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

export interface WorkState {
  source: RecordedSource | null
  startedAtMs: number | null
  /** The latest end told in time. */
  endedAtMs: number | null
  /** When the first end was told: what comes later than 2 s after is a duplicate. */
  firstEndToldAtMs: number | null
  phase: WorkPhase
}

export interface CallState extends Writable<CallView> {
  /** When its `notifications/cancelled` had reached the server. */
  cancelReachedAtMs: number | null
  /** After being told, the server still wrote a message for it. */
  hasMessageAfterTold: boolean
  hasDrained: boolean
  readonly work: WorkState
}

export interface LedgerState extends Writable<LedgerView> {
  calls: CallState[]
  spanIds: string[]
  /** Since when the server has sent nothing; null while it is not its turn. */
  silentSinceMs: number | null
  isSilenceOver: boolean
  /** The server's body shows its events. */
  hasEvents: boolean
  /** The head that the client got was the server's own. */
  hasServersHead: boolean
  /** Some of the answer could not be read for its meaning: encoded, or too long. */
  isUnread: boolean
  /** When each progress notification arrived that is still on its way to the client. */
  readonly progressOnWay: number[]
  /** When the last bytes came that completed no event, and how many since the last that are told; null: an event is whole. */
  partSeenAtMs: number | null
  partBytes: number
  readonly wouldCut: { readonly hop: string; readonly cause: CauseKind; readonly atMs: number }[]
  readonly notices: string[]
  readonly timeline: Timeline
}

const NO_REQUEST: RpcRequest = { id: '', method: '', tool: null, progressToken: null, traceparent: null }

export function callOf(request: RpcRequest | null, method: string | null): CallState {
  const { tool, progressToken, traceparent } = request ?? NO_REQUEST
  return {
    requestId: request?.id ?? null,
    method: request?.method ?? method,
    tool,
    progressToken,
    traceparent,
    result: 'none',
    resultAtMs: null,
    resultOutcome: null,
    isTask: false,
    abandonedAtMs: null,
    abandonedBy: null,
    progressSeen: 0,
    progressSent: 0,
    isSettled: false,
    cancelReachedAtMs: null,
    hasMessageAfterTold: false,
    hasDrained: false,
    work: { source: null, startedAtMs: null, endedAtMs: null, firstEndToldAtMs: null, phase: 'none' },
  }
}

export function stateOf(id: string, budget: TimelineBudget): LedgerState {
  return {
    id,
    kind: 'other',
    isUnderstood: false,
    answer: 'none',
    revision: null,
    client: null,
    session: null,
    traceId: null,
    spanId: null,
    spanIds: [],
    connection: 0,
    openedAtMs: 0,
    openedWallMs: 0,
    askedAtMs: null,
    status: null,
    seenStatus: null,
    headersAtMs: null,
    firstByteAtMs: null,
    firstEventAtMs: null,
    closedAtMs: null,
    cause: null,
    ending: null,
    closedBeforeHeaders: false,
    longestSilenceMs: 0,
    silenceAtCloseMs: null,
    bytesRequest: 0,
    bytesSeen: 0,
    bytesSent: 0,
    toldAtMs: null,
    serverOverAtMs: null,
    finishedAtMs: null,
    calls: [callOf(null, null)],
    cancels: [],
    silentSinceMs: null,
    isSilenceOver: false,
    hasEvents: false,
    hasServersHead: false,
    isUnread: false,
    progressOnWay: [],
    partSeenAtMs: null,
    partBytes: 0,
    wouldCut: [],
    notices: [],
    timeline: createTimeline(budget),
  }
}

/** The call a report or an answer means; the only one where it does not say. */
export function callNamed(state: LedgerState, requestId: string | null): CallState | null {
  const [only] = state.calls
  if (state.calls.length === 1 && only !== undefined && (requestId === null || only.requestId === '')) return only
  return state.calls.find((call) => call.requestId === requestId) ?? null
}

export const isToolCall = ({ method }: CallView): boolean => method === 'tools/call'

/** A disconnect cancels; there is no notification for it. Dates compare as text. */
export const cancelsByClosing = (revision: string | null): boolean => revision !== null && revision >= '2026-07-28'

/** The client was cut off by us, and the server talks on without knowing it. */
export const isDraining = ({ cause, toldAtMs }: LedgerView): boolean =>
  cause !== null && toldAtMs === null && closedByOf(cause) === 'sidecar'
