/** Hop data → its seats, client side first: the door (manners), the buffer, the limits. */

import type { SeatPlan } from '../core/seat.ts'
import type { Cause, CauseKind } from '../core/signal.ts'
import { bufferSeat } from './buffer.ts'
import { doorSeat } from './door.ts'
import type { Hop, Limit } from './hop.ts'
import { limitsSeat } from './limits.ts'

/** A hop's own limits, each known by the cause it gives: the door finds the answer and the ending there. */
export type OwnLimits = ReadonlyMap<Cause, Limit>

export function compileHop(hop: Hop): readonly SeatPlan[] {
  const cause = (kind: CauseKind): Cause => ({ kind, seat: hop.name })
  const causes = { headers: cause('header_timeout'), idle: cause('idle_timeout'), total: cause('max_duration') }
  const own = new Map<Cause, Limit>()
  if (hop.headers !== undefined && hop.headers !== 'none') own.set(causes.headers, hop.headers)
  if (hop.idle !== undefined) own.set(causes.idle, hop.idle)
  if (hop.total !== undefined) own.set(causes.total, hop.total)
  return [
    doorSeat(hop, own),
    ...(hop.buffering === undefined ? [] : [bufferSeat(hop.name, hop.buffering)]),
    ...(own.size === 0 ? [] : [limitsSeat(hop, causes)]),
  ]
}

/** The path, and the faults at either end of it. `faults` in list order: what a response meets first. */
export function compileLine(path: readonly Hop[], faults: readonly { at: 'client' | 'server'; plan: SeatPlan }[]): readonly SeatPlan[] {
  const at = (side: 'client' | 'server') =>
    faults
      .filter((fault) => fault.at === side)
      .map(({ plan }) => plan)
      .toReversed()
  return [...at('client'), ...path.flatMap(compileHop), ...at('server')]
}
