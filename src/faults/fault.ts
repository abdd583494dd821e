/** What a kind of fault is: its form in a file, a line of documentation, and what it does to an exchange. */
import type { z } from 'zod'
import type { SeatPlan } from '../core/seat.ts'
import type { Break, Cause, CauseKind, Side } from '../core/signal.ts'

/** What is done to a connection before it has a request. */
export type Acceptance = { readonly is: 'refuse'; readonly ending: Break } | { readonly is: 'stall'; readonly forMs: number | null }

export type Deed =
  /** A seat in the line of the exchange that matched … */
  | { readonly is: 'seat'; readonly plan: SeatPlan }
  /** … or of the next one on its connection. */
  | { readonly is: 'next'; readonly plan: SeatPlan }
  | { readonly is: 'accept'; readonly what: Acceptance }

export interface FaultKind {
  /** Its key under `do:`. */
  readonly key: string
  readonly docs: string
  /** Where it sits unless the rule says otherwise. */
  readonly at: Side
  readonly schema: z.ZodType
  /** `asked`: what stands under the key, valid by the schema. Throws where it is not. */
  deed(name: string, asked: unknown): Deed
}

/** Ties a kind's schema to its function, so that the list of kinds needs to know neither. */
export function faultKind<Schema extends z.ZodType>(kind: {
  readonly key: string
  readonly docs: string
  readonly at: Side
  readonly schema: Schema
  deed(name: string, asked: z.output<Schema>): Deed
}): FaultKind {
  return { ...kind, deed: (name, asked) => kind.deed(name, kind.schema.parse(asked)) }
}

export const seat = (plan: SeatPlan): Deed => ({ is: 'seat', plan })

export const causeOf = (name: string, kind: CauseKind = 'fault', detail?: string): Cause => ({
  kind,
  seat: name,
  fault: name,
  ...(detail === undefined ? {} : { detail }),
})
