/** Cuts the response: after a time, so many bytes or events; before its result; inside an event; or before the server is asked. */
import type { z } from 'zod'
import type { SeatPlan } from '../core/seat.ts'
import type { Break, Ending } from '../core/signal.ts'
import { oneOf, strict } from '../hops/shape.ts'
import type { CutPlace } from './cut-places.ts'
import { sitCutting } from './cut-places.ts'
import { createStrike } from './cut-strike.ts'
import { faultKind, seat } from './fault.ts'
import { bytesOfSize, countFrom1, durationText, ending, msOf, nth, sizeText, upstreamBreak } from './fault-values.ts'

export interface CutAsked {
  readonly when: CutPlace
  readonly ending: Ending
  readonly upstream: Break | 'none'
}

export function cut(name: string, { when, ending, upstream }: CutAsked): SeatPlan {
  return { name, sit: (out) => sitCutting(out, when, createStrike(out, { name, ending, upstream })) }
}

const schema = strict({
  after: strict({ time: durationText.optional(), bytes: sizeText.optional(), events: countFrom1('a number of events').optional() })
    .refine((after) => Object.keys(after).length === 1, { error: 'expected one of time, bytes, events' })
    .optional(),
  before: oneOf('result', 'request').optional(),
  inside: oneOf('event', 'character').optional(),
  nth: nth.optional(),
  ending: ending.optional(),
  upstream: upstreamBreak.optional(),
}).superRefine(({ after, before, inside, nth }, context) => {
  if (context.issues.length > 0) return // an unknown key says enough
  const places = [after, before, inside].filter((place) => place !== undefined)
  if (places.length !== 1) context.addIssue({ code: 'custom', message: 'expected one of after, before, inside' })
  if (nth !== undefined && inside === undefined) context.addIssue({ code: 'custom', path: ['nth'], message: 'nth belongs to inside' })
  if (after?.bytes !== undefined && bytesOfSize(after.bytes) < 1)
    context.addIssue({
      code: 'custom',
      path: ['after', 'bytes'],
      message: 'expected 1 byte or more; to cut before the answer write before: result',
    })
})

function placeOf({ after, before, inside, nth = 1 }: z.output<typeof schema>): CutPlace {
  if (before !== undefined) return { before }
  if (inside !== undefined) return { inside, nth }
  if (after?.time !== undefined) return { afterMs: msOf(after.time) }
  if (after?.bytes !== undefined) return { afterBytes: bytesOfSize(after.bytes) }
  return { afterEvents: after?.events ?? 1 }
}

export const cutFault = faultKind({
  key: 'cut',
  docs: 'Cuts the response after a time, bytes or events, before its result, inside an event or character, or before the server is asked.',
  at: 'client',
  schema,
  deed: (name, asked) => seat(cut(name, { when: placeOf(asked), ending: asked.ending ?? 'fin', upstream: asked.upstream ?? 'fin' })),
})
