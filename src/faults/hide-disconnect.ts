/** Keeps the client's leaving from the server, for good; and the machinery of half-open, which does so for a time. */
import type { SeatPlan } from '../core/seat.ts'
import type { Cause } from '../core/signal.ts'
import { clientAbort, lost } from '../core/signal.ts'
import { strict } from '../hops/shape.ts'
import { fired } from './body-shape.ts'
import { faultKind, seat } from './fault.ts'

export function hideDisconnect(name: string): SeatPlan {
  return keepUpstream(name, null)
}

/** `forMs` null: for good. */
export function keepUpstream(name: string, forMs: number | null): SeatPlan {
  return {
    name,
    sit(out) {
      let hidden: Cause | null = null
      return {
        fromClient(signal, atMs) {
          if (signal.is !== 'half' && signal.is !== 'lost') return out.toServer(signal)
          hidden = signal.is === 'half' ? clientAbort : signal.cause
          fired(out)
          if (signal.is === 'half') out.toClient(lost('fin', hidden))
          if (forMs !== null) out.wakeAt(atMs + forMs)
        },
        wake: () => {
          if (hidden !== null) out.toServer(lost('fin', hidden))
        },
      }
    },
  }
}

export const hideDisconnectFault = faultKind({
  key: 'hide-disconnect',
  docs: 'The server is never told that the client has left; it is told when the fault is taken away.',
  at: 'server',
  schema: strict({}),
  deed: (name) => seat(hideDisconnect(name)),
})
