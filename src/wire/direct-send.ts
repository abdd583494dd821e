/** A request onto its connection, exactly as given: the head, and what of the body is there, in as few writes as that takes. */
import type { Socket } from 'node:net'
import type { RawHeaders, Request } from '../core/signal.ts'
import { withoutTrailerHeader } from './headers.ts'
import { chunkBytes, ONE_PIECE_BYTES_MAX, writeChunk } from './raw-message.ts'

const CRLF = Buffer.from('\r\n')

/** Latin1 text; `rawHeaders` are end-to-end, and only a handshake has a `Connection` of its own. */
function headOf({ method, target, rawHeaders }: Request, isChunked: boolean): string {
  const headers = isChunked ? rawHeaders : withoutTrailerHeader(rawHeaders)
  let head = `${method} ${target} HTTP/1.1\r\n`
  let saysConnection = false
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string
    if (name.length === 10 && name.toLowerCase() === 'connection') saysConnection = true
    head += `${name}: ${headers[at + 1] as string}\r\n`
  }
  if (!saysConnection) head += 'Connection: keep-alive\r\n'
  return isChunked ? `${head}Transfer-Encoding: chunked\r\n\r\n` : `${head}\r\n`
}

function tailOf(rawTrailers: RawHeaders): string {
  let tail = '0\r\n'
  for (let at = 0; at + 1 < rawTrailers.length; at += 2) tail += `${rawTrailers[at] as string}: ${rawTrailers[at + 1] as string}\r\n`
  return `${tail}\r\n`
}

export interface Sending {
  readonly request: Request
  readonly isChunked: boolean
  readonly pieces: readonly Uint8Array[]
  /** Null: more of the body may come. */
  readonly rawTrailers: RawHeaders | null
}

/** False: written, but hold back until the socket drains. */
export function sendRequest(socket: Socket, { request, isChunked, pieces, rawTrailers }: Sending): boolean {
  const head = headOf(request, isChunked)
  const tail = isChunked && rawTrailers !== null ? tailOf(rawTrailers) : ''
  if (pieces.length === 0) return socket.write(head + tail, 'latin1')
  let bodyBytes = 0
  for (const piece of pieces) bodyBytes += isChunked ? chunkBytes(piece) : piece.length
  if (bodyBytes <= ONE_PIECE_BYTES_MAX) return socket.write(inOne(head, pieces, isChunked, tail, bodyBytes))
  socket.cork()
  let isTaken = socket.write(head, 'latin1')
  for (const piece of pieces) isTaken = sendPiece(socket, piece, isChunked)
  if (tail !== '') isTaken = socket.write(tail, 'latin1')
  socket.uncork()
  return isTaken
}

function inOne(head: string, pieces: readonly Uint8Array[], isChunked: boolean, tail: string, bodyBytes: number): Buffer {
  const all = Buffer.allocUnsafe(head.length + bodyBytes + tail.length)
  let at = all.write(head, 'latin1')
  for (const piece of pieces) {
    if (isChunked) at = writeChunk(all, at, piece)
    else {
      all.set(piece, at)
      at += piece.length
    }
  }
  all.write(tail, at, 'latin1')
  return all
}

/** Of a body whose head is sent. Not empty, for in chunks that would be its end. */
export function sendPiece(socket: Socket, bytes: Uint8Array, isChunked: boolean): boolean {
  if (!isChunked) return socket.write(bytes)
  if (bytes.length <= ONE_PIECE_BYTES_MAX) {
    const piece = Buffer.allocUnsafe(chunkBytes(bytes))
    writeChunk(piece, 0, bytes)
    return socket.write(piece)
  }
  socket.cork()
  socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1')
  socket.write(bytes)
  const isTaken = socket.write(CRLF)
  socket.uncork()
  return isTaken
}

/** The body is whole. */
export function sendEnd(socket: Socket, rawTrailers: RawHeaders, isChunked: boolean): void {
  if (isChunked) socket.write(tailOf(rawTrailers), 'latin1')
}
