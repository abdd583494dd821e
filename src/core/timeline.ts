/** The bounded list of what happened when: traffic leaves room for the few entries that say how it ended. */
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
  /** In the order they were told, which is nearly always that of time. */
  entries: TimelineEntry[]
  isInOrder: boolean
  /** A record has the array: it changes no more. */
  isGivenAway: boolean
  isTruncated: boolean
  bytesEntry: BytesEntry | null
}

/** Bytes from the server where no event shows: it grows while they come. */
type BytesEntry = [number, 'bytes', number]

const NO_ENTRIES: TimelineEntry[] = []

export const timelineOf = (budget: TimelineBudget): Timeline => ({
  budget,
  entries: NO_ENTRIES,
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

function push(timeline: Timeline, entry: TimelineEntry, max: number): boolean {
  const { budget } = timeline
  if (timeline.entries.length >= max || budget.entriesLeft <= 0) {
    timeline.isTruncated = true
    return false
  }
  budget.entriesLeft -= 1
  if (timeline.isGivenAway) {
    timeline.isGivenAway = false
    timeline.entries = [...timeline.entries]
  }
  const { entries } = timeline
  const last = entries[entries.length - 1]
  if (last !== undefined && last[0] > entry[0]) timeline.isInOrder = false
  entries.push(entry)
  return true
}

/** In order of time. */
export function entriesOf(timeline: Timeline): readonly TimelineEntry[] {
  if (!timeline.isInOrder) return timeline.entries.toSorted((a, b) => a[0] - b[0])
  timeline.isGivenAway = true
  return timeline.entries
}

/** Gives its room back; what is already read stays. */
export function freeTimeline(timeline: Timeline): void {
  timeline.budget.entriesLeft += timeline.entries.length
  timeline.entries = NO_ENTRIES
  timeline.isInOrder = true
  timeline.isGivenAway = true
  timeline.bytesEntry = null
}
