/** Sends events twice, byte for byte. */
import type { SeatPlan } from '../core/seat.ts'
import { strict } from '../hops/shape.ts'
import { editEvents } from './event-edit.ts'
import type { EventWord } from './event-picker.ts'
import { eventPicker, eventWord } from './event-picker.ts'
import { faultKind, seat } from './fault.ts'
import { nth } from './fault-values.ts'
import { passWhole } from './whole-events.ts'

export interface DuplicateAsked {
  readonly what: EventWord
  readonly nth: number | null
}

export function duplicate(name: string, { what, nth }: DuplicateAsked): SeatPlan {
  return {
    name,
    sit: (out) =>
      editEvents(out, eventPicker(what, nth), (event) => {
        passWhole(out, event)
        // The copy is another event, so its mark is another one too.
        const copy = event.parts.map((part) => (part.mark === null ? part : { ...part, mark: { ...part.mark } }))
        passWhole(out, { ...event, parts: copy })
      }),
  }
}

export const duplicateFault = faultKind({
  key: 'duplicate',
  docs: 'Sends every event twice, or progress, comments or the result; with `nth` only that one. Event streams only.',
  at: 'server',
  schema: strict({ what: eventWord, nth: nth.optional() }),
  deed: (name, asked) => seat(duplicate(name, { what: asked.what, nth: asked.nth ?? null })),
})
