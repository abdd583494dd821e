/** What a fired fault's seat is wrapped in: its own chance, one word when it acts, and the header that gives it away. */
import type { Out, Seat, SeatPlan } from '../core/seat.ts'

export interface Wrapping {
  /** Adds `x-impatient-fault` to a head that is still to be sent. */
  readonly isAnnounced: boolean
  /** The seat's chance, in place of the line's: the same calls get the same jitter. */
  random(): () => number
  /** It acted: told once. */
  fired(): void
}

export function wrapped(plan: SeatPlan, { isAnnounced, random, fired }: Wrapping): SeatPlan {
  return {
    name: plan.name,
    sit(out) {
      let hasFired = false
      let isSkipped = false
      const telling: Out = {
        ...out,
        note(note) {
          if (note.is === 'decided' && note.what === 'fired') {
            if (hasFired) return
            hasFired = true
            fired()
          }
          if (note.is === 'decided' && note.what === 'skipped') isSkipped = true
          out.note(note)
        },
        toClient(signal) {
          if (!isAnnounced || isSkipped || signal.is !== 'head') return out.toClient(signal)
          out.toClient({ ...signal, rawHeaders: [...signal.rawHeaders, 'x-impatient-fault', plan.name] })
        },
      }
      const seat: Seat = plan.sit(telling, random())
      if (!isAnnounced || seat.fromServer !== undefined) return seat
      return { ...seat, fromServer: telling.toClient }
    },
  }
}
