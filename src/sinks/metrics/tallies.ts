/**
 * Counters and histograms that are hot: prom-client checks, sorts and hashes the labels at every call, a microsecond each time.
 * Here a call finds its cell and adds a number; what the cells hold is handed over when somebody scrapes.
 */
import type { Metric, Registry } from 'prom-client'
import { Counter, Histogram } from 'prom-client'

export type Labels = Readonly<Record<string, string>>

interface Shape {
  readonly name: string
  readonly help: string
  readonly labelNames: string[]
}

interface Cells<T> {
  /** Made where there is none yet. */
  of(labels: Labels): T
  find(labels: Labels): T | undefined
  all(): Iterable<T>
}

/** By the values of their labels, in the order of the names. */
function createCells<T>(names: readonly string[], create: (labels: Labels) => T): Cells<T> {
  const cells = new Map<string, T>()
  const [only = ''] = names
  function keyOf(labels: Labels): string {
    if (names.length === 1) return labels[only] ?? '' // most have one: no text is made
    let key = ''
    for (const name of names) key += `${labels[name]}\n`
    return key
  }
  return {
    of(labels) {
      const key = keyOf(labels)
      let cell = cells.get(key)
      if (cell === undefined) {
        cell = create(labels)
        cells.set(key, cell)
      }
      return cell
    },
    find: (labels) => cells.get(keyOf(labels)),
    all: () => cells.values(),
  }
}

export interface CounterTally {
  /** `by` is finite and not negative. */
  add(labels: Labels, by: number): void
  /** Exists from now on. */
  touch(labels: Labels): void
}

export function createCounterTally(registry: Registry<never>, shape: Shape): CounterTally {
  const counter = new Counter({
    ...shape,
    registers: [registry],
    collect() {
      for (const cell of cells.all()) {
        if (cell.waiting > 0) counter.inc(cell.labels, cell.waiting)
        cell.waiting = 0
      }
    },
  })
  const cells: Cells<{ readonly labels: Labels; waiting: number }> = createCells(shape.labelNames, (labels) => {
    counter.inc(labels, 0) // wrong labels throw here, at once
    return { labels, waiting: 0 }
  })
  return {
    add(labels, by) {
      cells.of(labels).waiting += by
    },
    touch: (labels) => void cells.of(labels),
  }
}

export interface HistogramTally {
  /** `value` is finite. */
  observe(labels: Labels, value: number, traceId: string | null): void
  touch(labels: Labels): void
}

interface HistogramCell {
  /** By bucket, the last of them +Inf: observations beside those that prom-client was given. */
  readonly counts: number[]
  sum: number
  /** By bucket: prom-client has one with an exemplar since the last scrape. */
  readonly isShown: boolean[]
}

/** The first observation of each bucket after a scrape goes to prom-client, exemplar and all; the others are only counted. */
export function createHistogramTally(
  registry: Registry<never>,
  shape: Shape,
  { buckets, hasExemplars }: { readonly buckets: readonly number[]; readonly hasExemplars: boolean },
): HistogramTally {
  const exemplars = hasExemplars ? { enableExemplars: true } : {}
  const histogram = new Histogram({ ...shape, registers: [], buckets: [...buckets], ...exemplars })
  const cells = createCells<HistogramCell>(shape.labelNames, (labels) => {
    histogram.zero(labels)
    return { counts: Array(buckets.length + 1).fill(0), sum: 0, isShown: Array(buckets.length + 1).fill(false) }
  })
  async function get() {
    const shown = await histogram.get()
    for (const sample of shown.values) {
      const labels = sample.labels as Readonly<Record<string, string | number>>
      const cell = cells.find(labels as Labels)
      if (cell === undefined) continue
      if (sample.metricName?.endsWith('_sum') === true) sample.value += cell.sum
      else sample.value += countUpTo(cell, labels['le'] === undefined ? buckets.length : buckets.indexOf(Number(labels['le'])))
    }
    for (const { isShown } of cells.all()) isShown.fill(false)
    return shown
  }
  registry.registerMetric({ name: shape.name, get, reset: () => histogram.reset() } as unknown as Metric)
  return {
    observe(labels, value, traceId) {
      const cell = cells.of(labels)
      const bucket = bucketOf(buckets, value)
      if (cell.isShown[bucket] === true) {
        cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1
        cell.sum += value
        return
      }
      cell.isShown[bucket] = true
      if (!hasExemplars) histogram.observe(labels, value)
      else histogram.observe({ labels, value, exemplarLabels: traceId === null ? {} : { trace_id: traceId } })
    },
    touch: (labels) => void cells.of(labels),
  }
}

function bucketOf(buckets: readonly number[], value: number): number {
  for (let at = 0; at < buckets.length; at += 1) if (value <= (buckets[at] as number)) return at
  return buckets.length
}

/** Buckets tell what is at most their edge; the edge that is none is +Inf. */
function countUpTo({ counts }: HistogramCell, edge: number): number {
  let sum = 0
  for (let at = 0; at < counts.length; at += 1) if (edge < 0 || at <= edge) sum += counts[at] ?? 0
  return sum
}
