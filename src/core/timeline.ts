/** The bounded list of what happened when: traffic leaves room for the few entries that say how it ended. */
import type { Meaning } from './meaning.ts'
import type { TimelineEntry } from './record.ts'

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
  /** In the order they were told, which is nearly always that of time; messages stand apart. */
  entries: TimelineEntry[]
  messages: Messages | null
  /** Of all. */
  count: number
  lastAtMs: number
  isInOrder: boolean
  /** A record has the array: it changes no more. */
  isGivenAway: boolean
  isTruncated: boolean
  bytesEntry: BytesEntry | null
}

/** Events and comments come by the thousand: numbers, and where they are many in a table that no collection has to walk through. */
interface Messages {
  /** For each: its place among all, when, its bytes, what it is. */
  rows: number[] | Int32Array
  count: number
  /** So many entries stand before the first message; … */
  readonly entriesBefore: number
  /** … those behind have these places; null: none is. */
  places: number[] | null
}

const COLUMNS = 4
/** Few are kept as they are: a table of numbers costs 400 bytes before its first. */
const FEW_MAX = 16
const WORDS: readonly Meaning['is'][] = ['comment', 'progress', 'result', 'request', 'notification', 'other']

/** Bytes from the server where no event shows: it grows while they come. */
type BytesEntry = [number, 'bytes', number]

const NO_ENTRIES: TimelineEntry[] = []

export const timelineOf = (budget: TimelineBudget): Timeline => ({
  budget,
  entries: NO_ENTRIES,
  messages: null,
  count: 0,
  lastAtMs: -Infinity,
  isInOrder: true,
  isGivenAway: true,
  isTruncated: false,
  bytesEntry: null,
})

/** Times are whole ms since the exchange opened. */
export const addEntry = (timeline: Timeline, entry: TimelineEntry): void => void push(timeline, entry, ENTRIES_MAX)

export const addTraffic = (timeline: Timeline, entry: TimelineEntry): void => void push(timeline, entry, TRAFFIC_MAX)

/** Bytes from the server where no event shows, `sinceMs` after the opening. */
export function addBytes(timeline: Timeline, sinceMs: number, bytes: number): void {
  const { bytesEntry } = timeline
  if (bytesEntry !== null && sinceMs - bytesEntry[0] < BYTES_EVERY_MS) {
    bytesEntry[2] += bytes
    return
  }
  if (timeline.isTruncated) return
  const entry: BytesEntry = [Math.round(sinceMs), 'bytes', bytes]
  if (push(timeline, entry, TRAFFIC_MAX)) timeline.bytesEntry = entry
}

/** An event, or a comment, of so many bytes. */
export function addMessage(timeline: Timeline, sinceMs: number, is: Meaning['is'], bytes: number): void {
  if (!hasRoom(timeline, TRAFFIC_MAX)) return
  const atMs = Math.round(sinceMs)
  const word = WORDS.indexOf(is)
  const { messages } = timeline
  if (messages === null)
    timeline.messages = { rows: [timeline.count, atMs, bytes, word], count: 1, entriesBefore: timeline.entries.length, places: null }
  else addRow(messages, timeline.count, atMs, bytes, word)
  counted(timeline, atMs)
}

function addRow(messages: Messages, place: number, atMs: number, bytes: number, word: number): void {
  const { rows, count } = messages
  messages.count += 1
  if (count < FEW_MAX && Array.isArray(rows)) {
    rows.push(place, atMs, bytes, word)
    return
  }
  const at = count * COLUMNS
  const table = at === rows.length ? new Int32Array(2 * at) : rows
  if (table !== rows && table instanceof Int32Array) {
    table.set(rows)
    messages.rows = table
  }
  table[at] = place
  table[at + 1] = atMs
  table[at + 2] = bytes
  table[at + 3] = word
}

function push(timeline: Timeline, entry: TimelineEntry, max: number): boolean {
  if (!hasRoom(timeline, max)) return false
  if (timeline.isGivenAway) timeline.entries = timeline.entries === NO_ENTRIES ? [entry] : [...timeline.entries, entry]
  else timeline.entries.push(entry)
  timeline.isGivenAway = false
  if (timeline.messages !== null) notePlace(timeline.messages, timeline.count)
  counted(timeline, entry[0])
  return true
}

function notePlace(messages: Messages, place: number): void {
  if (messages.places === null) messages.places = [place]
  else messages.places.push(place)
}

function hasRoom(timeline: Timeline, max: number): boolean {
  if (timeline.count < max && timeline.budget.entriesLeft > 0) return true
  timeline.isTruncated = true
  return false
}

function counted(timeline: Timeline, atMs: number): void {
  timeline.budget.entriesLeft -= 1
  timeline.count += 1
  if (atMs < timeline.lastAtMs) timeline.isInOrder = false
  timeline.lastAtMs = atMs
}

/** In order of time. */
export function entriesOf(timeline: Timeline): readonly TimelineEntry[] {
  const { messages, isInOrder } = timeline
  if (messages === null && isInOrder) {
    timeline.isGivenAway = true
    return timeline.entries
  }
  const all = messages === null ? [...timeline.entries] : merged(timeline.entries, messages)
  return isInOrder ? all : all.sort((a, b) => a[0] - b[0])
}

function merged(entries: readonly TimelineEntry[], { rows, count, entriesBefore, places }: Messages): TimelineEntry[] {
  const all: TimelineEntry[] = []
  let next = 0
  const takeUntil = (place: number): void => {
    for (; next < count && (rows[next * COLUMNS] ?? 0) < place; next += 1) all.push(messageIn(rows, next * COLUMNS))
  }
  for (const [at, entry] of entries.entries()) {
    takeUntil(at < entriesBefore ? at : (places?.[at - entriesBefore] ?? at))
    all.push(entry)
  }
  takeUntil(Infinity)
  return all
}

function messageIn(rows: ArrayLike<number>, at: number): TimelineEntry {
  const [atMs = 0, bytes = 0, word = 0] = [rows[at + 1], rows[at + 2], rows[at + 3]]
  const is = WORDS[word] ?? 'other'
  return is === 'comment' ? [atMs, 'comment', bytes] : [atMs, 'event', bytes, is]
}

/** Gives its room back; what is already read stays. */
export function freeTimeline(timeline: Timeline): void {
  timeline.budget.entriesLeft += timeline.count
  timeline.entries = NO_ENTRIES
  timeline.messages = null
  timeline.count = 0
  timeline.lastAtMs = -Infinity
  timeline.isInOrder = true
  timeline.isGivenAway = true
  timeline.bytesEntry = null
}
