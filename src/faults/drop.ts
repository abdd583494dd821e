/** Drops whole events of one kind: all of them, or only the n-th. */
import type { SeatPlan } from '../core/seat.ts'
import { strict } from '../hops/shape.ts'
import { editEvents } from './event-edit.ts'
import type { EventWord } from './event-picker.ts'
import { eventPicker, eventWord } from './event-picker.ts'
import { faultKind, seat } from './fault.ts'
import { nth } from './fault-values.ts'

export interface DropAsked {
  readonly what: EventWord
  readonly nth: number | null
}

export function drop(name: string, { what, nth }: DropAsked): SeatPlan {
  return {
    name,
    sit(out) {
      const dropped = what === 'comments' ? 'comment' : what
      return editEvents(out, eventPicker(what, nth), () => out.note({ is: 'dropped', what: dropped }))
    },
  }
}

export const dropFault = faultKind({
  key: 'drop',
  docs: 'Drops progress, comments, the result or every event; with `nth` only that one. Event streams only.',
  at: 'server',
  schema: strict({ what: eventWord, nth: nth.optional() }),
  deed: (name, asked) => seat(drop(name, { what: asked.what, nth: asked.nth ?? null })),
})
