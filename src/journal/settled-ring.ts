/** The last settled records, for the API and to tell a late report from a stranger's. */
import type { CallRecord } from '../core/record.ts'
import { createRecordRows, putRecord, recordIn } from './record-rows.ts'

export interface SettledRing {
  add(record: CallRecord): void
  get(id: string): CallRecord | null
  /** Oldest first. */
  all(): readonly CallRecord[]
}

/**
 * Where timelines together are longer than `entriesMax`, the oldest records lose theirs. Nearly all fit a row, which no collection has to look
 * at; one that does not is kept as its JSON. Few are ever read.
 */
export function createSettledRing({ recordsMax, entriesMax }: { readonly recordsMax: number; readonly entriesMax: number }): SettledRing {
  // A plain ring: a Map would leave a chain of outgrown tables behind, each with a thousand records.
  const rows = createRecordRows(recordsMax)
  const long: (string | undefined)[] = Array.from({ length: recordsMax })
  const ids: (string | undefined)[] = Array.from({ length: recordsMax })
  const lengths: number[] = [] // of their timelines
  let added = 0
  let bare = 0 // so many of those added have lost their timeline, or are gone
  let entries = 0

  function put(place: number, record: CallRecord): void {
    long[place] = putRecord(rows, place, record) ? undefined : JSON.stringify(record)
  }

  function recordAt(place: number): CallRecord {
    const text = long[place]
    return text === undefined ? recordIn(rows, place) : (JSON.parse(text) as CallRecord)
  }

  function shorten(place: number): void {
    const length = lengths[place] ?? 0
    if (length === 0) return
    entries -= length
    lengths[place] = 0
    put(place, { ...recordAt(place), timeline: [], truncated: true })
  }

  return {
    add(record) {
      const place = added % recordsMax
      entries += record.timeline.length - (lengths[place] ?? 0)
      put(place, record)
      ids[place] = record.id
      lengths[place] = record.timeline.length
      added += 1
      bare = Math.max(bare, added - recordsMax)
      for (; entries > entriesMax && bare < added; bare += 1) shorten(bare % recordsMax)
    },
    get(id) {
      const place = ids.indexOf(id)
      return place < 0 ? null : recordAt(place)
    },
    all() {
      const count = Math.min(added, recordsMax)
      return Array.from({ length: count }, (_, at) => recordAt((added - count + at) % recordsMax))
    },
  }
}
