/** How the server is told that this hop gave up or that the client left: at once, after some of its writes, or never. */
import type { Out } from '../core/seat.ts'
import type { Break, Cause, Reply } from '../core/signal.ts'
import { lost } from '../core/signal.ts'
import type { UpstreamManner } from './hop.ts'

export interface Farewell {
  /** `ending` is the break where the manner is a number of writes. `duringWriteMs`: a write at that time brought it about, and does not count. The first word counts. */
  say(manner: UpstreamManner, ending: Break, cause: Cause, duringWriteMs?: number): void
  /** The server wrote. The head counts as one write, pieces of one instant together as one. */
  wrote(signal: Reply, atMs: number): void
}

export function createFarewell(out: Out): Farewell {
  let hasSpoken = false
  let lastWriteMs = -Infinity
  let pending: { writesLeft: number; readonly ending: Break; readonly cause: Cause } | null = null
  return {
    say(manner, ending, cause, duringWriteMs = -Infinity) {
      if (hasSpoken) return
      hasSpoken = true
      if (manner === 'none') return
      lastWriteMs = Math.max(lastWriteMs, duringWriteMs)
      if (typeof manner === 'string') out.toServer(lost(manner, cause))
      else pending = { writesLeft: manner.afterWrites, ending, cause }
    },
    wrote(signal, atMs) {
      if (signal.is !== 'head' && signal.is !== 'piece') return
      if (signal.is === 'piece') {
        // Also of an instant that began before the word was said: however a write is split, it is one.
        const isSameWrite = atMs === lastWriteMs
        lastWriteMs = atMs
        if (isSameWrite) return
      }
      if (pending === null) return
      pending.writesLeft -= 1
      if (pending.writesLeft > 0) return
      const { ending, cause } = pending
      pending = null
      out.toServer(lost(ending, cause))
    },
  }
}
