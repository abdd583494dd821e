/** prom-client behind few words: series that exist before their first event, no NaN, hot counters read only when scraped. */
import type { OpenMetricsContentType, Registry } from 'prom-client'
import { Counter, Gauge } from 'prom-client'
import type { CounterAbout, GaugeAbout, HistogramAbout } from './about.ts'
import { LONG_BUCKETS, PREFIX, SHORT_BUCKETS } from './about.ts'
import type { LabelCap } from './label-cap.ts'
import type { Possible } from './possible.ts'
import type { Readings } from './readings.ts'
import type { Labels } from './tallies.ts'
import { createCounterTally, createHistogramTally } from './tallies.ts'

export type OpenRegistry = Registry<OpenMetricsContentType>
export type { Labels } from './tallies.ts'

export interface CounterMeter {
  inc(labels: Labels, by?: number): void
  /** One more, by the values of its labels in their order: for what is counted with every exchange. */
  count(a?: string, b?: string, c?: string, d?: string): void
  /** Exists from now on. */
  touch(labels: Labels): void
  /** The same, by the values of its labels. */
  touchAt(a?: string, b?: string, c?: string, d?: string): void
}
export interface GaugeMeter {
  set(labels: Labels, value: number): void
  add(labels: Labels, by: number): void
  clear(): void
}
export interface HistogramMeter {
  /** By the value of its one label, `''` where it has none. What is no finite number is not observed. */
  observe(label: string, ms: number, traceId?: string | null): void
  touch(labels: Labels): void
}

/** What a family is built with. */
export interface Kit {
  readonly version: string
  readonly readings: Readings
  readonly tools: LabelCap
  readonly faults: LabelCap
  readonly hops: LabelCap
  readonly possible: Possible
  /** Tools with a label of their own, and `other` once it is in use. */
  toolLabels(): readonly string[]
  /** Runs before each scrape is read. */
  beforeScrape(run: () => void): void
  counter(about: CounterAbout): CounterMeter
  /** Its totals are kept elsewhere and read at each scrape: for what changes with every chunk. */
  countedElsewhere(about: CounterAbout, totals: () => readonly (readonly [Labels, number])[]): void
  gauge(about: GaugeAbout): GaugeMeter
  gaugeReadAtScrape(about: GaugeAbout, values: () => readonly (readonly [Labels, number])[]): void
  histogram(about: HistogramAbout): HistogramMeter
}

/** By a metric's name on the page, how to tell whether it changed; not those that are read elsewhere. */
export type Editions = Map<string, () => number>

export function createKit(
  registry: OpenRegistry,
  editions: Editions,
  parts: Omit<Kit, 'counter' | 'countedElsewhere' | 'gauge' | 'gaugeReadAtScrape' | 'histogram'>,
): Kit {
  const shapeOf = ({ name, help, labels }: CounterAbout | GaugeAbout | HistogramAbout) => ({
    name: PREFIX + name,
    help,
    labelNames: [...labels],
    registers: [registry],
  })
  return {
    ...parts,
    counter: (about) => counterOf(registry, editions, about),
    countedElsewhere(about, totals) {
      const told = new Map<string, number>()
      const counter = new Counter({
        ...shapeOf(about),
        collect() {
          for (const [labels, total] of totals()) {
            const key = Object.values(labels).join('\n')
            counter.inc(labels, total - (told.get(key) ?? 0))
            told.set(key, total)
          }
        },
      })
    },
    gauge: (about) => gaugeOf(new Gauge(shapeOf(about))),
    gaugeReadAtScrape(about, values) {
      const gauge = new Gauge({
        ...shapeOf(about),
        collect() {
          gauge.reset()
          for (const [labels, value] of values()) if (Number.isFinite(value)) gauge.set(labels, value)
        },
      })
    },
    histogram: (about) => histogramOf(registry, editions, about),
  }
}

const nameOf = ({ name, help, labels }: CounterAbout | HistogramAbout) => ({ name: PREFIX + name, help, labelNames: [...labels] })

function counterOf(registry: OpenRegistry, editions: Editions, about: CounterAbout): CounterMeter {
  const tally = createCounterTally(registry as unknown as Registry<never>, nameOf(about))
  editions.set(PREFIX + about.name, tally.edition)
  return {
    inc(labels, by = 1) {
      if (by >= 0 && Number.isFinite(by)) tally.add(labels, by)
    },
    count: (a, b, c, d) => tally.addAt(1, a, b, c, d),
    touch: tally.touch,
    touchAt: (a, b, c, d) => tally.addAt(0, a, b, c, d),
  }
}

const gaugeOf = (gauge: Gauge): GaugeMeter => ({
  set: (labels, value) => gauge.set(labels, value),
  add: (labels, by) => gauge.inc(labels, by),
  clear: () => gauge.reset(),
})

function histogramOf(registry: OpenRegistry, editions: Editions, about: HistogramAbout): HistogramMeter {
  const tally = createHistogramTally(registry as unknown as Registry<never>, nameOf(about), {
    buckets: about.buckets === 'long' ? LONG_BUCKETS : SHORT_BUCKETS,
    hasExemplars: about.hasExemplars === true,
  })
  editions.set(PREFIX + about.name, tally.edition)
  return {
    observe(label, ms, traceId = null) {
      if (Number.isFinite(ms)) tally.observeAt(label, Math.max(0, ms) / 1_000, traceId)
    },
    touch: tally.touch,
  }
}
