/** How the server is told that this hop gave up or that the client left: at once, after some of its writes, or never. */
import type { Out } from '../core/seat.ts'
import type { Break, Cause, Reply } from '../core/signal.ts'
import { lost } from '../core/signal.ts'
import type { UpstreamManner } from './hop.ts'

export interface Farewell {
  hasSpoken: boolean
  lastWriteMs: number
  pending: { writesLeft: number; readonly ending: Break; readonly cause: Cause } | null
}

export const createFarewell = (): Farewell => ({ hasSpoken: false, lastWriteMs: -Infinity, pending: null })

export interface Word {
  readonly manner: UpstreamManner
  /** The break where the manner is a number of writes. */
  readonly ending: Break
  readonly cause: Cause
  /** A write at that time brought it about, and does not count. */
  readonly duringWriteMs?: number | undefined
}

/** The first word counts. */
export function sayFarewell(farewell: Farewell, out: Out, { manner, ending, cause, duringWriteMs = -Infinity }: Word): void {
  if (farewell.hasSpoken) return
  farewell.hasSpoken = true
  if (manner === 'none') return
  farewell.lastWriteMs = Math.max(farewell.lastWriteMs, duringWriteMs)
  if (typeof manner === 'string') out.toServer(lost(manner, cause))
  else farewell.pending = { writesLeft: manner.afterWrites, ending, cause }
}

/** The server wrote. The head counts as one write, pieces of one instant together as one. */
export function wroteBeforeFarewell(farewell: Farewell, out: Out, signal: Reply, atMs: number): void {
  if (signal.is !== 'head' && signal.is !== 'piece') return
  if (signal.is === 'piece') {
    // Also of an instant that began before the word was said: however a write is split, it is one.
    const isSameWrite = atMs === farewell.lastWriteMs
    farewell.lastWriteMs = atMs
    if (isSameWrite) return
  }
  const { pending } = farewell
  if (pending === null) return
  pending.writesLeft -= 1
  if (pending.writesLeft > 0) return
  farewell.pending = null
  out.toServer(lost(pending.ending, pending.cause))
}
