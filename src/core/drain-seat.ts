/**
 * `--after-cut drain`: keeps a cut of ours from the server and reads its answer to the end, unseen.
 * It sits nearest the server. What it shows is what would have been: the server cannot know that the client is gone.
 */
import type { SeatPlan } from './seat.ts'
import type { Cause } from './signal.ts'
import { lost } from './signal.ts'

/** A server that never ends is told after this. */
export const DRAIN_MAX_MS = 900_000

const OURS: ReadonlySet<Cause['kind']> = new Set(['header_timeout', 'idle_timeout', 'max_duration', 'client_send', 'fault'])

export function drainSeat(): SeatPlan {
  return {
    name: 'drain',
    sit(out) {
      let hidden: Cause | null = null
      return {
        fromClient(signal, atMs) {
          if (signal.is !== 'lost' || !OURS.has(signal.cause.kind)) return out.toServer(signal)
          hidden = signal.cause
          out.wakeAt(atMs + DRAIN_MAX_MS)
        },
        wake() {
          if (hidden !== null) out.toServer(lost('fin', hidden))
        },
      }
    },
  }
}
