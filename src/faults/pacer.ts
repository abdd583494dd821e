/** Lets bytes through in parts, each so long before or after the last; a full queue holds whoever fills it. */
import type { Ask, Piece, Reply } from '../core/signal.ts'
import type { Road } from './delay-queue.ts'
import { createFifo, kept } from './fifo.ts'

export interface Pace {
  readonly partBytes: number
  /** How long a part of so many bytes takes to go out … */
  beforeMs(bytes: number): number
  /** … and how long nothing follows it. */
  readonly afterMs: number
}

export interface Pacer<Signal> {
  push(signal: Signal, atMs: number): void
  passDue(atMs: number): void
  flush(): void
  clear(): void
  heldBytes(): number
}

export function createPacer<Signal extends Reply | Ask>(road: Road<Signal>, { partBytes, beforeMs, afterMs }: Pace): Pacer<Signal> {
  const queue = createFifo<{ readonly signal: Signal }>()
  let freeMs = 0 // nothing leaves before
  let dueMs: number | null = null // when the part at the head of the queue leaves
  let isHolding = false

  function holdIfFull(): void {
    if (queue.isFull() === isHolding) return
    isHolding = !isHolding
    road.hold(isHolding)
  }
  const partOf = (piece: Piece): number => Math.min(partBytes, piece.bytes.length)

  function sendPart(piece: Signal & Piece): void {
    const bytes = partOf(piece)
    if (bytes === piece.bytes.length) {
      queue.shift()
      return road.send(piece)
    }
    queue.shrinkFirst({ signal: { ...piece, bytes: piece.bytes.subarray(bytes) } })
    road.send({ ...piece, bytes: piece.bytes.subarray(0, bytes), mark: null })
  }
  /** Sends what is due; the rest waits for its time. */
  function passDue(atMs: number): void {
    for (let first = queue.first(); first !== undefined; first = queue.first()) {
      const { signal } = first
      if (signal.is !== 'piece') {
        queue.shift()
        road.send(signal)
        continue
      }
      const leavesMs: number = dueMs ?? Math.max(atMs, freeMs) + beforeMs(partOf(signal))
      dueMs = leavesMs
      if (leavesMs > atMs) break
      sendPart(signal as Signal & Piece)
      dueMs = null
      freeMs = leavesMs + afterMs
    }
    road.wakeAt(dueMs)
    holdIfFull()
  }
  return {
    push(signal, atMs) {
      const isFirst = queue.isEmpty()
      queue.push({ signal: kept(signal) })
      if (isFirst) passDue(atMs)
      else holdIfFull()
    },
    passDue,
    flush() {
      for (let first = queue.shift(); first !== undefined; first = queue.shift()) road.send(first.signal)
      dueMs = null
      road.wakeAt(null)
      holdIfFull()
    },
    clear() {
      queue.clear()
      dueMs = null
      road.wakeAt(null)
      holdIfFull()
    },
    heldBytes: queue.bytes,
  }
}
