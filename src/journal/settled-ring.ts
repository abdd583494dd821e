/** The last settled records, for the API and to tell a late report from a stranger's. */
import type { CallRecord } from '../core/record.ts'

export interface SettledRing {
  add(record: CallRecord): void
  get(id: string): CallRecord | null
  /** Oldest first. */
  all(): readonly CallRecord[]
}

/** Where timelines together are longer than `entriesMax`, the oldest records lose theirs. */
export function createSettledRing({ recordsMax, entriesMax }: { readonly recordsMax: number; readonly entriesMax: number }): SettledRing {
  // A plain ring: a Map would leave a chain of outgrown tables behind, each with a thousand records. Few ask for one of them.
  const ring: CallRecord[] = []
  let added = 0
  let bare = 0 // so many of those added have lost their timeline, or are gone
  let entries = 0

  function shorten(place: number): void {
    const long = ring[place]
    if (long === undefined || long.timeline.length === 0) return
    entries -= long.timeline.length
    ring[place] = { ...long, timeline: [], truncated: true }
  }

  return {
    add(record) {
      const place = added % recordsMax
      entries += record.timeline.length - (ring[place]?.timeline.length ?? 0)
      ring[place] = record
      added += 1
      bare = Math.max(bare, added - recordsMax)
      for (; entries > entriesMax && bare < added; bare += 1) shorten(bare % recordsMax)
    },
    get: (id) => ring.find((record) => record.id === id) ?? null,
    all: () => [...ring.slice(added % recordsMax), ...ring.slice(0, added % recordsMax)],
  }
}
