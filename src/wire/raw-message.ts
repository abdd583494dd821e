/** What Node would send in several writes, as one: its head with the body's first bytes, and small chunks with their frame. */
import type { OutgoingMessage } from 'node:http'

/** Larger pieces are not copied. */
export const ONE_PIECE_BYTES_MAX = 4_096

/** Node's own fields; all messages have them. */
type RawMessage = OutgoingMessage & {
  /** The whole head, once it is decided. */
  readonly _header: string
  _headerSent: boolean
  /** Sends it as it is, behind the head where that is still to be sent. False: hold back until the socket drains. */
  _send(piece: Uint8Array, encoding: 'latin1'): boolean
}

/** The head is decided and was not sent yet: it goes with these bytes in one write. At most `ONE_PIECE_BYTES_MAX`. */
export function sendWithHead(message: OutgoingMessage, bytes: Uint8Array, isChunked: boolean): boolean {
  const raw = message as RawMessage
  const { _header: head } = raw
  const size = isChunked ? chunkBytes(bytes) : bytes.length
  const piece = Buffer.allocUnsafe(head.length + size)
  piece.write(head, 'latin1')
  if (isChunked) writeChunk(piece, head.length, bytes)
  else piece.set(bytes, head.length)
  raw._headerSent = true
  return raw._send(piece, 'latin1')
}

/** The head was sent; the message's body is chunked. Not empty, for that would be its end. */
export function sendChunk(message: OutgoingMessage, bytes: Uint8Array): boolean {
  const piece = Buffer.allocUnsafe(chunkBytes(bytes))
  writeChunk(piece, 0, bytes)
  return (message as RawMessage)._send(piece, 'latin1')
}

const sizeOf = (bytes: Uint8Array): string => bytes.length.toString(16)
/** With its frame. */
export const chunkBytes = (bytes: Uint8Array): number => sizeOf(bytes).length + bytes.length + 4

/** RFC 9112 §7.1; gives where it ends. */
export function writeChunk(piece: Buffer, from: number, bytes: Uint8Array): number {
  let at = from + piece.write(sizeOf(bytes), from, 'latin1')
  piece[at] = 0x0d
  piece[at + 1] = 0x0a
  piece.set(bytes, at + 2)
  at += 2 + bytes.length
  piece[at] = 0x0d
  piece[at + 1] = 0x0a
  return at + 2
}
