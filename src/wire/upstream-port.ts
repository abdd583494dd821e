/** The server's side of one exchange as the rest sees it: what is asked of a leg, and what it tells its owner. */
import type { Socket } from 'node:net'
import type { Break, RawHeaders, Request } from '../core/signal.ts'
import type { Fate } from './upstream-fate.ts'

/** How a response's body is delimited: an `eof` one must stay so. */
export type AnswerFraming = 'chunked' | 'sized' | 'eof'

/**
 * What a leg tells; nothing follows `end` or `lost`, and `head` comes once before any `bytes`. One table of functions for all legs,
 * told whose each is: a set of closures for every exchange costs as much as its headers.
 */
export interface UpstreamEvents<Owner> {
  head(owner: Owner, status: number, reason: string, rawHeaders: RawHeaders, framing: AnswerFraming): void
  interim(owner: Owner, status: number, reason: string, rawHeaders: RawHeaders): void
  bytes(owner: Owner, chunk: Uint8Array): void
  /** As `bytes`, but the chunk is gone with the return: who keeps of it copies. */
  lent(owner: Owner, chunk: Uint8Array): void
  end(owner: Owner, rawTrailers: RawHeaders): void
  lost(owner: Owner, fate: Fate): void
  /** The connection is no more HTTP: nothing but this is told of it. Absent: nobody asked for that. */
  upgraded?(owner: Owner, reason: string, rawHeaders: RawHeaders, socket: Socket, head: Uint8Array): void
  /** The request's backlog is written: it takes bytes again. */
  drained(owner: Owner): void
}

/** One request on its way; what can be done with it is in its verbs. */
export interface UpstreamLeg {
  readonly verbs: LegVerbs
}

/** Each is given the leg that it belongs to. */
export interface LegVerbs {
  /** False: written, but hold back until `drained`. */
  write(leg: UpstreamLeg, bytes: Uint8Array): boolean
  end(leg: UpstreamLeg, rawTrailers: RawHeaders): void
  /** Gives the connection up: the server sees a FIN or a RST. Nothing is told afterwards. */
  lose(leg: UpstreamLeg, ending: Break): void
  pause(leg: UpstreamLeg): void
  resume(leg: UpstreamLeg): void
  /** Whether there is a connection yet. */
  isConnected(leg: UpstreamLeg): boolean
  /** Gives this attempt up and asks anew, where the last hop does so; false: it does not, or not any more. */
  again?(leg: UpstreamLeg): boolean
}

/** `rawHeaders` of the request are end-to-end already; `isChunked`: whether its body is. */
export interface UpstreamPort {
  dial<Owner>(request: Request, isChunked: boolean, events: UpstreamEvents<Owner>, owner: Owner): UpstreamLeg
  close(): void
}
