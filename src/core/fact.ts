/** What was seen to happen to one exchange, in order. Facts are added, never edited; times are the clock's `nowMs`. */
import type { AskHead, AskMeaning } from './mcp/ask.ts'
import type { RuleId, Severity } from './mcp/rules.ts'
import type { ToolHints } from './mcp/tools.ts'
import type { Note } from './seat.ts'
import type { Break, Cause, Ending, EventMark, RawHeaders, Side } from './signal.ts'
import type { ChildContext } from './trace-context.ts'

/** `request`: client → sidecar; `seen`: server → sidecar; `sent`: sidecar → client; `passed`: seen and sent at once. Body bytes only. */
export type Flow = 'request' | 'seen' | 'sent' | 'passed'

export type Fact =
  /** The exchange owns its connection. `spanId` is the one given upstream, or null where nothing is injected. */
  | {
      readonly kind: 'opened'
      readonly atMs: number
      readonly wallMs: number
      readonly method: string
      readonly target: string
      readonly rawHeaders: RawHeaders
      readonly traceId: string | null
      readonly spanId: string | null
      /** The n-th accepted since the start. */
      readonly connection: number
      /** Where the client's connection comes from; absent: not known. */
      readonly remote?: string
    }
  /**
   * What the request says; told before anything but `opened` and `moved`, as soon as headers or body tell.
   * Where the headers told first (ids are then `''`), it is told again with the body's ids; the later telling replaces the earlier.
   * A trace that only the body names replaces the one of `opened`.
   */
  | { readonly kind: 'understood'; readonly atMs: number; readonly ask: AskMeaning; readonly traceId?: string; readonly spanId?: string }
  /** The request's last byte arrived. */
  | { readonly kind: 'asked'; readonly atMs: number }
  /** A response head at one of the edges. */
  | {
      readonly kind: 'head'
      readonly atMs: number
      readonly at: Side
      readonly status: number
      readonly rawHeaders: RawHeaders
      readonly origin: 'upstream' | 'sidecar'
    }
  | { readonly kind: 'moved'; readonly atMs: number; readonly flow: Flow; readonly bytes: number }
  /** A whole SSE event at one of the edges. The same mark at both: the same event. */
  | { readonly kind: 'event'; readonly atMs: number; readonly at: Side; readonly mark: EventMark }
  /** A whole JSON answer, 1 MiB at most; null where it was longer, encoded or cut. Its bytes do not change any more. */
  | { readonly kind: 'json'; readonly atMs: number; readonly bytes: Uint8Array | null }
  /** What a seat says of its own doing. */
  | { readonly kind: 'noted'; readonly atMs: number; readonly seat: string; readonly note: Note }
  /** The response towards the client is over; told once, with the first cause. */
  | { readonly kind: 'closed'; readonly atMs: number; readonly cause: Cause; readonly ending: Ending }
  /** The server could know that the client is gone: its own connection was closed by us. Never told where a seat hides it. */
  | { readonly kind: 'told'; readonly atMs: number; readonly ending: Break }
  /** The server's side of the response is over. */
  | { readonly kind: 'server_over'; readonly atMs: number; readonly how: Ending }
  | { readonly kind: 'work'; readonly atMs: number; readonly report: WorkReport }
  /** In shadow mode: a hop or fault would have cut here. */
  | { readonly kind: 'would_cut'; readonly atMs: number; readonly cause: Cause }
  /** Something the user should know of this exchange, in a few fixed words: `clean-became-fin`, `stale-socket`. */
  | { readonly kind: 'notice'; readonly atMs: number; readonly what: string }
  /** A `notifications/cancelled` for one of its requests arrived on another exchange: the journal joins them, the wire never tells this. */
  | { readonly kind: 'cancelled'; readonly atMs: number; readonly requestId: string }
  /** That notification reached the server, at `reachedAtMs`. Told by the journal. */
  | { readonly kind: 'cancel_told'; readonly atMs: number; readonly reachedAtMs: number; readonly requestId: string }
  /** What another exchange of the same session or client means for this one. Told by the journal. */
  | { readonly kind: 'joined'; readonly atMs: number; readonly join: Join }
  /** The exchange's both sides are over and nothing more will come but work. */
  | { readonly kind: 'finished'; readonly atMs: number }

/** `reissued`: the same call under a new request; `resumed`: by `Last-Event-ID`; `reconnected`: a GET or listen stream opened anew. */
export type RetryKind = 'reissued' | 'resumed' | 'reconnected'

export type Join =
  /** It repeats `of`; null: it says so itself, and nobody knows what. */
  | { readonly is: 'retry'; readonly requestId: string | null; readonly of: string | null; readonly how: RetryKind }
  /** The call was issued again, as `by`; `hints`: what the tools list says of doing it twice. */
  | { readonly is: 'reissued'; readonly requestId: string | null; readonly by: string; readonly hints: ToolHints | null }
  /** Its answer is awaited on that exchange's stream from now on: a resumption, or the stream of 2024-11-05. */
  | { readonly is: 'continued'; readonly on: string }
  /** A message for it at that exchange's edge. */
  | { readonly is: 'message'; readonly on: string; readonly at: Side; readonly requestId: string | null; readonly mark: EventMark }
  /** That stream is over as well. */
  | { readonly is: 'discontinued'; readonly on: string }
  /** The server could know of it. */
  | { readonly is: 'told' }
  /** A rule was broken that this exchange alone does not show. `severity` absent: as the revision has it. */
  | {
      readonly is: 'broke'
      readonly rule: RuleId
      readonly requestId: string | null
      readonly detail: string | null
      readonly severity?: Severity
    }
  /** It waits a moment to see what becomes of the requests it names, which are still open. */
  | { readonly is: 'names-open' }
  /** It is about the task that `of` was answered with. */
  | { readonly is: 'task'; readonly of: string; readonly taskId: string }
  /** A sentence for the record. */
  | { readonly is: 'remark'; readonly text: string }

export type WorkSource = 'otlp' | 'probe' | 'drain' | 'response'

/** What a matched report says; times are the exchange clock's, converted from the report's wall time. */
export interface WorkReport {
  readonly source: WorkSource
  /** `abort`: it ended because it was told to stop. */
  readonly event: 'start' | 'end' | 'abort'
  /** When it happened, which may be before `atMs`, when it was told. */
  readonly workAtMs: number
  readonly outcome: 'ok' | 'error' | 'aborted' | null
  /** Which JSON-RPC request of a batch it is for; null: the only one. Raw JSON text of the id. */
  readonly requestId: string | null
}

/** A request in place of `understood`: its bytes, which do not change any more, are read as one when the fact is taken (`unread.ts`). */
export interface Unread {
  readonly kind: 'unread'
  readonly atMs: number
  readonly head: AskHead
  readonly body: Uint8Array | null
  /** Where `opened` did not tell it. */
  readonly trace: ChildContext | null
}

export type Told = Fact | Unread

/** Where facts go. The wire is given one per exchange and never learns who listens. */
export type Tell = (told: Told) => void
