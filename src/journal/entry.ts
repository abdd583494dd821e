/** One exchange as the journal keeps it. */
import type { Ledger } from '../core/ledger.ts'

export interface Entry {
  readonly id: string
  readonly ledger: Ledger
  /** By call: when it falls due; null: it does not wait, or is settled. */
  readonly dueMs: (number | null)[]
  /** The calls whose cancellation this exchange carries to the server. */
  readonly carries: { readonly target: Entry; readonly requestId: string }[]
  /** Under which keys a cancellation may name its calls. */
  readonly cancelKeys: string[]
}

export const entryOf = (id: string, ledger: Ledger): Entry => ({ id, ledger, dueMs: [], carries: [], cancelKeys: [] })
