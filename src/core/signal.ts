/** What travels along the line: `Ask` towards the server, `Reply` towards the client. Data only. */
import type { Meaning } from './meaning.ts'

export type Side = 'client' | 'server'

/** How a connection can break: `fin` in mid-message, or a TCP reset. A clean ending is an `end`, not a loss. */
export type Break = 'fin' | 'rst'
/** How a response may end as the client's edge got it. */
export type Ending = 'clean' | Break

export type CauseKind =
  | 'complete'
  | 'client_abort'
  | 'client_reset'
  | 'server_close'
  | 'server_reset'
  | 'unreachable'
  | 'header_timeout'
  | 'idle_timeout'
  | 'max_duration'
  | 'client_send'
  | 'fault'
  | 'limit'
  | 'operator'
  | 'shutdown'

/** Who began an ending. Made once by its author, handed on by reference by everyone it passes. */
export interface Cause {
  readonly kind: CauseKind
  /** The unique seat that decided it, e.g. `path[1]:nginx`; null where no seat did. */
  readonly seat: string | null
  /** The preset's name (`custom` for the flags' own hop), where a hop decided it. */
  readonly hop?: string
  /** The rule's name, where a fault decided it. */
  readonly fault?: string
  /** The silence that an idle limit has met, at the least: it counts what arrives there, and an inner hop may hold that back. */
  readonly silenceMs?: number
  /** One line for the client's 502 and the log: what really happened (`connect ECONNREFUSED 127.0.0.1:3000`). */
  readonly detail?: string
}

export type RawHeaders = readonly string[] // name, value, name, value …; latin1 strings as Node gives them

export interface Head {
  readonly is: 'head'
  readonly status: number
  readonly reason: string
  readonly rawHeaders: RawHeaders
  /** `sidecar`: an answer made here (sendAnswer); absent or `upstream`: the server's own. */
  readonly origin?: 'upstream' | 'sidecar'
}
/** A 1xx answer other than 100 and 101. */
export interface Interim {
  readonly is: 'interim'
  readonly status: number
  readonly reason: string
  readonly rawHeaders: RawHeaders
}
export interface Request {
  readonly is: 'request'
  readonly method: string
  readonly target: string
  readonly rawHeaders: RawHeaders
}

/** Bytes as they came. A piece with a mark ends exactly where an SSE event ends. */
export interface Piece {
  readonly is: 'piece'
  readonly bytes: Uint8Array
  readonly mark: EventMark | null
}
/** The event that a piece completes: its bytes, `earlier` those in the pieces before it. Read only when asked. */
export interface EventMark {
  readonly earlier: readonly Uint8Array[] | null
  readonly bytes: Uint8Array
  readonly isTooLong: boolean
  /** What it says, kept by meaning.ts once somebody asked: a map beside it would cost more than the reading. */
  meaning?: Meaning | null
}

/** The response is whole, or somebody says it is. Nothing follows. */
export interface End {
  readonly is: 'end'
  readonly rawTrailers: RawHeaders
  readonly cause: Cause
}
/** The request's body is whole. Its sender lives on: `half` and `lost` may follow. */
export interface Asked {
  readonly is: 'asked'
  readonly rawTrailers: RawHeaders
}
/** A FIN from a client that may still read. Whoever minds turns it into `lost`; the server's edge does at last. */
export interface Half {
  readonly is: 'half'
}
/** The connection is gone: nothing crosses this edge again, in either direction. */
export interface Lost {
  readonly is: 'lost'
  readonly ending: Break
  readonly cause: Cause
  /** Dropped without a word: nothing is sent, the next packet of that side meets a reset. To a hop further out it is silence. */
  readonly isSilent?: true
  /** Before a head: whoever made it wants a bare close, not an answer made at the client's edge. */
  readonly isBare?: true
  /** A clean ending was asked for, and this body's promised length or encoding does not allow it. */
  readonly isCleanImpossible?: true
}

export type Reply = Head | Interim | Piece | End | Lost
export type Ask = Request | Piece | Asked | Half | Lost

export const complete: Cause = { kind: 'complete', seat: null }
export const clientAbort: Cause = { kind: 'client_abort', seat: null }
export const clientReset: Cause = { kind: 'client_reset', seat: null }

export const lost = (ending: Break, cause: Cause): Lost => ({ is: 'lost', ending, cause })
export const end = (cause: Cause): End => ({ is: 'end', rawTrailers: [], cause })

/** The first value of a header; `name` in lower case. */
export function headerOf(rawHeaders: RawHeaders, name: string): string | null {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at] as string
    // Most names differ in length: asked a dozen times an exchange, this is where its time would go.
    if (raw.length === name.length && (raw === name || raw.toLowerCase() === name)) return rawHeaders[at + 1] ?? null
  }
  return null
}

/** A cut before the body's own end. `clean` needs a body whose length was not promised; else it is `fin`. */
export function cutting(ending: Ending, head: Head | null, cause: Cause): End | Lost {
  if (ending !== 'clean') return lost(ending, cause)
  const isOpenEnded =
    head !== null && headerOf(head.rawHeaders, 'content-length') === null && headerOf(head.rawHeaders, 'content-encoding') === null
  return isOpenEnded ? end(cause) : { ...lost('fin', cause), isCleanImpossible: true }
}
