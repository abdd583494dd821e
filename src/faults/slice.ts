/** Breaks the response into small parts with pauses between them. */

import type { z } from 'zod'
import type { SeatPlan } from '../core/seat.ts'
import { strict } from '../hops/shape.ts'
import { faultKind, seat } from './fault.ts'
import { bytesOfSize, durationText, msOf, sizeText } from './fault-values.ts'
import { pacedSeat } from './paced-seat.ts'

export interface SliceAsked {
  readonly sizeBytes: number
  readonly everyMs: number
}

export function slice(name: string, { sizeBytes, everyMs }: SliceAsked): SeatPlan {
  return pacedSeat(name, 'response', { partBytes: sizeBytes, beforeMs: () => 0, afterMs: everyMs })
}

const schema: z.ZodType<{ size: string | number; every?: string | undefined }> = strict({
  size: sizeText.refine((size) => bytesOfSize(size) >= 1, { error: 'expected a size of 1 byte or more' }),
  every: durationText.optional(),
})

export const sliceFault = faultKind({
  key: 'slice',
  docs: 'Sends the response in parts of `size`, one `every` so often (5ms unless given).',
  at: 'server',
  schema,
  deed: (name, { size, every = '5ms' }) => seat(slice(name, { sizeBytes: bytesOfSize(size), everyMs: msOf(every) })),
})
