/** What is told of one exchange when it is over, as users read it: `--events` JSON lines, the API, the report. Times in ms since it opened. */
import type { ExchangeKind } from './mcp/ask.ts'
import type { CauseKind, Ending } from './signal.ts'

export type AnswerShape = 'sse' | 'json' | 'none' | 'other'
export type ClosedBy = 'client' | 'server' | 'sidecar'
export type WorkOutcome = 'finished' | 'stopped' | 'orphaned' | 'unobserved' | 'delegated' | 'pending'
export type RecordedSource = 'otlp' | 'probe' | 'response'

export interface WorkRecord {
  readonly source: RecordedSource | null
  readonly startedMs: number | null
  readonly endedMs: number | null
  readonly outcome: WorkOutcome
  /** How long it went on after the abandonment; 0 where it ended before; null where nobody reported. */
  readonly afterCloseMs: number | null
}

/** `[atMs, what, …]`, e.g. `[5, "event", 150, "progress"]`; the string "truncated" stands in the record, not here. */
export type TimelineEntry = readonly [number, string, ...(number | string)[]]

export interface CallRecord {
  readonly id: string
  readonly openedAt: string
  readonly kind: ExchangeKind
  readonly answer: AnswerShape
  readonly method: string | null
  readonly tool: string | null
  /** As JSON has it; beyond 2^53 as a string of its digits. */
  readonly requestId: string | number | null
  readonly revision: string | null
  readonly traceId: string | null
  readonly spanId: string | null
  readonly client: string | null
  /** What the client got, and what the server sent; null where there was none. */
  readonly status: number | null
  readonly seenStatus: number | null
  readonly headersMs: number | null
  readonly firstByteMs: number | null
  readonly firstEventMs: number | null
  readonly closedMs: number | null
  readonly closedBeforeHeaders: boolean
  readonly longestSilenceMs: number
  readonly silenceAtCloseMs: number | null
  readonly progress: { readonly seen: number; readonly sent: number }
  readonly bytes: { readonly request: number; readonly seen: number; readonly sent: number }
  readonly closedBy: ClosedBy | null
  readonly cause: CauseKind | null
  readonly hop: string | null
  readonly fault: string | null
  readonly ending: Ending | null
  readonly result: 'none' | 'seen' | 'sent'
  readonly abandonedMs: number | null
  readonly abandonedBy: 'close' | 'notification' | null
  readonly toldMs: number | null
  readonly wouldCut: readonly { readonly hop: string; readonly cause: CauseKind; readonly atMs: number }[]
  readonly work: WorkRecord
  readonly retryOf: string | null
  readonly violations: readonly string[]
  readonly notices: readonly string[]
  readonly timeline: readonly TimelineEntry[]
  readonly truncated?: true
}
