/** A journal on a fake clock, told facts by exchange. Times are ms since `OPENED_AT_MS`. */
import type { Fact } from '../../src/core/fact.ts'
import type { CallRecord } from '../../src/core/record.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createJournal } from '../../src/journal/journal.ts'
import type { Sink } from '../../src/journal/sink.ts'
import type { FakeClock } from './fake-clock.ts'
import { fakeClock } from './fake-clock.ts'
import { at, OPENED_AT_MS } from './ledger-rig.ts'

export interface JournalRig {
  readonly clock: FakeClock
  readonly journal: Journal
  readonly settled: CallRecord[]
  readonly errors: string[]
  /** Opens an exchange and tells it these facts, the clock moving along. */
  run(...facts: Fact[]): string
  tellTo(id: string, ...facts: Fact[]): void
  until(ms: number): void
}

export function journalRig({
  sinks = [] as Sink[],
  waitMs = 60_000,
  graceMs = 500,
  pendingMax = 50_000,
  isSourceAlive = false,
} = {}): JournalRig {
  const clock = fakeClock({ startMs: OPENED_AT_MS })
  const settled: CallRecord[] = []
  const errors: string[] = []
  const keeper: Sink = { name: 'keeper', settled: (record) => settled.push(record) }
  const journal = createJournal({
    ...{ clock, graceMs, waitMs, pendingMax, sinks: [...sinks, keeper] },
    onSinkError: (name, error) => errors.push(`${name}: ${String(error)}`),
    isSourceAlive: () => isSourceAlive,
  })
  const tells = new Map<string, (fact: Fact) => void>()
  const until = (ms: number): void => clock.advance(Math.max(0, at(ms) - clock.nowMs()))
  const tellTo = (id: string, ...facts: Fact[]): void => {
    for (const fact of facts) {
      until(fact.atMs - OPENED_AT_MS)
      tells.get(id)?.(fact)
    }
  }
  return {
    ...{ clock, journal, settled, errors, tellTo, until },
    run(...facts) {
      const { id, tell } = journal.openExchange()
      tells.set(id, tell)
      tellTo(id, ...facts)
      return id
    },
  }
}
