/** Drops whole events of one kind: all of them, or only the n-th. */
import { meaningOf } from '../core/meaning.ts'
import type { SeatPlan } from '../core/seat.ts'
import { bodyHasEvents } from '../core/sse-scanner.ts'
import { eventGate } from './whole-events.ts'

export interface DropAsked {
  readonly what: 'progress' | 'comments' | 'result' | 'event'
  readonly nth: number | null
}

export function drop(name: string, { what, nth }: DropAsked): SeatPlan {
  const wanted = what === 'comments' ? 'comment' : what
  return {
    name,
    sit(out) {
      let seen = 0
      const gate = eventGate(out, ({ mark }) => {
        const is = mark === null ? 'other' : meaningOf(mark).is
        const isMatch = wanted === 'event' ? is !== 'comment' : is === wanted
        if (isMatch) seen += 1
        return !(isMatch && (nth === null || seen === nth))
      })
      return {
        fromServer(signal) {
          if (signal.is === 'piece') return gate.take(signal)
          if (signal.is === 'end' || signal.is === 'lost') gate.flush()
          out.toClient(signal)
          if (signal.is === 'head' && !bodyHasEvents(signal.rawHeaders)) out.leave()
        },
        release: gate.flush,
        heldBytes: gate.heldBytes,
      }
    },
  }
}
