/** What a metric is, in words and shape: its help for scrapers, its title for panels. */

/** Seconds. Edges stand beside the usual limits, so that a 60 s cut reads 60. */
export const LONG_BUCKETS: readonly number[] = [
  ...[0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 29.5, 31, 54, 56, 59, 61, 99, 101, 119, 126, 181, 239, 301, 601, 901],
]
export const SHORT_BUCKETS: readonly number[] = [0.05, 0.25, 1, 2, 5, 15, 31, 61, 101, 301, 901]

interface AboutBase {
  /** Without the prefix `impatient_`. */
  readonly name: string
  /** A panel's title. */
  readonly title: string
  /** One sentence: what it counts, and what it does not. */
  readonly help: string
  readonly labels: readonly string[]
}
export interface CounterAbout extends AboutBase {
  readonly type: 'counter'
  readonly unit: 'count' | 's' | 'bytes'
}
export interface GaugeAbout extends AboutBase {
  readonly type: 'gauge'
  readonly unit: 'count' | 'bool' | 's' | 'bytes' | 'unix-time'
}
export interface HistogramAbout extends AboutBase {
  readonly type: 'histogram'
  readonly unit: 's'
  readonly buckets: 'long' | 'short'
  /** Observations carry their `trace_id`. Only where no label is free text, and series are few. */
  readonly hasExemplars?: true
}
export type MetricAbout = CounterAbout | GaugeAbout | HistogramAbout

export const PREFIX = 'impatient_'
