/** A seat that slows one direction's bytes down. */
import type { Out, Seat, SeatPlan } from '../core/seat.ts'
import type { Ask, Reply } from '../core/signal.ts'
import { fired } from './body-shape.ts'
import type { Pace } from './pacer.ts'
import { createPacer } from './pacer.ts'

export function pacedSeat(name: string, on: 'response' | 'request', pace: Pace): SeatPlan {
  return { name, sit: (out) => (on === 'response' ? pacedResponse(out, pace) : pacedRequest(out, pace)) }
}

function pacedResponse(out: Out, pace: Pace): Seat {
  const pacer = createPacer<Reply>(
    { send: (signal) => out.toClient(signal), hold: (isHeld) => out.hold('server', isHeld), wakeAt: (atMs) => out.wakeAt(atMs) },
    pace,
  )
  let hasFired = false
  return {
    fromServer(signal, atMs) {
      if (!hasFired && signal.is === 'piece') {
        hasFired = true
        fired(out)
      }
      pacer.push(signal, atMs)
    },
    wake: pacer.passDue,
    release: pacer.flush,
    heldBytes: pacer.heldBytes,
  }
}

/** A client that leaves takes the rest of its request with it. */
function pacedRequest(out: Out, pace: Pace): Seat {
  const pacer = createPacer<Ask>(
    { send: (signal) => out.toServer(signal), hold: (isHeld) => out.hold('client', isHeld), wakeAt: (atMs) => out.wakeAt(atMs) },
    pace,
  )
  let hasFired = false
  return {
    fromClient(signal, atMs) {
      if (signal.is === 'lost' || signal.is === 'half') {
        pacer.clear()
        return out.toServer(signal)
      }
      if (!hasFired && signal.is === 'piece') {
        hasFired = true
        fired(out)
      }
      pacer.push(signal, atMs)
    },
    wake: pacer.passDue,
    release: pacer.flush,
    heldBytes: pacer.heldBytes,
  }
}
