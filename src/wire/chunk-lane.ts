/** A chunked body's whole chunks, told without Node's parser: it reads the head, the ends and all that is split or unusual. */

import type { Socket } from 'node:net'
import { CR, HEX, LF } from './wire-bytes.ts'

/** Where Node's parser stands in the body's framing (RFC 9112 §7.1), so that only what lies between two of its chunks is kept from it. */
export interface ChunkLane {
  readonly takers: ChunkTakers<unknown>
  readonly owner: unknown
  /** Of the chunk that the parser is in: its data and the line end behind it. */
  restBytes: number
  /** Of the size that the parser is in: its value and digits so far; behind its CR only a LF is left. */
  size: number
  digits: number
  hasCr: boolean
  /** The last chunk, or what this does not know: from here on all is the parser's. */
  isOver: boolean
}

export interface ChunkTakers<Owner> {
  /** Whether a chunk may be told now; else it goes to the parser. */
  mayTake(owner: Owner): boolean
  /** The data of a whole chunk, lent until the return. */
  take(owner: Owner, data: Uint8Array): void
}

/** Of larger ones the parser sees to it that they are none too large. */
const DIGITS_MAX = 7
const HEAD_START = 'HTTP/1.'
const HEAD_END = Buffer.from('\r\n\r\n')

/** `first`: what was read with the head in it, from its first byte on, and is the parser's. Null where that has no whole head. */
export function beginChunkLane<Owner>(first: Buffer, takers: ChunkTakers<Owner>, owner: Owner): ChunkLane | null {
  if (first.toString('latin1', 0, HEAD_START.length) !== HEAD_START) return null
  const headEnd = first.indexOf(HEAD_END)
  if (headEnd === -1) return null
  const lane: ChunkLane = { takers: takers as ChunkTakers<unknown>, owner, restBytes: 0, size: 0, digits: 0, hasCr: false, isOver: false }
  passBy(lane, first, headEnd + HEAD_END.length, Infinity)
  return lane.isOver ? null : lane
}

/** Reads what came: chunks that are whole are taken, what else there is goes to the socket's parser, in the order it came. */
export function readByChunks(lane: ChunkLane, bytes: Buffer, socket: Socket): void {
  let at = isBetween(lane) ? 0 : passBy(lane, bytes, 0, 1)
  if (at > 0) socket.emit('data', at === bytes.length ? bytes : bytes.subarray(0, at))
  if (socket.destroyed) return // the parser refused it
  while (at < bytes.length && isBetween(lane) && lane.takers.mayTake(lane.owner)) {
    const end = wholeChunkAt(bytes, at)
    if (end === -1) break
    lane.takers.take(lane.owner, bytes.subarray(dataStart, end - 2))
    at = end
  }
  if (at === bytes.length || socket.destroyed) return
  passBy(lane, bytes, at, Infinity)
  socket.emit('data', at === 0 ? bytes : bytes.subarray(at))
}

const isBetween = ({ restBytes, digits, isOver }: ChunkLane): boolean => restBytes === 0 && digits === 0 && !isOver

/** What `HEX` says of a byte that is no digit; so is the end. */
const NONE = 255
const digitOf = (byte: number | undefined): number => (byte === undefined ? NONE : (HEX[byte] as number))

/** Where the data starts that `wholeChunkAt` found. */
let dataStart = 0

/** Where the chunk ends that begins at `from`, has data and is whole; -1: it is none of these. */
function wholeChunkAt(bytes: Buffer, from: number): number {
  let at = from
  let size = 0
  for (let digit = digitOf(bytes[at]); digit !== NONE; digit = digitOf(bytes[at])) {
    size = size * 16 + digit
    at += 1
    if (at - from > DIGITS_MAX) return -1
  }
  if (size === 0 || bytes[at] !== CR || bytes[at + 1] !== LF) return -1
  dataStart = at + 2
  const end = dataStart + size + 2
  return end <= bytes.length && bytes[end - 2] === CR && bytes[end - 1] === LF ? end : -1
}

/** The parser reads these: follows it over at most so many chunk ends, and gives where that is. */
function passBy(lane: ChunkLane, bytes: Buffer, from: number, endsMax: number): number {
  let at = from
  let ends = 0
  while (at < bytes.length && ends < endsMax) {
    if (lane.restBytes === 0) {
      passSize(lane, bytes[at] as number)
      at += 1
      if (lane.isOver) return bytes.length
    } else {
      const passed = Math.min(lane.restBytes, bytes.length - at)
      lane.restBytes -= passed
      at += passed
      if (lane.restBytes === 0) ends += 1
    }
  }
  return at
}

function passSize(lane: ChunkLane, byte: number): void {
  const digit = digitOf(byte)
  if (digit !== NONE && !lane.hasCr && lane.digits < DIGITS_MAX) {
    lane.size = lane.size * 16 + digit
    lane.digits += 1
  } else if (byte === CR && lane.digits > 0 && !lane.hasCr) lane.hasCr = true
  else if (byte === LF && lane.hasCr && lane.size > 0) {
    lane.restBytes = lane.size + 2
    lane.size = 0
    lane.digits = 0
    lane.hasCr = false
  } else lane.isOver = true
}
