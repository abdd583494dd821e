/** What the ledger remembers of one exchange: the view, writable, and a few things that only the ledger needs. */
import type { CallView, LedgerView, WorkPhase } from './ledger-view.ts'
import type { RpcRequest } from './mcp/ask.ts'
import type { RuleId, Severity } from './mcp/rules.ts'
import type { ToolHints } from './mcp/tools.ts'
import type { AnswerShape, RecordedSource } from './record.ts'
import type { CauseKind } from './signal.ts'
import type { Timeline, TimelineBudget } from './timeline.ts'
import { timelineOf } from './timeline.ts'
import { closedByOf } from './verdict.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

export interface WorkState {
  source: RecordedSource | null
  /** Who told its start. */
  startedBy: RecordedSource | null
  startedAtMs: number | null
  /** The latest end told in time. */
  endedAtMs: number | null
  /** When the first end was told: what comes later than 2 s after is a duplicate. */
  firstEndToldAtMs: number | null
  phase: WorkPhase
}

export interface CallState extends Writable<CallView> {
  /** Its response is over, a report is waited for: told once. */
  isPending: boolean
  /** When its `notifications/cancelled` had reached the server. */
  cancelReachedAtMs: number | null
  /** After being told, the server still wrote a message for it. */
  hasMessageAfterTold: boolean
  /** Messages that came for it after it was cancelled, and that its client drops. */
  staleCount: number
  /** The last progress value; null: none yet. */
  progressValue: number | null
  /** Its stream was taken up again when the last value was this: up to it, the server may say all once more. */
  replayedTo: number | null
  /** Its result came on another exchange's stream. */
  isAnsweredElsewhere: boolean
  /** When it was issued again, and what the tools list says of that. */
  reissuedAtMs: number | null
  reissueHints: ToolHints | null
  hasDuplicate: boolean
  retryOf: string | null
  broken: readonly { readonly rule: RuleId; readonly severity: Severity }[]
  hasDrained: boolean
  readonly work: WorkState
}

export interface LedgerState extends Writable<LedgerView> {
  calls: CallState[]
  eventIds: string[]
  /** Nothing was told yet that its call would remember. */
  isFresh: boolean
  /** Since when the server has sent nothing; null while it is not its turn. */
  silentSinceMs: number | null
  /** When the client was last sent anything. */
  lastSentAtMs: number | null
  isSilenceOver: boolean
  /** The server's body shows its events. */
  hasEvents: boolean
  /** What the server's head promised. */
  seenAnswer: AnswerShape
  /** A whole JSON answer was there to be read. */
  hasJson: boolean
  /** Events from the server have ids: the stream may be resumed. */
  hasEventIds: boolean
  hasUnknownToken: boolean
  /** Of `subscriptions/listen`. */
  listening: 'asked' | 'acknowledged' | 'ended' | 'cancelled'
  /** It waits to see what becomes of the open requests it names. */
  namesOpen: boolean
  /** The head that the client got was the server's own. */
  hasServersHead: boolean
  /** Some of the answer could not be read for its meaning: encoded, or too long. */
  isUnread: boolean
  /** When each progress notification arrived that is still on its way to the client. */
  progressOnWay: number[] | null
  /** When the last bytes came that completed no event, and how many since the last that are told; null: an event is whole. */
  partSeenAtMs: number | null
  partBytes: number
  wouldCut: readonly { readonly hop: string; readonly cause: CauseKind; readonly atMs: number }[]
  notices: readonly string[]
  readonly timeline: Timeline
}

const NO_REQUEST: RpcRequest = { id: '', method: '', tool: null, progressToken: null, traceparent: null, paramsHash: null, taskId: null }

/** `method`: that of a notification, where there is no request. */
export function nameCall(call: CallState, request: RpcRequest | null, method: string | null): void {
  const { tool, progressToken, traceparent, taskId } = request ?? NO_REQUEST
  call.requestId = request?.id ?? null
  call.method = request?.method ?? method
  call.tool = tool
  call.progressToken = progressToken
  call.traceparent = traceparent
  call.askKey = request === null ? null : askKeyOf(request)
  call.taskId = taskId
}

export function callOf(request: RpcRequest | null, method: string | null): CallState {
  const { tool, progressToken, traceparent, taskId } = request ?? NO_REQUEST
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
    isPending: false,
    askKey: request === null ? null : askKeyOf(request),
    taskId,
    cancelReachedAtMs: null,
    hasMessageAfterTold: false,
    staleCount: 0,
    progressValue: null,
    replayedTo: null,
    isAnsweredElsewhere: false,
    reissuedAtMs: null,
    reissueHints: null,
    hasDuplicate: false,
    retryOf: null,
    broken: NONE,
    hasDrained: false,
    work: { source: null, startedBy: null, startedAtMs: null, endedAtMs: null, firstEndToldAtMs: null, phase: 'none' },
  }
}

const askKeyOf = ({ method, tool, paramsHash }: RpcRequest): string | null =>
  paramsHash === null ? null : `${method} ${tool ?? ''} ${paramsHash}`

/** What most exchanges have none of: shared, and replaced whole when one comes. */
const NONE: readonly never[] = []
const NO_IDS: string[] = []

/**
 * What every exchange begins with; `stateOf` fills in what is its own. One literal that has every key:
 * several spread together, or keys added after, make an object that each exchange pays for with a hash table.
 */
const BLANK: LedgerState = {
  id: '',
  kind: 'other',
  isUnderstood: false,
  answer: 'none',
  revision: null,
  client: null,
  session: null,
  traceId: null,
  spanId: null,
  connection: 0,
  httpMethod: '',
  target: '',
  remote: null,
  lastEventId: null,
  continuedOn: null,
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
  toldAtMs: null,
  serverOverAtMs: null,
  finishedAtMs: null,
  longestSilenceMs: 0,
  silenceAtCloseMs: null,
  lastSentAtMs: null,
  bytesRequest: 0,
  spokeLast: null,
  bytesSeen: 0,
  bytesSent: 0,
  silentSinceMs: null,
  isSilenceOver: false,
  hasEvents: false,
  seenAnswer: 'none',
  hasJson: false,
  hasEventIds: false,
  hasUnknownToken: false,
  listening: 'asked',
  namesOpen: false,
  hasServersHead: false,
  isUnread: false,
  partSeenAtMs: null,
  partBytes: 0,
  spanIds: NONE,
  eventIds: NO_IDS,
  calls: [],
  isFresh: true,
  cancels: NONE,
  progressOnWay: null,
  wouldCut: NONE,
  notices: NONE,
  timeline: timelineOf({ entriesLeft: 0 }),
}

export const stateOf = (id: string, budget: TimelineBudget): LedgerState => ({
  ...BLANK,
  id,
  calls: [callOf(null, null)],
  timeline: timelineOf(budget),
})

/** The call a report or an answer means; the only one where it does not say. */
export function callNamed(state: LedgerState, requestId: string | null): CallState | null {
  const [only] = state.calls
  if (state.calls.length === 1 && only !== undefined && (requestId === null || only.requestId === '')) return only
  return state.calls.find((call) => call.requestId === requestId) ?? null
}

export const isToolCall = ({ method }: CallView): boolean => method === 'tools/call'

export { cancelsByClosing } from './mcp/revision.ts'

/** The client was cut off by us, and the server talks on without knowing it. */
export const isDraining = ({ cause, toldAtMs }: LedgerView): boolean =>
  cause !== null && toldAtMs === null && closedByOf(cause) === 'sidecar'

/** Whole ms since it opened, as timelines and records tell them. */
export const sinceOpened = ({ openedAtMs }: LedgerView, atMs: number): number => Math.round(atMs - openedAtMs)
