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
  const records = new Map<string, CallRecord>()
  // A ring of ids beside it: the first key of a Map costs a walk over all that was deleted before it.
  const ids: string[] = []
  let added = 0
  let bare = 0 // so many of those added have lost their timeline, or are gone
  let entries = 0

  function forget(id: string | undefined): void {
    if (id === undefined) return
    entries -= records.get(id)?.timeline.length ?? 0
    records.delete(id)
  }

  function shorten(id: string | undefined): void {
    const long = id === undefined ? undefined : records.get(id)
    if (long === undefined || long.timeline.length === 0) return
    entries -= long.timeline.length
    records.set(long.id, { ...long, timeline: [], truncated: true })
  }

  return {
    add(record) {
      const place = added % recordsMax
      forget(ids[place])
      ids[place] = record.id
      added += 1
      bare = Math.max(bare, added - recordsMax)
      records.set(record.id, record)
      entries += record.timeline.length
      for (; entries > entriesMax && bare < added; bare += 1) shorten(ids[bare % recordsMax])
    },
    get: (id) => records.get(id) ?? null,
    all: () => [...records.values()],
  }
}
