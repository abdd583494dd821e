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
  const withTimeline = new Map<string, number>() // their lengths, oldest first
  let entries = 0

  function forgetTimeline(id: string): void {
    entries -= withTimeline.get(id) ?? 0
    withTimeline.delete(id)
  }

  return {
    add(record) {
      records.set(record.id, record)
      withTimeline.set(record.id, record.timeline.length)
      entries += record.timeline.length
      const [oldest] = records.keys()
      if (records.size > recordsMax && oldest !== undefined) {
        records.delete(oldest)
        forgetTimeline(oldest)
      }
      for (const id of withTimeline.keys()) {
        if (entries <= entriesMax) return
        forgetTimeline(id)
        const long = records.get(id)
        if (long !== undefined) records.set(id, { ...long, timeline: [], truncated: true })
      }
    },
    get: (id) => records.get(id) ?? null,
    all: () => [...records.values()],
  }
}
