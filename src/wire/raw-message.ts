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

const SCRATCH_BYTES = 2 * ONE_PIECE_BYTES_MAX
/** Where pieces are put together; the kernel takes nearly all of them at once, and then it is free again. */
let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

/** The scratch, where the piece will hardly wait; behind others that wait, or for a connection, it is given no more than its size. */
function roomFor(message: OutgoingMessage, size: number): Buffer {
  const goesAtOnce = message.socket?.connecting === false && message.writableLength === 0
  return goesAtOnce && size <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafe(size)
}

function send(message: RawMessage, piece: Buffer, size: number): boolean {
  if (piece !== scratch) return message._send(piece, 'latin1')
  const isTaken = message._send(scratch.subarray(0, size), 'latin1')
  if (message.writableLength > 0) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES) // some of it waits, and is still read there
  return isTaken
}

/** The head is decided and was not sent yet: it goes with these bytes in one write. At most `ONE_PIECE_BYTES_MAX`. */
export function sendWithHead(message: OutgoingMessage, bytes: Uint8Array, isChunked: boolean): boolean {
  const raw = message as RawMessage
  const { _header: head } = raw
  raw._headerSent = true
  const size = head.length + (isChunked ? chunkBytes(bytes) : bytes.length)
  const piece = roomFor(raw, size)
  piece.write(head, 'latin1')
  if (isChunked) writeChunk(piece, head.length, bytes)
  else piece.set(bytes, head.length)
  return send(raw, piece, size)
}

/** The head was sent; the message's body is chunked. Not empty, for that would be its end. At most `ONE_PIECE_BYTES_MAX`. */
export function sendChunk(message: OutgoingMessage, bytes: Uint8Array): boolean {
  const size = chunkBytes(bytes)
  const piece = roomFor(message, size)
  writeChunk(piece, 0, bytes)
  return send(message as RawMessage, piece, size)
}

/** Hexadecimal digits of a size. */
function digitsOf(size: number): number {
  let digits = 1
  for (let left = size >>> 4; left > 0; left >>>= 4) digits += 1
  return digits
}
/** With its frame. */
export const chunkBytes = (bytes: Uint8Array): number => digitsOf(bytes.length) + bytes.length + 4

/** RFC 9112 §7.1; gives where it ends. */
export function writeChunk(piece: Uint8Array, from: number, bytes: Uint8Array): number {
  const digits = digitsOf(bytes.length)
  for (let place = 0, left = bytes.length; place < digits; place += 1, left >>>= 4) {
    const digit = left & 15
    piece[from + digits - 1 - place] = digit < 10 ? 0x30 + digit : 0x57 + digit
  }
  let at = from + digits
  piece[at] = 0x0d
  piece[at + 1] = 0x0a
  piece.set(bytes, at + 2)
  at += 2 + bytes.length
  piece[at] = 0x0d
  piece[at + 1] = 0x0a
  return at + 2
}
