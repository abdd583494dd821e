/**
 * Counters and histograms that are hot: prom-client checks, sorts and hashes the labels at every call, a microsecond each time.
 * Here a call finds its cell and adds a number; what the cells hold is handed over when somebody scrapes.
 */
import type { Metric, Registry } from 'prom-client'
import { Counter, Histogram } from 'prom-client'
import { assert } from '../../core/assert.ts'

export type Labels = Readonly<Record<string, string>>

interface Shape {
  readonly name: string
  readonly help: string
  readonly labelNames: string[]
}

interface Cells<T> {
  /** Made where there is none yet. */
  of(labels: Labels): T
  /** The same, by the values of the labels in the order of their names: no text and no object is made to find one. */
  at(a: string, b: string, c: string, d: string): T
  find(labels: Labels): T | undefined
  all(): Iterable<T>
}

/** By the value of the first label, then by that of the second, … */
type Level<T> = Map<string, T | Level<T>>
const LABELS_MAX = 4

function createCells<T extends object>(names: readonly string[], create: (labels: Labels) => T): Cells<T> {
  assert(names.length <= LABELS_MAX, 'a hot metric has few labels')
  const depth = Math.max(1, names.length)
  const first: Level<T> = new Map()
  const all: T[] = []
  const [name0 = '', name1 = '', name2 = '', name3 = ''] = names

  function look(a: string, b: string, c: string, d: string): T | undefined {
    let found: T | Level<T> | undefined = first.get(a)
    if (depth > 1) found = (found as Level<T> | undefined)?.get(b)
    if (depth > 2) found = (found as Level<T> | undefined)?.get(c)
    if (depth > 3) found = (found as Level<T> | undefined)?.get(d)
    return found as T | undefined
  }

  function make(values: readonly string[], labels: Labels): T {
    const cell = create(labels)
    let level = first
    for (const value of values.slice(0, depth - 1)) {
      const next = (level.get(value) as Level<T> | undefined) ?? new Map<string, T | Level<T>>()
      level.set(value, next)
      level = next
    }
    level.set(values[depth - 1] ?? '', cell)
    all.push(cell)
    return cell
  }

  const find = (labels: Labels): T | undefined => look(labels[name0] ?? '', labels[name1] ?? '', labels[name2] ?? '', labels[name3] ?? '')
  return {
    of: (labels) =>
      find(labels) ??
      make(
        names.map((name) => labels[name] ?? ''),
        labels,
      ),
    at: (a, b, c, d) => look(a, b, c, d) ?? make([a, b, c, d], labelsOf(names, [a, b, c, d])),
    find,
    all: () => all,
  }
}

const labelsOf = (names: readonly string[], values: readonly string[]): Labels =>
  Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))

/** What a page of it was made of: another number, another page. */
interface Edited {
  edition(): number
}

export interface CounterTally extends Edited {
  /** `by` is finite and not negative. */
  add(labels: Labels, by: number): void
  /** By the values of the labels, in the order of their names. */
  addAt(by: number, a?: string, b?: string, c?: string, d?: string): void
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
  let edition = 0
  const cells: Cells<{ readonly labels: Labels; waiting: number }> = createCells(shape.labelNames, (labels) => {
    edition += 1
    counter.inc(labels, 0) // wrong labels throw here, at once
    return { labels, waiting: 0 }
  })
  return {
    edition: () => edition,
    add(labels, by) {
      edition += 1
      cells.of(labels).waiting += by
    },
    addAt(by, a = '', b = '', c = '', d = '') {
      edition += by
      cells.at(a, b, c, d).waiting += by
    },
    touch: (labels) => void cells.of(labels),
  }
}

export interface HistogramTally extends Edited {
  /** `value` is finite. */
  observe(labels: Labels, value: number, traceId: string | null): void
  /** By the value of its one label, if it has any. */
  observeAt(label: string, value: number, traceId: string | null): void
  touch(labels: Labels): void
}

interface HistogramCell {
  readonly labels: Labels
  /** By bucket, the last of them +Inf: observations beside those that prom-client was given. */
  readonly counts: number[]
  sum: number
  /** By bucket: prom-client has one with an exemplar since the last scrape. */
  readonly isShown: boolean[]
}

/** What prom-client makes its page of: a bucket's edge apart from the labels that all of a cell's lines share. */
interface ForPage {
  getForPromString(): Promise<{
    readonly values: {
      readonly labels: { readonly le?: number | '+Inf' }
      readonly sharedLabels: Labels
      readonly metricName: string
      value: number
    }[]
  }>
}

/** The first observation of each bucket after a scrape goes to prom-client, exemplar and all; the others are only counted. */
export function createHistogramTally(
  registry: Registry<never>,
  shape: Shape,
  { buckets, hasExemplars }: { readonly buckets: readonly number[]; readonly hasExemplars: boolean },
): HistogramTally {
  const exemplars = hasExemplars ? { enableExemplars: true } : {}
  const histogram = new Histogram({ ...shape, registers: [], buckets: [...buckets], ...exemplars })
  let edition = 0
  const cells = createCells<HistogramCell>(shape.labelNames, (labels) => {
    edition += 1
    histogram.zero(labels)
    return { labels, counts: Array(buckets.length + 1).fill(0), sum: 0, isShown: Array(buckets.length + 1).fill(false) }
  })
  async function get() {
    const shown = await (histogram as unknown as ForPage).getForPromString()
    for (const sample of shown.values) {
      const cell = cells.find(sample.sharedLabels)
      if (cell === undefined) continue
      const { le } = sample.labels
      if (sample.metricName.endsWith('_sum')) sample.value += cell.sum
      else sample.value += countUpTo(cell, le === undefined ? buckets.length : buckets.indexOf(Number(le)))
    }
    for (const { isShown } of cells.all()) isShown.fill(false)
    return shown
  }
  registry.registerMetric({ name: shape.name, get, getForPromString: get, reset: () => histogram.reset() } as unknown as Metric)
  function observe(cell: HistogramCell, value: number, traceId: string | null): void {
    edition += 1
    const bucket = bucketOf(buckets, value)
    if (cell.isShown[bucket] === true) {
      cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1
      cell.sum += value
      return
    }
    cell.isShown[bucket] = true
    const { labels } = cell
    if (!hasExemplars) histogram.observe(labels, value)
    else histogram.observe({ labels, value, exemplarLabels: traceId === null ? {} : { trace_id: traceId } })
  }
  return {
    edition: () => edition,
    observe: (labels, value, traceId) => observe(cells.of(labels), value, traceId),
    observeAt: (label, value, traceId) => observe(cells.at(label, '', '', ''), value, traceId),
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
