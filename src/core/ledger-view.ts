/** What sinks and reports may read of an exchange while it lives; all times are the clock's `nowMs`. */
import type { RetryKind } from './fact.ts'
import type { ExchangeKind } from './mcp/ask.ts'
import type { ListedTool } from './mcp/tools.ts'
import type { ResultOutcome } from './meaning.ts'
import type { AnswerShape, CallRecord, RecordedSource } from './record.ts'
import type { Cause, Ending } from './signal.ts'

/** One JSON-RPC request; an exchange without any has one nameless. */
export interface CallView {
  /** Raw JSON text; `''` while only the headers are known; null where there is no request. */
  readonly requestId: string | null
  readonly method: string | null
  readonly tool: string | null
  readonly progressToken: string | null
  /** `params._meta.traceparent`, as it came. */
  readonly traceparent: string | null
  readonly result: 'none' | 'seen' | 'sent'
  /** When the result arrived from the server. */
  readonly resultAtMs: number | null
  readonly resultOutcome: ResultOutcome | null
  readonly isTask: boolean
  readonly abandonedAtMs: number | null
  readonly abandonedBy: 'close' | 'notification' | null
  readonly progressSeen: number
  readonly progressSent: number
  readonly isSettled: boolean
  /** Two calls with the same one ask the same, whatever their ids; null: not known. */
  readonly askKey: string | null
  /** The task it is about (`tasks/get`, …). */
  readonly taskId: string | null
}

export interface LedgerView {
  readonly id: string
  /** `other` until understood. */
  readonly kind: ExchangeKind
  readonly isUnderstood: boolean
  readonly answer: AnswerShape
  readonly revision: string | null
  readonly client: string | null
  readonly session: string | null
  readonly traceId: string | null
  /** The span id given upstream. */
  readonly spanId: string | null
  /** Span ids of `traceId` that a report may name as ancestor: ours, the header's, those of each request's `_meta`. */
  readonly spanIds: readonly string[]
  readonly connection: number
  readonly httpMethod: string
  readonly target: string
  /** Where the client's connection comes from; null: not known. */
  readonly remote: string | null
  /** The event after which the client wants to go on. */
  readonly lastEventId: string | null
  /** The last event ids that left for the client. */
  readonly eventIds: readonly string[]
  /** The exchange on whose stream its answer is awaited; null: its own. */
  readonly continuedOn: string | null
  readonly openedAtMs: number
  readonly openedWallMs: number
  readonly askedAtMs: number | null
  /** What the client got, and what the server sent. */
  readonly status: number | null
  readonly seenStatus: number | null
  readonly headersAtMs: number | null
  readonly firstByteAtMs: number | null
  readonly firstEventAtMs: number | null
  readonly closedAtMs: number | null
  readonly cause: Cause | null
  readonly ending: Ending | null
  /** None of the server's headers had reached the client. */
  readonly closedBeforeHeaders: boolean
  readonly longestSilenceMs: number
  readonly silenceAtCloseMs: number | null
  readonly bytesRequest: number
  /** Whose bytes came last. */
  readonly spokeLast: 'client' | 'server' | null
  readonly bytesSeen: number
  readonly bytesSent: number
  readonly toldAtMs: number | null
  readonly serverOverAtMs: number | null
  readonly finishedAtMs: number | null
  readonly calls: readonly CallView[]
  /** The requests that its `notifications/cancelled` name, raw JSON text. */
  readonly cancels: readonly string[]
}

/** `orphaning`: it runs on after the abandonment. `over`: ended, or nobody will tell any more. */
export type WorkPhase = 'none' | 'running' | 'orphaning' | 'over'

/** What follows from the facts, told at the moment it does: no single fact shows it. */
export type Moment =
  /** Its kind is known now. Once per exchange. */
  | { readonly is: 'began' }
  /** The first event, comments aside, left for the client. */
  | { readonly is: 'first_event' }
  /** The server listed these tools, or began to answer a call of one. */
  | { readonly is: 'tools'; readonly names: readonly string[]; readonly listed?: readonly ListedTool[] }
  | { readonly is: 'abandoned'; readonly call: CallView; readonly by: 'close' | 'notification' }
  /** `startedBy`: who told the start; null: nobody did. The end may be told by another. */
  | {
      readonly is: 'work'
      readonly call: CallView
      readonly source: RecordedSource
      readonly startedBy: RecordedSource | null
      readonly from: WorkPhase
      readonly to: WorkPhase
    }
  /** The response of a tool call is over, and it waits to be settled. Once per call. */
  | { readonly is: 'pending'; readonly call: CallView }
  /** `held`: it reached the client later than it came. `lost`: it never will. */
  | { readonly is: 'progress'; readonly how: 'forwarded' | 'held' | 'dropped' | 'lost'; readonly count: number }
  /** After a cut that the server was not told of, this long it still had to say something. */
  | { readonly is: 'drained'; readonly call: CallView; readonly forMs: number }
  | { readonly is: 'retry'; readonly how: RetryKind }
  /** The call was issued again while the server still worked on it. Once per call. */
  | { readonly is: 'duplicate_work'; readonly call: CallView }
  /** Progress under a token that is none of this exchange's. Once per exchange. */
  | { readonly is: 'unknown_token'; readonly token: string | null }
  /** What an answer says of a task: the one it was answered with, or the one it asks about. */
  | { readonly is: 'task'; readonly call: CallView; readonly taskId: string; readonly status: string | null }
  /** What an `initialize` agreed on. */
  | { readonly is: 'revision'; readonly revision: string }

export type CauseClass = 'complete' | 'client' | 'server' | 'hop' | 'fault' | 'other'

/** A call whose record will not change any more. */
export interface Settlement {
  readonly record: CallRecord
  readonly exchangeId: string
  readonly call: CallView
  readonly isToolCall: boolean
  /** It was told as pending, and is no more. */
  readonly wasPending: boolean
  readonly causeClass: CauseClass
  /** Work past the abandonment by more than the grace, whole; 0 where there was none. */
  readonly orphanMs: number
  /** How long before the abandonment it ended; null where it did not, or none is known. */
  readonly beforeCloseMs: number | null
  /** From being told to the end, of work that stopped. */
  readonly cancelToStopMs: number | null
  readonly toolResult: ResultOutcome | 'none'
  /** It was issued again while the server still worked on it. */
  readonly isDuplicate: boolean
}
