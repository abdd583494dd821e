/** One exchange as the journal keeps it. */
import type { Ledger } from '../core/ledger.ts'
import type { Due } from './due-queue.ts'

export interface Entry {
  readonly id: string
  readonly ledger: Ledger
  /** By call: its place among those that wait; absent: it does not. */
  readonly waits: (Due<Waiter> | undefined)[]
  /** The calls whose cancellation this exchange carries to the server. */
  readonly carries: { readonly target: Entry; readonly requestId: string }[]
  /** Under which keys a cancellation may name its calls. */
  readonly cancelKeys: string[]
}

/** A call that waits to be settled. */
export interface Waiter {
  readonly entry: Entry
  readonly index: number
}

export const entryOf = (id: string, ledger: Ledger): Entry => ({ id, ledger, waits: [], carries: [], cancelKeys: [] })
