/** A line with one fault, written as a user writes it, and traffic cut into chunks in several ways. */
import type { Note, SeatPlan } from '../../src/core/seat.ts'
import type { Head } from '../../src/core/signal.ts'
import { compileFault } from '../../src/faults/compile-fault.ts'
import type { FaultRule } from '../../src/faults/fault-schema.ts'
import { faultRuleSchema } from '../../src/faults/fault-schema.ts'
import type { Rig } from './line-rig.ts'
import { pieces, rig } from './line-rig.ts'

export const ruleOf = (form: object, more: object = {}): FaultRule => faultRuleSchema.parse({ name: 'f', do: form, ...more })

/** The seat of a fault on the exchange it matched, or on the next. */
export function planOf(form: object): SeatPlan {
  const { deed } = compileFault({ rule: ruleOf(form), expiresAtMs: null })
  if (deed.is === 'accept') throw new Error('this fault has no seat')
  return deed.plan
}

/** `whys`: what the seat said of skipping. */
export function faulty(
  form: object,
  { seed = 0.5, mayCut = () => true }: { seed?: number; mayCut?: () => boolean } = {},
): Rig & { readonly whys: string[] } {
  const plan = planOf(form)
  const whys: string[] = []
  const listening: SeatPlan = {
    name: plan.name,
    sit: (out, random) =>
      plan.sit(
        {
          ...out,
          note(note: Note) {
            if (note.is === 'decided' && note.why !== undefined) whys.push(note.why)
            out.note(note)
          },
        },
        random,
      ),
  }
  return Object.assign(rig([listening], { seed, mayCut }), { whys })
}

export const gzipped: Head = {
  is: 'head',
  status: 200,
  reason: 'OK',
  rawHeaders: ['Content-Type', 'text/event-stream', 'Content-Encoding', 'gzip'],
}
export const openJson: Head = { is: 'head', status: 200, reason: 'OK', rawHeaders: ['Content-Type', 'application/json'] }

/** The same bytes whole, byte by byte, in threes, and broken in the middle. */
export function chunkings(stream: string): readonly (readonly string[])[] {
  const inParts = (size: number): string[] =>
    Array.from({ length: Math.ceil(stream.length / size) }, (_, n) => stream.slice(n * size, (n + 1) * size))
  const middle = Math.floor(stream.length / 2)
  return [[stream], inParts(1), inParts(3), [stream.slice(0, middle), stream.slice(middle)]]
}

/** What reaches the client of an event stream that came at +1, for each chunking; `finish` ends it. */
export function everyWay(stream: string, finish: (chunks: readonly string[]) => string): string[] {
  return [...new Set(chunkings(stream).map(finish))]
}
export { pieces }
