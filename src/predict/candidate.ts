/** A path to be judged: its hops, and the seats they make. */
import type { SeatPlan } from '../core/seat.ts'
import { compileLine } from '../hops/compile.ts'
import type { Hop } from '../hops/hop.ts'

export interface Candidate {
  /** What people call it: `cloudflare,nginx`. */
  readonly name: string
  /** Client side first. */
  readonly hops: readonly Hop[]
  readonly plans: readonly SeatPlan[]
}

export const candidateOf = (name: string, hops: readonly Hop[]): Candidate => ({ name, hops, plans: compileLine(hops, []) })
