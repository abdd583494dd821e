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

export interface Timeline {
  /** `atMs` since the exchange opened. */
  add(atMs: number, what: string, ...more: (number | string)[]): void
  addTraffic(atMs: number, what: string, ...more: (number | string)[]): void
  /** Bytes from the server where no event shows. */
  addBytes(atMs: number, bytes: number): void
  /** In order of time. */
  entries(): readonly TimelineEntry[]
  isTruncated(): boolean
  /** Gives its room back; what is already read stays. */
  free(): void
}

export function createTimeline(budget: TimelineBudget): Timeline {
  let entries: [number, string, ...(number | string)[]][] = []
  let isTruncated = false
  let bytesEntry: [number, string, ...(number | string)[]] | null = null

  function push(entry: [number, string, ...(number | string)[]], max: number): boolean {
    if (entries.length >= max || budget.entriesLeft <= 0) {
      isTruncated = true
      return false
    }
    budget.entriesLeft -= 1
    entries.push(entry)
    return true
  }

  return {
    add: (atMs, what, ...more) => void push([Math.round(atMs), what, ...more], ENTRIES_MAX),
    addTraffic: (atMs, what, ...more) => void push([Math.round(atMs), what, ...more], TRAFFIC_MAX),
    addBytes(atMs, bytes) {
      if (bytesEntry !== null && atMs - bytesEntry[0] < BYTES_EVERY_MS) {
        bytesEntry[2] = Number(bytesEntry[2]) + bytes
        return
      }
      if (isTruncated) return
      const entry: [number, string, number] = [Math.round(atMs), 'bytes', bytes]
      if (push(entry, TRAFFIC_MAX)) bytesEntry = entry
    },
    entries: () => entries.toSorted((a, b) => a[0] - b[0]),
    isTruncated: () => isTruncated,
    free() {
      budget.entriesLeft += entries.length
      entries = []
      bytesEntry = null
    },
  }
}
