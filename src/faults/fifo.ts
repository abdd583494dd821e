/** First in, first out, with a bound to be told: what a slow seat keeps. */
import { toKeep } from '../core/keep.ts'
import type { Ask, Reply } from '../core/signal.ts'

const BYTES_MAX = 1_048_576
const ENTRIES_MAX = 4_096

export interface Fifo<Entry> {
  push(entry: Entry): void
  first(): Entry | undefined
  /** Replaces the first, whose signal is now a smaller one. */
  shrinkFirst(entry: Entry): void
  shift(): Entry | undefined
  clear(): void
  bytes(): number
  /** Whoever fills it should be held. */
  isFull(): boolean
  isEmpty(): boolean
}

const bytesIn = (signal: Reply | Ask): number => (signal.is === 'piece' ? signal.bytes.length : 0)

/** An entry as it may be kept for long. */
export const kept = <Signal extends Reply | Ask>(signal: Signal): Signal => (signal.is === 'piece' ? (toKeep(signal) as Signal) : signal)

export function createFifo<Entry extends { readonly signal: Reply | Ask }>(): Fifo<Entry> {
  let entries: Entry[] = []
  let start = 0
  let bytes = 0
  return {
    push(entry) {
      entries.push(entry)
      bytes += bytesIn(entry.signal)
    },
    first: () => entries[start],
    shrinkFirst(entry) {
      const before = entries[start]
      if (before === undefined) return
      bytes += bytesIn(entry.signal) - bytesIn(before.signal)
      entries[start] = entry
    },
    shift() {
      const entry = entries[start]
      if (entry === undefined) return undefined
      start += 1
      bytes -= bytesIn(entry.signal)
      if (start > 1_024 && start * 2 > entries.length) {
        entries = entries.slice(start)
        start = 0
      }
      return entry
    },
    clear() {
      entries = []
      start = 0
      bytes = 0
    },
    bytes: () => bytes,
    isFull: () => bytes > BYTES_MAX || entries.length - start > ENTRIES_MAX,
    isEmpty: () => start === entries.length,
  }
}
