/** Lets so many bytes a second through. */

import type { SeatPlan } from '../core/seat.ts'
import { oneOf, strict } from '../hops/shape.ts'
import { faultKind, seat } from './fault.ts'
import { countFrom1 } from './fault-values.ts'
import { pacedSeat } from './paced-seat.ts'

const PARTS_PER_SECOND = 50

export interface BandwidthAsked {
  readonly bytesPerSecond: number
  readonly on: 'response' | 'request'
}

export function bandwidth(name: string, { bytesPerSecond, on }: BandwidthAsked): SeatPlan {
  const partBytes = Math.max(1, Math.floor(bytesPerSecond / PARTS_PER_SECOND))
  return pacedSeat(name, on, { partBytes, beforeMs: (bytes) => (bytes * 1_000) / bytesPerSecond, afterMs: 0 })
}

export const bandwidthFault = faultKind({
  key: 'bandwidth',
  docs: 'Lets so many bytes a second through, of the response or the request.',
  at: 'server',
  schema: strict({ bytesPerSecond: countFrom1('a number of bytes'), on: oneOf('response', 'request').optional() }),
  deed: (name, { bytesPerSecond, on = 'response' }) => seat(bandwidth(name, { bytesPerSecond, on })),
})
