/** One exchange as the journal keeps it. */
import type { Ledger } from '../core/ledger.ts'
import type { Due } from './due-queue.ts'

export interface Entry {
  readonly id: string
  readonly ledger: Ledger
  /** By call: its place among those that wait; absent: it does not. */
  readonly waits: (Due<Waiter> | undefined)[]
  member?: unknown
}

/** A call that waits to be settled. */
export interface Waiter {
  readonly entry: Entry
  readonly index: number
}

export const entryOf = (id: string, ledger: Ledger): Entry => ({ id, ledger, waits: [], member: null })
