/** Keeps the client's leaving from the server: for good, or (half-open) for a time. */

import type { SeatPlan } from '../core/seat.ts'
import type { Cause } from '../core/signal.ts'
import { clientAbort, lost } from '../core/signal.ts'

export function hideDisconnect(name: string): SeatPlan {
  return keepUpstream(name, null)
}

export function halfOpen(name: string, { forMs }: { forMs: number | null }): SeatPlan {
  return keepUpstream(name, forMs)
}

function keepUpstream(name: string, forMs: number | null): SeatPlan {
  return {
    name,
    sit(out) {
      let hidden: Cause | null = null
      return {
        fromClient(signal, atMs) {
          if (signal.is !== 'half' && signal.is !== 'lost') return out.toServer(signal)
          hidden = signal.is === 'half' ? clientAbort : signal.cause
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
