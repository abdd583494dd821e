/** A recording through a line in virtual time: who would have ended it, when, and what the client and the server would have seen. */
import { createLine } from '../core/line.ts'
import { isEvent, meaningOf } from '../core/meaning.ts'
import type { SeatPlan } from '../core/seat.ts'
import type { Cause, Ending, Reply } from '../core/signal.ts'
import type { Recording } from './recording.ts'
import { pieceOf } from './recording.ts'

/** What the client would have got. */
export interface Seen {
  /** Null: a bare close, without an HTTP answer. */
  readonly status: number | null
  readonly by: 'server' | 'hop' | null
  /** Of the server's events, comments aside, and of its body's bytes. */
  readonly events: number
  readonly bytes: number
  readonly hasResult: boolean
  /** `silent`: nothing at all; the next packet meets a reset. Null: not over. */
  readonly ending: Ending | 'silent' | null
}

export interface Replay {
  /** Null: not over at the end of the recording. */
  readonly closed: { readonly cause: Cause; readonly atMs: number } | null
  readonly seen: Seen
  /** When the server is told that nobody waits any more; null: never, as far as this goes. */
  readonly told: { readonly atMs: number; readonly ending: 'fin' | 'rst' } | null
}

/** Recorded times are whole ms. */
const ROUNDING_MS = 1
const WAKES_MAX = 10_000

/** `untilMs`: wakes are taken up to here where the server's side is not over, to see what silence would bring. */
export function replay(recording: Recording, plans: readonly SeatPlan[], untilMs = recording.knownUntilMs + ROUNDING_MS): Replay {
  const seen = {
    status: null as number | null,
    by: null as Seen['by'],
    events: 0,
    bytes: 0,
    hasResult: false,
    ending: null as Seen['ending'],
  }
  const over: { closed: Replay['closed']; told: Replay['told'] } = { closed: null, told: null }
  let isServerOver = false

  function see(signal: Reply): void {
    if (signal.is === 'head') {
      seen.status = signal.status
      seen.by = signal.origin === 'sidecar' ? 'hop' : 'server'
    } else if (signal.is === 'piece') {
      if (seen.by === 'server') seen.bytes += signal.bytes.length
      if (signal.mark !== null && isEvent(signal.mark)) seen.events += 1
      if (signal.mark !== null && meaningOf(signal.mark).is === 'result') seen.hasResult = true
    } else if (signal.is === 'lost') {
      seen.ending = signal.isSilent === true ? 'silent' : signal.ending
      // The sidecar itself answers for a server that was lost before its head, where no hop did.
      const isServers = signal.cause.kind === 'server_close' || signal.cause.kind === 'server_reset' || signal.cause.kind === 'unreachable'
      if (seen.status === null && signal.isBare !== true && isServers) Object.assign(seen, { status: 502, by: 'hop', ending: 'clean' })
    }
  }

  const line = createLine(
    plans,
    {
      toClient: (signal) => see(signal),
      toServer(signal, atMs) {
        if (signal.is === 'lost') over.told ??= { atMs, ending: signal.ending }
      },
      hold: () => undefined,
      closed(cause, ending, atMs) {
        over.closed = { cause, atMs }
        seen.ending ??= ending
      },
    },
    () => 0.5,
  )
  const isOver = (): boolean => over.closed !== null && (over.told !== null || isServerOver)

  line.open(0)
  line.fromClient({ is: 'request', method: 'POST', target: '/mcp', rawHeaders: [] }, 0)
  if (recording.requestBytes > 0) line.fromClient(pieceOf(recording.requestBytes, null), 0)
  line.fromClient({ is: 'asked', rawTrailers: [] }, recording.askedMs)
  let nowMs = recording.askedMs
  for (const { atMs, signal } of recording.steps) {
    if (isOver()) break
    nowMs = Math.max(nowMs, atMs)
    line.fromServer(signal, nowMs)
    if (signal.is === 'end' || signal.is === 'lost') isServerOver = true
  }
  const horizonMs = isServerOver ? Infinity : untilMs
  for (let wakes = 0; wakes < WAKES_MAX && !isOver(); wakes += 1) {
    const dueMs = line.wakeAtMs()
    if (dueMs === null || dueMs > horizonMs) break
    line.wake(dueMs)
  }
  if (isJsonResult(recording) && over.closed?.cause.kind === 'complete') seen.hasResult = true
  return { ...over, seen }
}

/** Its bytes are gone; that they were a result, the record says. */
const isJsonResult = ({ record }: Recording): boolean => record.answer === 'json' && record.result !== 'none'
