/** Everything that is kept and told of exchanges: metrics, journal, sinks, and where work reports meet their calls. */
import { presetHops } from '../config/presets.ts'
import { productVersion } from '../config/product.ts'
import type { Settings } from '../config/snapshot.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Journal } from '../journal/journal.ts'
import { createJournal } from '../journal/journal.ts'
import type { Sink } from '../journal/sink.ts'
import { createDiagnosis } from '../predict/diagnosis.ts'
import { knownLimits } from '../predict/known-limits.ts'
import { createEventsSink } from '../sinks/events.ts'
import type { Metrics } from '../sinks/metrics/index.ts'
import { createMetrics } from '../sinks/metrics/index.ts'
import type { Summary } from '../sinks/summary.ts'
import { createSummary } from '../sinks/summary.ts'
import { createCorrelator } from '../work/correlate.ts'
import { registrationSink } from '../work/registration.ts'
import type { PendingReport, WorkPort } from '../work/work-port.ts'
import { createWorkPort } from '../work/work-port.ts'

export interface Books {
  readonly metrics: Metrics
  readonly summary: Summary
  readonly journal: Journal
  readonly workPort: WorkPort
}

export interface BooksAsked {
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Log
  readonly heldBytes: () => number
  /** In force now: a reload changes it. */
  readonly work: () => Settings['snapshot']['work']
  writeOut(text: string): void
  /** See `JournalAsked.later`. */
  readonly later: (run: () => void) => void
  readonly more: readonly Sink[]
}

/** Calls that reports may still name. */
const CALLS_MAX = 50_000

/** Rejects with the system's error for an events file that cannot be opened. */
export async function openBooks({ settings, clock, log, heldBytes, work, writeOut, later, more }: BooksAsked): Promise<Books> {
  const { match } = settings.snapshot.work
  const turn = () => new Promise<void>((resolve) => later(resolve))
  const metrics = createMetrics({
    toolsMax: settings.metrics.toolsMax,
    version: productVersion(),
    gauges: { bufferedBytes: heldBytes },
    turn,
  })
  const summary = createSummary(
    clock,
    createDiagnosis(() => knownLimits(presetHops())),
  )
  const events =
    settings.events === null ? [] : [await createEventsSink({ ...settings.events, writeOut, log, dropped: metrics.eventsDropped })]
  const correlator = createCorrelator<PendingReport>({ callsMax: CALLS_MAX })
  const journal = createJournal({
    clock,
    later,
    get graceMs() {
      return work().graceMs
    },
    get waitMs() {
      return work().waitMs
    },
    sinks: [metrics.sink, summary.sink, registrationSink(correlator), ...more, ...events],
    onSinkError: (name, error) => log.error(`${name} failed and is passed over; calls go on`, { error: String(error) }),
  })
  const workPort = createWorkPort({
    clock,
    correlator,
    matchers: match ?? [],
    catchUp: journal.flush,
    deliver: journal.reportWork,
    count: metrics.countReport,
  })
  return { metrics, summary, journal, workPort }
}
