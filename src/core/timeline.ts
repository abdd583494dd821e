/** The bounded list of what happened when: traffic leaves room for the few entries that say how it ended. */
import type { Meaning } from './meaning.ts'
import type { TimelineEntry } from './record.ts'
import type { CauseKind, Ending } from './signal.ts'

const ENTRIES_MAX = 2_000
const TRAFFIC_MAX = 1_900
/** Bytes of bodies without events are summed up this finely. */
const BYTES_EVERY_MS = 20

/** What all timelines of a process may still take; given back when a call is settled. */
export interface TimelineBudget {
  entriesLeft: number
}

/** Plain data, for there is one per exchange: what can be done with it are the functions below. */
export interface Timeline {
  readonly budget: TimelineBudget
  /**
   * For each, in the order they were told: when, its shape, its number. A call waits for its report for seconds, and every collection of the
   * young has to move what it is made of: numbers in one piece are a third of the arrays that a reader gets.
   */
  rows: number[] | Uint32Array
  count: number
  /** Those that have no shape; their number says which. */
  odd: TimelineEntry[] | null
  lastAtMs: number
  isInOrder: boolean
  isTruncated: boolean
  /** Where bytes are summed up that show no event; -1: nowhere. */
  bytesRow: number
}

type Shape = readonly [what: string, text: string | null, hasNumber: boolean]

const MESSAGES: readonly Meaning['is'][] = ['comment', 'progress', 'result', 'request', 'notification', 'other']
const CAUSES: Readonly<Record<CauseKind, true>> = {
  ...{ complete: true, client_abort: true, client_reset: true, server_close: true, server_reset: true, unreachable: true },
  ...{ header_timeout: true, idle_timeout: true, max_duration: true, client_send: true },
  ...{ fault: true, limit: true, operator: true, shutdown: true },
}
const ENDINGS: readonly Ending[] = ['clean', 'fin', 'rst']

/** Messages first: their shape is their place in the list of them. */
const SHAPES: readonly Shape[] = [
  ...MESSAGES.map((is): Shape => (is === 'comment' ? ['comment', null, true] : ['event', is, true])),
  ...['headers', 'bytes', 'part', 'answered'].map((what): Shape => [what, null, true]),
  ...['asked', 'cancelled'].map((what): Shape => [what, null, false]),
  ...Object.keys(CAUSES).map((cause): Shape => ['closed', cause, false]),
  ...['told', 'server-over'].flatMap((what) => ENDINGS.map((ending): Shape => [what, ending, false])),
]
const ODD = SHAPES.length
const BYTES = SHAPES.findIndex(([what]) => what === 'bytes')

/** By the word, and by the text behind it. */
const WITHOUT_TEXT = new Map(SHAPES.flatMap(([what, text], shape) => (text === null ? [[what, shape] as const] : [])))
const WITH_TEXT = new Map<string, Map<string, number>>()
for (const [shape, [what, text, hasNumber]] of SHAPES.entries()) {
  if (text !== null && !hasNumber) WITH_TEXT.set(what, (WITH_TEXT.get(what) ?? new Map<string, number>()).set(text, shape))
}

const COLUMNS = 3
/** From here on a table of numbers, which no collection has to walk through; it costs 400 bytes before its first. */
const MANY_ROWS = 16
const NO_ROWS: number[] = []
const NUMBER_MAX = 0xffff_ffff

export const timelineOf = (budget: TimelineBudget): Timeline => ({
  budget,
  rows: NO_ROWS,
  count: 0,
  odd: null,
  lastAtMs: -Infinity,
  isInOrder: true,
  isTruncated: false,
  bytesRow: -1,
})

/** Times are whole ms since the exchange opened. */
export const addEntry = (timeline: Timeline, entry: TimelineEntry): void => add(timeline, entry, ENTRIES_MAX)

export const addTraffic = (timeline: Timeline, entry: TimelineEntry): void => add(timeline, entry, TRAFFIC_MAX)

/** Bytes from the server where no event shows, `sinceMs` after the opening. */
export function addBytes(timeline: Timeline, sinceMs: number, bytes: number): void {
  const { bytesRow, rows } = timeline
  if (bytesRow >= 0 && sinceMs - (rows[bytesRow] ?? 0) < BYTES_EVERY_MS) {
    rows[bytesRow + 2] = Math.min((rows[bytesRow + 2] ?? 0) + bytes, NUMBER_MAX)
    return
  }
  if (timeline.isTruncated) return
  const row = timeline.count * COLUMNS
  if (addRow(timeline, Math.round(sinceMs), BYTES, bytes, TRAFFIC_MAX)) timeline.bytesRow = row
}

/** An event, or a comment, of so many bytes. */
export const addMessage = (timeline: Timeline, sinceMs: number, is: Meaning['is'], bytes: number): void =>
  void addRow(timeline, Math.round(sinceMs), MESSAGES.indexOf(is), bytes, TRAFFIC_MAX)

function add(timeline: Timeline, entry: TimelineEntry, max: number): void {
  const { 0: atMs, 2: value } = entry
  const shape = shapeOf(entry)
  if (shape !== undefined) {
    addRow(timeline, atMs, shape, typeof value === 'number' ? value : 0, max)
    return
  }
  const at = timeline.odd?.length ?? 0
  if (!addRow(timeline, atMs, ODD, at, max)) return
  if (timeline.odd === null) timeline.odd = [entry]
  else timeline.odd.push(entry)
}

function shapeOf(entry: TimelineEntry): number | undefined {
  const { length, 1: what, 2: value } = entry
  if (length > 3) return undefined
  if (typeof value === 'string') return WITH_TEXT.get(what)?.get(value)
  const shape = WITHOUT_TEXT.get(what)
  return shape !== undefined && SHAPES[shape]?.[2] === (value !== undefined) ? shape : undefined
}

function addRow(timeline: Timeline, atMs: number, shape: number, value: number, max: number): boolean {
  const { count, budget } = timeline
  if (count >= max || budget.entriesLeft <= 0) {
    timeline.isTruncated = true
    return false
  }
  const at = count * COLUMNS
  if (at === timeline.rows.length) timeline.rows = longer(timeline.rows)
  const { rows } = timeline
  rows[at] = Math.min(Math.max(0, atMs), NUMBER_MAX) // 49 days
  rows[at + 1] = shape
  rows[at + 2] = Math.min(value, NUMBER_MAX)
  budget.entriesLeft -= 1
  timeline.count = count + 1
  if (atMs < timeline.lastAtMs) timeline.isInOrder = false
  timeline.lastAtMs = atMs
  return true
}

/** Four rows first, then twice as many each time: an array that grows by being pushed to makes room for sixteen numbers more than it needs. */
function longer(rows: Timeline['rows']): Timeline['rows'] {
  const { length } = rows
  if (length === 0) return [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  if (length < MANY_ROWS * COLUMNS && Array.isArray(rows)) return rows.concat(rows) // what is beyond the count is not read
  const table = new Uint32Array(2 * length)
  table.set(rows)
  return table
}

/** In order of time. */
export function entriesOf(timeline: Timeline): readonly TimelineEntry[] {
  const { count, isInOrder } = timeline
  const all: TimelineEntry[] = []
  for (let at = 0; at < count * COLUMNS; at += COLUMNS) all.push(entryAt(timeline, at))
  return isInOrder ? all : all.sort((a, b) => a[0] - b[0])
}

function entryAt({ rows, odd }: Timeline, at: number): TimelineEntry {
  const atMs = rows[at] ?? 0
  const value = rows[at + 2] ?? 0
  const shape = SHAPES[rows[at + 1] ?? ODD]
  if (shape === undefined) return odd?.[value] ?? [atMs, 'unknown']
  const { 0: what, 1: text, 2: hasNumber } = shape
  if (text === null) return hasNumber ? [atMs, what, value] : [atMs, what]
  return hasNumber ? [atMs, what, value, text] : [atMs, what, text]
}

/** Gives its room back; what is already read stays. */
export function freeTimeline(timeline: Timeline): void {
  timeline.budget.entriesLeft += timeline.count
  timeline.rows = NO_ROWS
  timeline.count = 0
  timeline.odd = null
  timeline.lastAtMs = -Infinity
  timeline.isInOrder = true
  timeline.bytesRow = -1
}
