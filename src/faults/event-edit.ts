/** Does something else with chosen events than to let them pass. */
import type { Out, Seat } from '../core/seat.ts'
import type { EventMark } from '../core/signal.ts'
import { fired, shapeOf, skip, whyNoEvents } from './body-shape.ts'
import type { WholeEvent } from './whole-events.ts'
import { eventGate, passWhole } from './whole-events.ts'

/** `edit` sends what is to pass of a chosen event. Bodies without events are left alone, and that is said. */
export function editEvents(out: Out, isChosen: (mark: EventMark) => boolean, edit: (event: WholeEvent) => void): Seat {
  const gate = eventGate(out, (event) => {
    if (!isChosen(event.mark)) return passWhole(out, event)
    fired(out)
    edit(event)
  })
  return {
    fromServer(signal) {
      if (signal.is === 'piece') return gate.take(signal)
      if (signal.is === 'head') {
        const shape = shapeOf(signal.rawHeaders)
        if (shape !== 'events') skip(out, whyNoEvents(shape))
      } else if (signal.is !== 'interim') gate.flush()
      out.toClient(signal)
    },
    release: gate.flush,
    heldBytes: gate.heldBytes,
  }
}
