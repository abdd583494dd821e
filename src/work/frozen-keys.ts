/**
 * Keys of settled calls that nobody has asked about: kept in bytes that no collection looks at. As objects ten thousand of them
 * would outlive every collection of the young, each be moved twice, and lie about when they are gone until the next full collection.
 */
import type { Rows } from '../journal/rows.ts'
import { beginRow, createRows, endRow, getNumber, getText, putNumber, putText, readRow } from '../journal/rows.ts'
import type { CallKey } from './call-index.ts'

export interface FrozenKeys {
  /** False: it is too long, or no row can hold what it says, and it is not kept. The oldest goes where there is no room. */
  put(key: CallKey): boolean
  dropOldest(): void
  /** All, the oldest first; none is left. */
  takeAll(): readonly CallKey[]
  size(): number
}

/** Nearly all fit. */
const TEXT_BYTES = 384

export function createFrozenKeys(keysMax: number): FrozenKeys {
  const places = keysMax + 1 // the oldest goes only when the one that takes its room is there
  const rows = createRows({ rows: places, numbers: 1, words: 0, textBytes: TEXT_BYTES })
  let first = 0
  let count = 0

  function dropOldest(): void {
    if (count === 0) return
    first = (first + 1) % places
    count -= 1
  }

  return {
    put(key) {
      if (!putKey(rows, (first + count) % places, key)) return false
      count += 1
      if (count > keysMax) dropOldest()
      return true
    },
    dropOldest,
    takeAll() {
      const keys = Array.from({ length: count }, (_, at) => keyIn(rows, (first + at) % places))
      count = 0
      return keys
    },
    size: () => count,
  }
}

function putKey(rows: Rows, row: number, key: CallKey): boolean {
  beginRow(rows, row)
  putNumber(rows, key.openedAtMs)
  putText(rows, key.exchangeId)
  putText(rows, key.traceId)
  putText(rows, key.requestId)
  putText(rows, key.method)
  putText(rows, key.tool)
  putText(rows, key.session)
  for (const spanId of key.spanIds) putText(rows, spanId)
  return endRow(rows)
}

function keyIn(rows: Rows, row: number): CallKey {
  readRow(rows, row)
  const openedAtMs = getNumber(rows) ?? 0
  const exchangeId = getText(rows) ?? ''
  const traceId = getText(rows) ?? ''
  const [requestId, method, tool, session] = [nextIn(rows), nextIn(rows), nextIn(rows), nextIn(rows)]
  const spanIds: string[] = []
  for (let spanId = getText(rows); spanId != null; spanId = getText(rows)) spanIds.push(spanId)
  return { exchangeId, traceId, spanIds, requestId, method, tool, session, openedAtMs }
}

const nextIn = (rows: Rows): string | null => getText(rows) ?? null
