/** The server's side of one exchange as the rest sees it: what is asked of a leg, and what it tells. */
import type http from 'node:http'
import type { Socket } from 'node:net'
import type { Break, RawHeaders, Request } from '../core/signal.ts'
import type { Fate } from './upstream-fate.ts'

/** How a response's body is delimited: an `eof` one must stay so. */
export type AnswerFraming = 'chunked' | 'sized' | 'eof'

/** What a leg tells; nothing follows `end` or `lost`, and `head` comes once before any `bytes`. */
export interface UpstreamEvents {
  head(status: number, reason: string, rawHeaders: RawHeaders, framing: AnswerFraming): void
  interim(status: number, reason: string, rawHeaders: RawHeaders): void
  bytes(chunk: Uint8Array): void
  end(rawTrailers: RawHeaders): void
  lost(fate: Fate): void
  /** The connection is no more HTTP: nothing but this is told of it. Absent: nobody asked for that. */
  upgraded?(incoming: http.IncomingMessage, socket: Socket, head: Uint8Array): void
  /** The request's backlog is written: it takes bytes again. */
  drained(): void
}

export interface UpstreamLeg {
  /** False: written, but hold back until `drained`. */
  write(bytes: Uint8Array): boolean
  end(rawTrailers: RawHeaders): void
  /** Gives the connection up: the server sees a FIN or a RST. Nothing is told afterwards. */
  lose(ending: Break): void
  pause(): void
  resume(): void
  /** Whether there is a connection yet. */
  isConnected(): boolean
  /** Gives this attempt up and asks anew, where the last hop does so; false: it does not, or not any more. */
  again?(): boolean
}

/** `rawHeaders` of the request are end-to-end already; `framing` says whether its body is chunked. */
export interface UpstreamPort {
  dial(request: Request, isChunked: boolean, events: UpstreamEvents): UpstreamLeg
  close(): void
}
