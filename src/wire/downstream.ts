/** The client's side of one exchange: writes a response exactly, and ends it clean, by FIN or by RST. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../core/clock.ts'
import type { Break, Ending, Head, Interim, RawHeaders } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import { mayHaveBody, pairsOf, withoutTrailerHeader } from './headers.ts'
import { ONE_PIECE_BYTES_MAX, sendChunk, sendWithHead } from './raw-message.ts'
import { afterPoll } from './real-clock.ts'
import { sendReset } from './reset.ts'
import type { AnswerFraming } from './upstream-port.ts'

/** A cut finishes even if the client does not read: so long for its flush, and so long for its FIN. */
const FLUSH_WAIT_MS = 1_000
const FIN_WAIT_MS = 5_000
/** An upload that goes on after its answer is read and discarded up to here, to keep the connection. */
const DISCARD_BYTES_MAX = 1_048_576
const DISCARD_MS_MAX = 5_000

const NO_BYTES = Buffer.alloc(0)

/** The client's side of one exchange; what can be done with it is in its verbs: one table for all, as with the upstream's legs. */
export interface Downstream {
  readonly verbs: DownstreamVerbs
}

/** Each is given the downstream that it belongs to. */
export interface DownstreamVerbs {
  head(of: Downstream, head: Head, framing: AnswerFraming, keepAlive: boolean): void
  interim(of: Downstream, interim: Interim): void
  /** False: written, but hold back until the response drains. */
  write(of: Downstream, bytes: Uint8Array): boolean
  end(of: Downstream, rawTrailers: RawHeaders): void
  /** Ends in mid-message. A reset that the socket cannot do is a close; what was done is returned. */
  cut(of: Downstream, ending: Break, isSilent: boolean): Ending
  /** The body under way ends where the connection does, so that its FIN would look like its end. */
  endsByClosing(of: Downstream): boolean
  /** The response is whole but the request is not: discard the rest, within limits. */
  discardRequest(of: Downstream): void
  backlogBytes(of: Downstream): number
  pauseRequest(of: Downstream): void
  resumeRequest(of: Downstream): void
  /** Whether the client's FIN is no leaving: in a WebSocket session it only follows its Close. */
  takesFin(of: Downstream): boolean
}

export interface HttpDownstream extends Downstream {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly socket: Socket
  readonly clock: Clock
  endsByClosing: boolean
  isCut: boolean
  /** Each write is a chunk. */
  isChunked: boolean
  /** It waits for the body's first bytes. */
  isHeadKept: boolean
}

export const createDownstream = (req: IncomingMessage, res: ServerResponse, clock: Clock): HttpDownstream => ({
  verbs: HTTP_DOWNSTREAM,
  req,
  res,
  socket: res.socket as Socket,
  clock,
  endsByClosing: false,
  isCut: false,
  isChunked: false,
  isHeadKept: false,
})

/** Not `flushHeaders`: it would write the head as UTF-8. */
function flushHead(of: HttpDownstream): void {
  if (of.isHeadKept && !of.socket.destroyed) of.res.write(NO_BYTES)
  of.isHeadKept = false
}

export const HTTP_DOWNSTREAM: DownstreamVerbs = {
  head(of: HttpDownstream, head, framing, keepAlive) {
    const { req, res } = of
    of.isHeadKept = writeHead(req, res, head, framing, keepAlive)
    // The body's first bytes, where they came with the head, are told a tick or two later: then both go in one write.
    if (of.isHeadKept) afterPoll(flushHead, of)
    of.isChunked = of.isHeadKept && res.chunkedEncoding
    of.endsByClosing = !res.chunkedEncoding && headerOf(head.rawHeaders, 'content-length') === null
  },
  interim({ req, res, socket }: HttpDownstream, { status, reason, rawHeaders }) {
    if (req.httpVersion !== '1.1' || res.headersSent) return
    const lines = pairsOf(rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n`, 'latin1')
  },
  write(of: HttpDownstream, bytes) {
    const { res, isChunked, isHeadKept } = of
    of.isHeadKept = false // it goes with them
    if (bytes.length > ONE_PIECE_BYTES_MAX) return res.write(bytes)
    if (isHeadKept) return sendWithHead(res, bytes, isChunked)
    return isChunked ? sendChunk(res, bytes) : res.write(bytes)
  },
  end(of: HttpDownstream, rawTrailers) {
    of.isHeadKept = false
    if (rawTrailers.length > 0 && of.res.chunkedEncoding) of.res.addTrailers(pairsOf(rawTrailers))
    of.res.end()
  },
  cut(of: HttpDownstream, ending, isSilent) {
    flushHead(of)
    of.isCut = true
    const { socket } = of
    if (isSilent) {
      // The connection is forgotten, not closed: whatever comes next meets a reset, before anybody can answer it.
      socket.prependOnceListener('data', () => sendReset(socket))
      socket.prependOnceListener('end', () => sendReset(socket))
      return ending
    }
    if (ending === 'rst') return sendReset(socket)
    hangUp(socket, of.clock)
    of.req.resume()
    return 'fin'
  },
  endsByClosing: ({ endsByClosing }: HttpDownstream) => endsByClosing,
  discardRequest({ isCut, req, socket, clock }: HttpDownstream) {
    if (!isCut && !req.complete) discardRequest(req, socket, clock) // a cut has seen to it in its own way
  },
  backlogBytes: ({ socket }: HttpDownstream) => socket.writableLength,
  pauseRequest: ({ req }: HttpDownstream) => void req.pause(),
  resumeRequest: ({ req }: HttpDownstream) => void req.resume(),
  takesFin: () => false,
}

/** True: it goes with the body's first bytes. A head without a body goes out with its end. */
function writeHead(req: IncomingMessage, res: ServerResponse, head: Head, framing: AnswerFraming, keepAlive: boolean): boolean {
  const hasBody = mayHaveBody(req.method, head.status)
  const isSized = head.origin === 'sidecar' || framing === 'sized'
  if (framing === 'eof' && hasBody && !isSized) res.useChunkedEncodingByDefault = false
  if (!keepAlive) res.shouldKeepAlive = false
  const isChunked = hasBody && !isSized && res.useChunkedEncodingByDefault
  res.sendDate = false
  const reason = head.reason === '' && head.origin === 'sidecar' ? (STATUS_CODES[head.status] ?? '') : head.reason
  res.writeHead(head.status, reason, (isChunked ? head.rawHeaders : withoutTrailerHeader(head.rawHeaders)) as string[])
  return hasBody
}

/** FIN after what was written; the peer's bytes are read and dropped until its own FIN, or until it took too long. */
function hangUp(socket: Socket, clock: Clock): void {
  if (socket.destroyed || socket.writableEnded) return
  const flush = clock.after(FLUSH_WAIT_MS, () => {
    if (!socket.writableFinished) socket.destroy()
  })
  const linger = clock.after(FIN_WAIT_MS, () => socket.destroy())
  socket.once('close', () => {
    flush.cancel()
    linger.cancel()
  })
  socket.end()
}

function discardRequest(req: IncomingMessage, socket: Socket, clock: Clock): void {
  if (socket.destroyed) return
  let leftBytes = DISCARD_BYTES_MAX
  const giveUp = (): void => {
    req.off('data', count)
    req.resume()
    hangUp(socket, clock)
  }
  const late = clock.after(DISCARD_MS_MAX, giveUp)
  const count = (chunk: Uint8Array): void => {
    leftBytes -= chunk.length
    if (leftBytes >= 0) return
    late.cancel()
    giveUp()
  }
  req.on('data', count)
  req.once('close', () => late.cancel())
  req.once('end', () => late.cancel())
  req.resume()
}
