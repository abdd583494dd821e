/** One exchange as the journal keeps it. */

import type { Due } from '../core/due-queue.ts'
import type { LedgerState } from '../core/ledger.ts'

export interface Entry {
  readonly id: string
  /** Its ledger: changes with every fact. */
  readonly view: LedgerState
  /** As it was when the exchange opened. */
  readonly graceMs: number
  /** By call: its place among those that wait; absent: it does not. Null: none ever did. */
  waits: (Due<Waiter> | undefined)[] | null
  member: unknown
}

/** A call that waits to be settled. */
export interface Waiter {
  readonly entry: Entry
  readonly index: number
}

/** `c42.2` is the 42nd exchange's second call. */
export const numberOf = (id: string): number => {
  const [exchange = '0', call = '1'] = id.slice(1).split('.')
  return Number(exchange) * 1_000 + Number(call)
}
