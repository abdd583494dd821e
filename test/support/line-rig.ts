/** A line between two recording ends, and short words for what travels on it. */

import type { Line } from '../../src/core/ends.ts'
import { createLine } from '../../src/core/line.ts'
import type { Effect, Note, Out, SeatPlan } from '../../src/core/seat.ts'
import type { Ask, Cause, CauseKind, Ending, Head, Piece, Reply } from '../../src/core/signal.ts'
import { clientReset, complete, end, lost } from '../../src/core/signal.ts'
import { createSseScanner } from '../../src/core/sse-scanner.ts'
import type { Buffering, Hop, IdleLimit, Limit, TotalLimit } from '../../src/hops/hop.ts'

export interface Closing {
  readonly cause: CauseKind
  readonly seat: string | null
  readonly ending: Ending
  readonly atMs: number
}
export interface Rig {
  readonly line: Line
  readonly effects: Effect[]
  readonly closings: Closing[]
  /** What seats said of their doing: `+200 buffer held 200ms 9B`. */
  readonly notes: string[]
  /** What left an edge, in words: `+900 head 502`, `+2000 lost fin idle_timeout`. */
  toClient(): string[]
  toServer(): string[]
  holds(): string[]
  bytesToClient(): string
  /** The server's or client's side does something at `atMs`; overdue wakes are taken as a punctual timer would. */
  server(atMs: number, ...signals: Reply[]): Rig
  client(atMs: number, ...signals: Ask[]): Rig
  ask(atMs?: number): Rig
  until(atMs: number): Rig
}

export function rig(
  plans: readonly SeatPlan[],
  {
    seed = 0.5,
    isPunctual = true,
    mayCut = () => true,
    again = () => false,
  }: { seed?: number; isPunctual?: boolean; mayCut?: (cause: Cause) => boolean; again?: () => boolean } = {},
): Rig {
  const effects: Effect[] = []
  const closings: Closing[] = []
  const notes: string[] = []
  const line = createLine(
    plans,
    {
      toClient: (signal, atMs) => effects.push({ do: 'toClient', signal, atMs }),
      toServer: (signal, atMs) => effects.push({ do: 'toServer', signal, atMs }),
      hold: (from, isHeld, atMs) => effects.push({ do: 'hold', from, isHeld, atMs }),
      closed: ({ kind, seat }, ending, atMs) => closings.push({ cause: kind, seat, ending, atMs }),
      noted: (seat, note, atMs) => notes.push(`+${atMs} ${seat} ${noteWords(note)}`),
      mayCut,
      again,
    },
    () => seed,
  )
  line.open(0)
  const timer = (atMs: number, isInclusive: boolean): void => {
    if (!isPunctual) return
    for (let due = line.wakeAtMs(); due !== null && (due < atMs || (isInclusive && due === atMs)); due = line.wakeAtMs()) line.wake(due)
  }
  const self: Rig = {
    line,
    effects,
    closings,
    notes,
    toClient: () => effects.flatMap((effect) => (effect.do === 'toClient' ? [`+${effect.atMs} ${words(effect.signal)}`] : [])),
    toServer: () => effects.flatMap((effect) => (effect.do === 'toServer' ? [`+${effect.atMs} ${words(effect.signal)}`] : [])),
    holds: () =>
      effects.flatMap((effect) => (effect.do === 'hold' ? [`+${effect.atMs} ${effect.isHeld ? 'hold' : 'resume'} ${effect.from}`] : [])),
    bytesToClient: () =>
      effects.flatMap((effect) => (effect.do === 'toClient' && effect.signal.is === 'piece' ? [text(effect.signal.bytes)] : [])).join(''),
    server(atMs, ...signals) {
      timer(atMs, false)
      for (const signal of signals) line.fromServer(signal, atMs)
      return self
    },
    client(atMs, ...signals) {
      timer(atMs, false)
      for (const signal of signals) line.fromClient(signal, atMs)
      return self
    },
    ask: (atMs = 0) => self.client(atMs, request, asked),
    until(atMs) {
      timer(atMs, true)
      line.wake(atMs)
      return self
    },
  }
  return self
}

/** An `out` that only writes down: a seat alone under test. */
export function recorder(): { out: Out; said: string[]; wakes: (number | null)[] } {
  const said: string[] = []
  const wakes: (number | null)[] = []
  return {
    said,
    wakes,
    out: {
      toClient: (signal) => said.push(`< ${words(signal)}`),
      toServer: (signal) => said.push(`> ${words(signal)}`),
      wakeAt: (atMs) => wakes.push(atMs),
      hold: (from, isHeld) => said.push(`${isHeld ? 'hold' : 'resume'} ${from}`),
      note: () => undefined,
      mayCut: () => true,
      again: () => false,
      leave: () => said.push('leave'),
    },
  }
}

export const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
export const bytesOf = (string: string): Uint8Array => Buffer.from(string, 'latin1')

export function words(signal: Reply | Ask): string {
  switch (signal.is) {
    case 'head':
      return `head ${signal.status}`
    case 'piece':
      return text(signal.bytes).replaceAll('\n', '⏎')
    case 'lost':
      return `lost ${signal.isSilent === true ? 'silent' : signal.ending} ${signal.cause.kind}`
    case 'end':
      return `end ${signal.cause.kind}`
    case 'interim':
      return `interim ${signal.status}`
    default:
      return signal.is
  }
}

const noteWords = (note: Note): string => (note.is === 'held' ? `held ${note.forMs}ms ${note.bytes}B` : `${note.is} ${note.what}`)

export const request: Ask = { is: 'request', method: 'POST', target: '/mcp', rawHeaders: [] }
export const asked: Ask = { is: 'asked', rawTrailers: [] }
export const half: Ask = { is: 'half' }
export const left = (ending: 'fin' | 'rst' = 'rst', cause: Cause = clientReset): Ask => lost(ending, cause)
export const sse: Head = { is: 'head', status: 200, reason: 'OK', rawHeaders: ['Content-Type', 'text/event-stream'] }
export const json: Head = {
  is: 'head',
  status: 200,
  reason: 'OK',
  rawHeaders: ['Content-Type', 'application/json', 'Content-Length', '20'],
}
export const done = end(complete)
export const gone = (ending: 'fin' | 'rst' = 'fin'): Reply =>
  lost(ending, { kind: ending === 'fin' ? 'server_close' : 'server_reset', seat: null })
export const raw = (string: string): Piece => ({ is: 'piece', bytes: bytesOf(string), mark: null })

export function pieces(...chunks: string[]): Piece[] {
  const scanner = createSseScanner({ eventBytesMax: 1_000_000 })
  const out: Piece[] = []
  for (const chunk of chunks) scanner.feed(bytesOf(chunk), (piece) => out.push(piece))
  scanner.finish((piece) => out.push(piece))
  return out
}
export const progress = (n = 1): string => `data: {"method":"notifications/progress","params":{"progress":${n}}}\n\n`
export const result = (id = 1): string => `data: {"id":${id},"result":{}}\n\n`
export const event = (what: string): Piece => pieces(`data: ${what}\n\n`)[0] as Piece

export const answer = (status: number) => ({ status, reason: '', rawHeaders: ['Content-Type', 'text/plain'], body: `oh ${status}` })
export const limit = (afterMs: number, more: Partial<Limit> = {}): Limit => ({
  afterMs,
  answer: answer(504),
  ending: 'fin',
  upstream: 'fin',
  ...more,
})
export const idle = (afterMs: number, more: Partial<IdleLimit> = {}): IdleLimit => ({
  ...limit(afterMs),
  counts: 'bytes',
  direction: 'response',
  rearmMs: 0,
  ...more,
})
export const total = (afterMs: number, more: Partial<TotalLimit> = {}): TotalLimit => ({
  ...limit(afterMs),
  from: 'request',
  at: 'deadline',
  ...more,
})
export const buffering = (mode: Buffering['mode'], more: Partial<Buffering> = {}): Buffering => ({
  mode,
  holdHeaders: false,
  atCut: 'flush',
  honours: [],
  ...more,
})
export const hop = (name: string, more: Partial<Hop> = {}): Hop => ({
  name,
  preset: name,
  clientAbort: { midStream: 'at-once', beforeHeaders: 'at-once', halfClose: 'abort', upstream: 'fin' },
  upstreamLoss: { beforeHeaders: answer(502), midStream: { fin: 'truncate', rst: 'truncate' } },
  ...more,
})
