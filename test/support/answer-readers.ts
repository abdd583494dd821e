/** The same bytes read as an answer: by the direct engine's parser, by Node's own client, and by it with its whole chunks taken from it. */
import http from 'node:http'
import { Duplex } from 'node:stream'
import type { ChunkLane, ChunkTakers } from '../../src/wire/chunk-lane.ts'
import { beginChunkLane, readByChunks } from '../../src/wire/chunk-lane.ts'
import type { AnswerHead } from '../../src/wire/head-state.ts'
import { framingOf } from '../../src/wire/headers.ts'
import type { AnswerEvents } from '../../src/wire/response-parser.ts'
import { beginAnswer, createParser, feed, isKeepable, readsToEnd } from '../../src/wire/response-parser.ts'

export interface ReadAnswer {
  interims: { readonly status: number; readonly reason: string; readonly rawHeaders: readonly string[] }[]
  head: { readonly status: number; readonly reason: string; readonly rawHeaders: readonly string[] } | null
  /** Latin1 text. */
  body: string
  trailers: readonly string[]
  /** `cut`: the bytes ended before it did; else the code of what is wrong with it. */
  end: 'whole' | 'cut' | 'switched' | `HPE_${string}`
}

const emptyAnswer = (): ReadAnswer => ({ interims: [], head: null, body: '', trailers: [], end: 'cut' })
const firstOf = ({ status, reason, rawHeaders }: AnswerHead) => ({ status, reason, rawHeaders: [...rawHeaders] })

export interface ParsedAnswer extends ReadAnswer {
  mayKeep: boolean
  /** What came behind a switch of protocols. */
  rest: string
  hasMore: boolean
}

const EVENTS: AnswerEvents<ParsedAnswer> = {
  interim: (answer, head) => void answer.interims.push(firstOf(head)),
  head(answer, head) {
    answer.head = firstOf(head)
    answer.mayKeep = isKeepable(head)
  },
  bytes(answer, chunk) {
    answer.body += Buffer.from(chunk).toString('latin1')
  },
  end(answer, rawTrailers, hasMore) {
    answer.trailers = [...rawTrailers]
    answer.end = 'whole'
    answer.hasMore = hasMore
  },
  switched(answer, head, rest) {
    answer.head = firstOf(head)
    answer.end = 'switched'
    answer.rest = Buffer.from(rest).toString('latin1')
  },
}

/** Each piece as a read of its own; then the connection ends. */
export function readByParser(pieces: readonly string[], method = 'GET'): ParsedAnswer {
  const answer: ParsedAnswer = { ...emptyAnswer(), mayKeep: false, rest: '', hasMore: false }
  const parser = createParser(EVENTS, answer)
  beginAnswer(parser, method)
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1')
    const used = feed(parser, bytes)
    if (used === -1) return { ...answer, end: (parser.problem?.code ?? 'HPE_NONE') as ReadAnswer['end'] }
    if (answer.end === 'whole' || used < bytes.length) return answer
  }
  if (readsToEnd(parser)) answer.end = 'whole'
  return answer
}

/** By `http.request`, in its strict mode and with the limits that the proxy gives it. */
export function readByNode(pieces: readonly string[], method = 'GET'): Promise<ReadAnswer> {
  const connection = connectionThat((played) => {
    for (const piece of pieces) played.push(Buffer.from(piece, 'latin1'))
    played.push(null)
  })
  return readFrom(connection, method, (incoming, answer) => {
    incoming.on('data', (chunk: Buffer) => {
      answer.body += chunk.toString('latin1')
    })
  })
}

export interface LanedAnswer extends ReadAnswer {
  /** Chunks that went past the parser. */
  taken: number
}

/** As by Node, but each piece is a read of its own, and whole chunks go past the parser where `mayTake` says so. */
export async function readByLane(
  pieces: readonly string[],
  method: string,
  mayTake: (incoming: http.IncomingMessage) => boolean,
): Promise<LanedAnswer> {
  let lane: ChunkLane | null = null
  let first: Buffer | null = null
  let taken = 0
  const connection = connectionThat(async (played) => {
    for (const piece of pieces) {
      const bytes = Buffer.from(piece, 'latin1')
      first = first === null ? bytes : NOTHING
      if (lane === null) played.emit('data', bytes)
      else readByChunks(lane, bytes, played as never)
      bytes.fill('~') // lent: what is kept of it is lost
      await new Promise(setImmediate)
      if (played.destroyed) return
    }
    played.push(null)
    played.resume()
  })
  const read = await readFrom(connection, method, (incoming, answer) => {
    const takers: ChunkTakers<null> = {
      mayTake: () => incoming.readableFlowing === true && incoming.readableLength === 0 && mayTake(incoming),
      take(_, data) {
        taken += 1
        answer.body += Buffer.from(data).toString('latin1')
      },
    }
    incoming.on('data', (chunk: Buffer) => {
      answer.body += chunk.toString('latin1')
    })
    const isChunked = framingOf(incoming.rawHeaders) === 'chunked' && method !== 'HEAD' && ![204, 304].includes(incoming.statusCode ?? 0)
    if (isChunked && first !== null && answer.interims.length === 0) lane = beginChunkLane(first, takers, null)
  })
  return { ...read, taken }
}

const NOTHING = Buffer.alloc(0)

/** Plays once, when the request comes. */
function connectionThat(play: (connection: Duplex) => unknown): Duplex {
  let isPlayed = false
  const connection = new Duplex({
    read: () => undefined,
    write(_bytes, _encoding, done) {
      done()
      if (isPlayed) return
      isPlayed = true
      void play(connection)
    },
  })
  return connection
}

function readFrom(
  connection: Duplex,
  method: string,
  onResponse: (incoming: http.IncomingMessage, answer: ReadAnswer) => void,
): Promise<ReadAnswer> {
  const answer = emptyAnswer()
  return new Promise((resolve) => {
    const request = http.request({ method, createConnection: () => connection, maxHeaderSize: 65_536, host: 'h', setHost: false })
    request.maxHeadersCount = 0
    request.on('information', ({ statusCode, statusMessage, rawHeaders }) => {
      answer.interims.push({ status: statusCode, reason: statusMessage, rawHeaders })
    })
    request.on('upgrade', ({ statusCode = 0, statusMessage = '', rawHeaders }) => {
      resolve({ ...answer, head: { status: statusCode, reason: statusMessage, rawHeaders }, end: 'switched' })
    })
    request.on('response', (incoming) => {
      const { statusCode = 0, statusMessage = '', rawHeaders } = incoming
      answer.head = { status: statusCode, reason: statusMessage, rawHeaders }
      onResponse(incoming, answer)
      incoming.on('end', () => resolve({ ...answer, trailers: incoming.rawTrailers, end: 'whole' }))
      incoming.on('error', () => setImmediate(() => resolve(answer)))
    })
    request.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      if (code.startsWith('HPE_')) answer.end = code as ReadAnswer['end']
      setImmediate(() => resolve(answer))
    })
    request.end()
  })
}

/** In order, and none of them empty. */
export function cutAt(text: string, places: readonly number[]): string[] {
  const sorted = [...new Set(places)].filter((at) => at > 0 && at < text.length).sort((a, b) => a - b)
  return [0, ...sorted].map((at, index) => text.slice(at, sorted[index] ?? text.length))
}
