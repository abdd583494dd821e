/** The last settled records, for the API and to tell a late report from a stranger's. */
import type { CallRecord } from '../core/record.ts'
import { recordIn, textOf } from './record-text.ts'

export interface SettledRing {
  add(record: CallRecord): void
  get(id: string): CallRecord | null
  /** Oldest first. */
  all(): readonly CallRecord[]
}

/** Nearly all records fit; one that does not is kept as a text. */
const SLOT_BYTES = 2_048

/**
 * Where timelines together are longer than `entriesMax`, the oldest records lose theirs. Each is kept as a text, in bytes that no collection
 * has to look at: a thousand records outlive every collection of the young, which would move them twice. Few are ever read.
 */
export function createSettledRing({ recordsMax, entriesMax }: { readonly recordsMax: number; readonly entriesMax: number }): SettledRing {
  // A plain ring: a Map would leave a chain of outgrown tables behind, each with a thousand records.
  const slots = Buffer.allocUnsafeSlow(recordsMax * SLOT_BYTES)
  const sizes = new Uint16Array(recordsMax) // of the bytes in use; 0: it is among the long ones
  const long: (string | undefined)[] = Array.from({ length: recordsMax })
  const ids: (string | undefined)[] = Array.from({ length: recordsMax })
  const lengths: number[] = [] // of their timelines
  let added = 0
  let bare = 0 // so many of those added have lost their timeline, or are gone
  let entries = 0

  function put(place: number, record: CallRecord): void {
    const text = textOf(record)
    // A character takes three bytes at most.
    const fits = text.length * 3 <= SLOT_BYTES || Buffer.byteLength(text) <= SLOT_BYTES
    sizes[place] = fits ? slots.write(text, place * SLOT_BYTES) : 0
    long[place] = fits ? undefined : text
  }

  function recordAt(place: number): CallRecord {
    const from = place * SLOT_BYTES
    return recordIn(long[place] ?? slots.toString('utf8', from, from + (sizes[place] ?? 0)))
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
