/** Plays what the SDKs were recorded to put on the wire, as the facts that the wire would tell of it, into a journal on a fake clock. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fact } from '../../src/core/fact.ts'
import { readAsk } from '../../src/core/mcp/ask.ts'
import type { CallRecord } from '../../src/core/record.ts'
import type { Break, Cause, CauseKind, Head, Request } from '../../src/core/signal.ts'
import { complete, headerOf } from '../../src/core/signal.ts'
import type { SseScanner } from '../../src/core/sse-scanner.ts'
import { bodyHasEvents, createSseScanner } from '../../src/core/sse-scanner.ts'
import { createJournal } from '../../src/journal/journal.ts'
import type { Sink } from '../../src/journal/sink.ts'
import { fakeClock } from './fake-clock.ts'
import type { HttpReader, HttpSaid } from './http-reader.ts'
import { createHttpReader } from './http-reader.ts'

/** `[ms, connection, direction, text]`, or without text how that side broke: `fin`, `rst`. Direction `r`: a relay cut it. */
type Row = readonly [number, number | null, 'c' | 's' | 'r', string | null, Break?]

export interface Trace {
  readonly name: string
  readonly rows: readonly Row[]
}

const FOLDER = join(import.meta.dirname, 'traces')

export function readTraces(): readonly Trace[] {
  return readdirSync(FOLDER).flatMap((file) => {
    const traces: { name: string; rows: Row[] }[] = []
    for (const line of readFileSync(join(FOLDER, file), 'utf8').split('\n').filter(Boolean)) {
      const said = JSON.parse(line) as Row | { readonly scenario: string }
      if ('scenario' in said) traces.push({ name: said.scenario, rows: [] })
      else traces.at(-1)?.rows.push(said)
    }
    return traces
  })
}

/** One exchange of the trace. */
interface Playing {
  readonly tell: (fact: Fact) => void
  readonly request: Request
  readonly body: Uint8Array[]
  answer: Head | null
  scanner: SseScanner | null
  readonly answerBody: Uint8Array[]
}

interface Connection {
  readonly number: number
  readonly asking: HttpReader
  readonly answering: HttpReader
  open: Playing | null
}

/** `untilMs`: the clock goes on so long after the trace, so that what waits is settled. */
export function playTrace(
  { rows }: Trace,
  { sinks = [] as readonly Sink[], waitMs = 60_000, untilMs = 200_000 } = {},
): readonly CallRecord[] {
  const clock = fakeClock()
  const settled: CallRecord[] = []
  const keeper: Sink = { name: 'keeper', settled: (record) => settled.push(record) }
  const onSinkError = (name: string, error: unknown): never => {
    throw new Error(`${name} failed`, { cause: error })
  }
  const journal = createJournal({ clock, sinks: [...sinks, keeper], graceMs: 500, waitMs, onSinkError })
  const connections = new Map<number, Connection>()
  const connectionOf = (number: number): Connection => {
    const connection = connections.get(number) ?? { number, asking: createHttpReader(false), answering: createHttpReader(true), open: null }
    connections.set(number, connection)
    return connection
  }
  const open = (): Playing['tell'] => journal.openExchange().tell
  for (const [ms, number, direction, text, broke] of rows) {
    clock.advance(Math.max(0, ms - clock.nowMs()))
    const meant = number === null ? [...connections.values()] : [connectionOf(number)]
    for (const connection of meant) {
      if (text === null) breakOff(connection, direction, broke ?? 'fin', clock.nowMs())
      else if (direction === 'c')
        connection.asking.feed(Buffer.from(text), (said) => ask(connection, said, open, clock.nowMs(), clock.wallMs()))
      else connection.answering.feed(Buffer.from(text), (said) => answer(connection, said, clock.nowMs()))
    }
  }
  clock.advance(untilMs)
  void journal.close()
  return settled.toSorted((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)))
}

function ask(connection: Connection, said: HttpSaid, open: () => Playing['tell'], atMs: number, wallMs: number): void {
  if (said.is === 'head') {
    const [method = '', target = ''] = said.first.split(' ')
    const request: Request = { is: 'request', method, target, rawHeaders: said.rawHeaders }
    const tell = open()
    connection.open = { tell, request, body: [], answer: null, scanner: null, answerBody: [] }
    const { rawHeaders } = said
    tell({
      kind: 'opened',
      atMs,
      wallMs,
      method,
      target,
      rawHeaders,
      traceId: null,
      spanId: null,
      connection: connection.number,
      remote: '127.0.0.1',
    })
    return
  }
  const { open: playing } = connection
  if (playing === null) return
  if (said.is === 'body') {
    playing.body.push(said.bytes)
    playing.tell({ kind: 'moved', atMs, flow: 'request', bytes: said.bytes.length })
    return
  }
  playing.tell({ kind: 'understood', atMs, ask: readAsk(playing.request, Buffer.concat(playing.body).toString()) })
  playing.tell({ kind: 'asked', atMs })
}

function answer(connection: Connection, said: HttpSaid, atMs: number): void {
  const { open: playing } = connection
  if (playing === null) return
  if (said.is === 'head') {
    const status = Number(said.first.split(' ')[1])
    const { rawHeaders } = said
    playing.answer = { is: 'head', status, reason: '', rawHeaders }
    if (bodyHasEvents(rawHeaders)) playing.scanner = createSseScanner({ eventBytesMax: 8_388_608 })
    for (const at of ['server', 'client'] as const) playing.tell({ kind: 'head', atMs, at, status, rawHeaders, origin: 'upstream' })
  } else if (said.is === 'body') pass(playing, said.bytes, atMs)
  else {
    connection.open = null
    if (isJson(playing)) playing.tell({ kind: 'json', atMs, bytes: Buffer.concat(playing.answerBody) })
    playing.tell({ kind: 'server_over', atMs, how: 'clean' })
    playing.tell({ kind: 'closed', atMs, cause: complete, ending: 'clean' })
    playing.tell({ kind: 'finished', atMs })
  }
}

const isJson = ({ answer: head }: Playing): boolean =>
  head !== null && /^application\/json\b/i.test(headerOf(head.rawHeaders, 'content-type') ?? '')

function pass({ tell, scanner, answerBody }: Playing, bytes: Uint8Array, atMs: number): void {
  tell({ kind: 'moved', atMs, flow: 'seen', bytes: bytes.length })
  tell({ kind: 'moved', atMs, flow: 'sent', bytes: bytes.length })
  if (scanner === null) answerBody.push(bytes)
  scanner?.feed(bytes, ({ mark }) => {
    if (mark !== null) for (const at of ['server', 'client'] as const) tell({ kind: 'event', atMs, at, mark })
  })
}

const BROKEN: Readonly<Record<'c' | 's' | 'r', Readonly<Record<Break, CauseKind>>>> = {
  c: { fin: 'client_abort', rst: 'client_reset' },
  s: { fin: 'server_close', rst: 'server_reset' },
  r: { fin: 'operator', rst: 'operator' },
}

/** What was open on the connection ends with it; the other side's own end, which follows, changes nothing. */
function breakOff(connection: Connection, side: 'c' | 's' | 'r', ending: Break, atMs: number): void {
  const { open: playing } = connection
  if (playing === null) return
  connection.open = null
  const cause: Cause = { kind: BROKEN[side][ending], seat: null }
  if (side === 's') playing.tell({ kind: 'server_over', atMs, how: ending })
  playing.tell({ kind: 'closed', atMs, cause, ending })
  if (side !== 's') playing.tell({ kind: 'told', atMs, ending })
  playing.tell({ kind: 'finished', atMs })
}
