/**
 * Keys of settled calls that nobody has asked about: kept as text in bytes that no collection looks at. As objects ten thousand of them
 * would outlive every collection of the young, each be moved twice, and lie about when they are gone until the next full collection.
 */
import type { CallKey } from './call-index.ts'

export interface FrozenKeys {
  /** False: it is too long, and is not kept. The oldest goes where there is no room. */
  put(key: CallKey): boolean
  dropOldest(): void
  /** All, the oldest first; none is left. */
  takeAll(): readonly CallKey[]
  size(): number
}

/** Nearly all fit. */
const SLOT_BYTES = 384

export function createFrozenKeys(keysMax: number): FrozenKeys {
  const slots = Buffer.allocUnsafeSlow(keysMax * SLOT_BYTES) // the system gives what is written to
  const sizes = new Uint16Array(keysMax)
  let first = 0
  let count = 0

  function dropOldest(): void {
    if (count === 0) return
    first = (first + 1) % keysMax
    count -= 1
  }

  return {
    put(key) {
      const text = textOf(key)
      // A character takes three bytes at most.
      if (text.length * 3 > SLOT_BYTES && Buffer.byteLength(text) > SLOT_BYTES) return false
      if (count === keysMax) dropOldest()
      const place = (first + count) % keysMax
      sizes[place] = slots.write(text, place * SLOT_BYTES)
      count += 1
      return true
    },
    dropOldest,
    takeAll() {
      const keys = Array.from({ length: count }, (_, at) => {
        const place = (first + at) % keysMax
        const from = place * SLOT_BYTES
        return keyOf(slots.toString('utf8', from, from + (sizes[place] ?? 0)))
      })
      count = 0
      return keys
    },
    size: () => count,
  }
}

/** Without its names, which are the same for all. */
function textOf({ exchangeId, traceId, spanIds, requestId, method, tool, session, openedAtMs }: CallKey): string {
  const row: Row = [exchangeId, traceId, spanIds, requestId, method, tool, session, openedAtMs]
  return JSON.stringify(row)
}

type Row = readonly [string, string, readonly string[], string | null, string | null, string | null, string | null, number]

function keyOf(text: string): CallKey {
  const [exchangeId, traceId, spanIds, requestId, method, tool, session, openedAtMs] = JSON.parse(text) as Row
  return { exchangeId, traceId, spanIds, requestId, method, tool, session, openedAtMs }
}
