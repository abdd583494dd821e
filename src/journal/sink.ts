/** What listens to the journal: metrics, live feed, events file, log, summary. Nothing flows back. */
import type { Fact } from '../core/fact.ts'
import type { LedgerView, Moment, Settlement } from '../core/ledger.ts'
import type { CallRecord } from '../core/record.ts'

export interface Sink {
  readonly name: string
  /** Moved bytes and single events, which come by the thousand, are not for it. */
  readonly skipsTraffic?: true
  /** The only facts it is told; absent: all, but see `skipsTraffic`. */
  readonly facts?: readonly Fact['kind'][]
  /** The only moments it is told; absent: all. */
  readonly moments?: readonly Moment['is'][]
  /** After the ledger took the fact: must be cheap. */
  fact?(view: LedgerView, fact: Fact): void
  /** What follows from a fact, told while the ledger takes it, before `fact`. */
  moment?(view: LedgerView, moment: Moment): void
  /** Once per call: its record will not change any more. */
  settled?(record: CallRecord, settlement: Settlement): void
  /** The process is ending: flush. */
  close?(): Promise<void>
}
