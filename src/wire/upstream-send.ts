/** A request's head and what waited with it, onto its connection. */
import type http from 'node:http'
import type { RawHeaders, Request } from '../core/signal.ts'
import { pairsOf, withoutTrailerHeader } from './headers.ts'
import { ONE_PIECE_BYTES_MAX, sendWithHead } from './raw-message.ts'

/** What a leg has to send. */
export interface Waiting {
  readonly request: Request
  readonly isChunked: boolean
  waitingBytes: Uint8Array[]
  /** The trailers, where all of the body waits; null: more may come. */
  waitingEnd: RawHeaders | null
}

type RawRequest = http.ClientRequest & {
  _storeHeader(firstLine: string, headers: readonly string[]): void
}

const NO_BYTES = Buffer.alloc(0)

/**
 * Node would merge duplicates and http-proxy normalises the path: the head goes out as it came. Stored at once, not by a method put
 * on the request in place of Node's: such a one was seen to keep each request, and all that hangs on it, past its collection.
 */
function storeHead({ request: { method, target, rawHeaders }, isChunked }: Waiting, outgoing: http.ClientRequest): void {
  outgoing.useChunkedEncodingByDefault = isChunked
  const headers = isChunked ? rawHeaders : withoutTrailerHeader(rawHeaders)
  ;(outgoing as RawRequest)._storeHeader(`${method} ${target} HTTP/1.1\r\n`, headers)
}

/** All that is there; a small request that is there whole goes in one write. */
export function sendWaiting(waiting: Waiting, outgoing: http.ClientRequest): void {
  storeHead(waiting, outgoing) // before `end`, which would give an empty chunked body a length
  const pieces = waiting.waitingBytes.splice(0)
  const [only] = pieces
  const isWhole = pieces.length === 1 && waiting.waitingEnd !== null && !waiting.isChunked
  if (isWhole && only !== undefined && only.length <= ONE_PIECE_BYTES_MAX) sendWithHead(outgoing, only, false)
  else for (const bytes of pieces) outgoing.write(bytes)
  if (waiting.waitingEnd !== null) endRequest(outgoing, waiting.waitingEnd)
  if (!outgoing.writableEnded) outgoing.write(NO_BYTES) // the head goes ahead of a slow body
}

export function endRequest(outgoing: http.ClientRequest, rawTrailers: RawHeaders): void {
  if (rawTrailers.length > 0 && outgoing.chunkedEncoding) outgoing.addTrailers(pairsOf(rawTrailers))
  outgoing.end()
}
