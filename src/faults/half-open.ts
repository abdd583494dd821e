/** The server learns of the client's leaving only after a time; it is read meanwhile. */
import type { SeatPlan } from '../core/seat.ts'
import { strict } from '../hops/shape.ts'
import { faultKind, seat } from './fault.ts'
import { durationText, msOf } from './fault-values.ts'
import { keepUpstream } from './hide-disconnect.ts'

export function halfOpen(name: string, { forMs }: { forMs: number | null }): SeatPlan {
  return keepUpstream(name, forMs)
}

export const halfOpenFault = faultKind({
  key: 'half-open',
  docs: "The server is told of the client's leaving only `for` so long afterwards, and is read meanwhile; without `for`, never.",
  at: 'client',
  schema: strict({ for: durationText.optional() }),
  deed: (name, asked) => seat(halfOpen(name, { forMs: asked.for === undefined ? null : msOf(asked.for) })),
})
