/** Answers out of a connection's bytes: heads, bodies by length, in chunks or to the end, trailers. Strict, and the same however they are cut. */
import type { RawHeaders } from '../core/signal.ts'
import { beginTrailers, isHeadRead, readHead } from './answer-head.ts'
import { afterByte, EXTENSION_BYTES_MAX, EXTENSION_END, EXTENSION_START, NO_EXTENSION } from './chunk-extension.ts'
import type { AnswerHead } from './head-state.ts'
import { beginHead, createHead } from './head-state.ts'
import type { ParseProblem } from './parse-problem.ts'
import { problems } from './parse-problem.ts'
import { CR, HEX, LF } from './wire-bytes.ts'

/** What is read; `head` is the parser's own, and stays as it is until the next message begins. */
export interface AnswerEvents<Owner> {
  interim(owner: Owner, head: AnswerHead): void
  head(owner: Owner, head: AnswerHead): void
  bytes(owner: Owner, chunk: Uint8Array): void
  /** `hasMore`: bytes came behind it in the same read. */
  end(owner: Owner, rawTrailers: RawHeaders, hasMore: boolean): void
  /** A 101: `rest` and what follows is no HTTP. */
  switched(owner: Owner, head: AnswerHead, rest: Uint8Array): void
}

export interface ResponseParser<Owner> {
  readonly events: AnswerEvents<Owner>
  readonly owner: Owner
  readonly head: AnswerHead
  /** The request was a HEAD. */
  isBodiless: boolean
  mode: number
  /** Of the body, or of the chunk; while its size is read: that size. */
  leftBytes: number
  /** Of a chunk's size; leading zeros are not counted. */
  sizeDigits: number
  hasSize: boolean
  extension: number
  extensionBytes: number
  problem: ParseProblem | null
}

const HEAD = 0
const CLOSED = 1
const NO_BODY = 2
const SIZED = 3
const TO_END = 4
const SIZE = 5
const EXTENSION = 6
const SIZE_LF = 7
const CHUNK = 8
const CHUNK_CR = 9
const CHUNK_LF = 10
const TRAILERS = 11
const OVER = 12

const HEAD_END = Buffer.from('\r\n\r\n')
const NO_HEADERS: RawHeaders = []
/** A size of 64 bits. */
const SIZE_DIGITS_MAX = 16

export const createParser = <Owner>(events: AnswerEvents<Owner>, owner: Owner): ResponseParser<Owner> => ({
  events,
  owner,
  head: createHead(),
  isBodiless: false,
  mode: OVER,
  leftBytes: 0,
  sizeDigits: 0,
  hasSize: false,
  extension: EXTENSION_START,
  extensionBytes: 0,
  problem: null,
})

/** The next bytes answer this request. */
export function beginAnswer<Owner>(parser: ResponseParser<Owner>, method: string): void {
  parser.isBodiless = method === 'HEAD'
  parser.mode = HEAD
  parser.problem = null
  beginHead(parser.head)
}

/** Nothing more is told of this answer; may be called from within an event. */
export function stopReading<Owner>(parser: ResponseParser<Owner>): void {
  parser.mode = OVER
}

/** The answer ends where its connection does, and its head is there. */
export const readsToEnd = <Owner>({ mode }: ResponseParser<Owner>): boolean => mode === TO_END

/** Whether the connection may be used again: what was said, and whether the body says where it ends. */
export function isKeepable({ major, minor, status, saysClose, saysKeepAlive, contentLength, isChunked }: AnswerHead): boolean {
  const isKept = major > 0 && minor > 0 ? !saysClose : saysKeepAlive
  return isKept && (contentLength !== null || isChunked || status === 204 || status === 304 || isInterim(status))
}

const isInterim = (status: number): boolean => status >= 100 && status < 200

/** How much was used; less than all: the answer is over. -1: `problem` says why these bytes are none. */
export function feed<Owner>(parser: ResponseParser<Owner>, chunk: Buffer): number {
  let at = 0
  while (at !== -1 && at < chunk.length && parser.mode !== OVER) at = step(parser, chunk, at)
  return at
}

function step<Owner>(parser: ResponseParser<Owner>, chunk: Buffer, at: number): number {
  switch (parser.mode) {
    case HEAD:
      return readHeadOf(parser, chunk, at)
    case SIZED:
    case CHUNK:
      return passBytes(parser, chunk, at)
    case SIZE:
      return readSize(parser, chunk, at)
    case EXTENSION:
      return readExtension(parser, chunk, at)
    case SIZE_LF:
      return endSize(parser, chunk, at)
    case CHUNK_CR:
      return expect(parser, chunk, at, CR, CHUNK_LF)
    case CHUNK_LF:
      return expect(parser, chunk, at, LF, SIZE)
    case TRAILERS:
      return readTrailers(parser, chunk, at)
    case CLOSED:
      return chunk[at] === CR || chunk[at] === LF ? at + 1 : refuse(parser, problems.afterClose)
    default:
      parser.events.bytes(parser.owner, at === 0 ? chunk : chunk.subarray(at))
      return chunk.length
  }
}

function refuse<Owner>(parser: ResponseParser<Owner>, problem: ParseProblem | null): -1 {
  parser.problem = problem
  parser.mode = OVER
  return -1
}

/** Only the head is made text, not what follows it. */
function readFields<Owner>({ head }: ResponseParser<Owner>, chunk: Buffer, at: number): number {
  const found = chunk.indexOf(HEAD_END, at)
  const read = readHead(head, chunk.toString('latin1', at, found === -1 ? chunk.length : found + HEAD_END.length))
  return read === -1 ? -1 : at + read
}

function readHeadOf<Owner>(parser: ResponseParser<Owner>, chunk: Buffer, from: number): number {
  const { head, events, owner } = parser
  const at = readFields(parser, chunk, from)
  if (at === -1) return refuse(parser, head.problem)
  if (!isHeadRead(head)) return at
  if (head.status === 101) {
    parser.mode = OVER
    events.switched(owner, head, chunk.subarray(at))
    return at
  }
  if (isInterim(head.status)) {
    events.interim(owner, head)
    if (parser.mode === OVER) return at
    parser.mode = isKeepable(head) ? HEAD : CLOSED
    beginHead(head)
    return at
  }
  parser.mode = bodyModeOf(parser)
  parser.leftBytes = parser.mode === SIZED ? (head.contentLength ?? 0) : 0
  beginSize(parser)
  events.head(owner, head)
  if (parser.mode === NO_BODY) finish(parser, NO_HEADERS, at < chunk.length)
  return at
}

/** RFC 9112 §6.3. */
function bodyModeOf<Owner>({ head, isBodiless }: ResponseParser<Owner>): number {
  if (isBodiless || head.status === 204 || head.status === 304 || head.contentLength === 0) return NO_BODY
  if (head.isChunked) return SIZE
  return head.contentLength === null ? TO_END : SIZED
}

function finish<Owner>(parser: ResponseParser<Owner>, rawTrailers: RawHeaders, hasMore: boolean): void {
  parser.mode = OVER
  parser.events.end(parser.owner, rawTrailers, hasMore)
}

function passBytes<Owner>(parser: ResponseParser<Owner>, chunk: Buffer, at: number): number {
  const wasChunk = parser.mode === CHUNK
  const to = at + Math.min(parser.leftBytes, chunk.length - at)
  parser.leftBytes -= to - at
  const isLast = parser.leftBytes === 0
  if (isLast) parser.mode = wasChunk ? CHUNK_CR : NO_BODY
  parser.events.bytes(parser.owner, at === 0 && to === chunk.length ? chunk : chunk.subarray(at, to))
  if (parser.mode === NO_BODY) finish(parser, NO_HEADERS, to < chunk.length)
  return to
}

function beginSize<Owner>(parser: ResponseParser<Owner>): void {
  parser.sizeDigits = 0
  parser.hasSize = false
  parser.extensionBytes = 0
}

function readSize<Owner>(parser: ResponseParser<Owner>, chunk: Buffer, from: number): number {
  let at = from
  for (; at < chunk.length; at += 1) {
    const digit = HEX[chunk[at] as number] as number
    if (digit === 255) break
    if (!parser.hasSize) parser.leftBytes = 0
    parser.hasSize = true
    if (digit > 0 || parser.sizeDigits > 0) parser.sizeDigits += 1
    if (parser.sizeDigits > SIZE_DIGITS_MAX) return refuse(parser, problems.chunkTooLarge)
    parser.leftBytes = parser.leftBytes * 16 + digit
  }
  if (at === chunk.length) return at
  const code = chunk[at]
  if (parser.hasSize && code === CR) parser.mode = SIZE_LF
  else if (parser.hasSize && code === 0x3b) {
    parser.mode = EXTENSION
    parser.extension = EXTENSION_START
  } else return refuse(parser, parser.hasSize && code === LF ? problems.crExpected : problems.chunkSize)
  return at + 1
}

function readExtension<Owner>(parser: ResponseParser<Owner>, chunk: Buffer, from: number): number {
  let at = from
  while (at < chunk.length && parser.extension !== EXTENSION_END) {
    parser.extension = afterByte(parser.extension, chunk[at] as number)
    if (parser.extension === NO_EXTENSION) return refuse(parser, chunk[at] === LF ? problems.crExpected : problems.extension)
    parser.extensionBytes += 1
    if (parser.extensionBytes > EXTENSION_BYTES_MAX) return refuse(parser, problems.extensionTooLong)
    at += 1
  }
  if (parser.extension === EXTENSION_END) parser.mode = SIZE_LF
  return at
}

function endSize<Owner>(parser: ResponseParser<Owner>, chunk: Buffer, at: number): number {
  if (chunk[at] !== LF) return refuse(parser, problems.lfExpected)
  beginSize(parser)
  parser.mode = parser.leftBytes === 0 ? TRAILERS : CHUNK
  if (parser.mode === TRAILERS) beginTrailers(parser.head)
  return at + 1
}

function expect<Owner>(parser: ResponseParser<Owner>, chunk: Buffer, at: number, code: number, next: number): number {
  if (chunk[at] !== code) return refuse(parser, problems.chunkEnd)
  parser.mode = next
  return at + 1
}

function readTrailers<Owner>(parser: ResponseParser<Owner>, chunk: Buffer, from: number): number {
  const at = readFields(parser, chunk, from)
  if (at === -1) return refuse(parser, parser.head.problem)
  if (isHeadRead(parser.head)) finish(parser, parser.head.rawHeaders, at < chunk.length)
  return at
}
