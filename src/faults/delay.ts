/** Delays the result, or another kind of event, by a fixed time. */
import type { SeatPlan } from '../core/seat.ts'
import { strict } from '../hops/shape.ts'
import { delayEvents } from './event-delay.ts'
import type { EventWord } from './event-picker.ts'
import { eventPicker, eventWord } from './event-picker.ts'
import { faultKind, seat } from './fault.ts'
import { durationText, msOf, nth } from './fault-values.ts'

export interface DelayAsked {
  readonly what: EventWord
  readonly byMs: number
  readonly nth: number | null
}

export function delay(name: string, { what, byMs, nth }: DelayAsked): SeatPlan {
  return {
    name,
    sit: (out) => delayEvents(out, { waitMs: () => byMs, isDelayed: eventPicker(what, nth), takesPlain: what === 'result' }),
  }
}

export const delayFault = faultKind({
  key: 'delay',
  docs: 'Delays the result (or progress, comments, every event) `by` so much; what follows waits behind it.',
  at: 'server',
  schema: strict({ what: eventWord, by: durationText, nth: nth.optional() }),
  deed: (name, asked) => seat(delay(name, { what: asked.what, byMs: msOf(asked.by), nth: asked.nth ?? null })),
})
