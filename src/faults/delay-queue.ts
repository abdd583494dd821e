/** Lets signals through in order, each not before its time; a full queue holds whoever fills it. */
import type { Ask, Reply } from '../core/signal.ts'
import { createFifo, kept } from './fifo.ts'

/** One direction of a seat's `out`. */
export interface Road<Signal> {
  send(signal: Signal): void
  /** Holds the side that fills the queue. */
  hold(isHeld: boolean): void
  wakeAt(atMs: number | null): void
}

export interface DelayQueue<Signal> {
  /** It goes at `dueMs`, or behind what was pushed earlier. */
  push(signal: Signal, dueMs: number, atMs: number): void
  passDue(atMs: number): void
  flush(): void
  /** Forgets what waits. */
  clear(): void
  isEmpty(): boolean
  heldBytes(): number
}

export function createDelayQueue<Signal extends Reply | Ask>(road: Road<Signal>): DelayQueue<Signal> {
  const queue = createFifo<{ readonly signal: Signal; readonly dueMs: number }>()
  let isHolding = false

  function holdIfFull(): void {
    if (queue.isFull() === isHolding) return
    isHolding = !isHolding
    road.hold(isHolding)
  }
  function passDue(atMs: number): void {
    for (let first = queue.first(); first !== undefined && first.dueMs <= atMs; first = queue.first()) {
      queue.shift()
      road.send(first.signal)
    }
    road.wakeAt(queue.first()?.dueMs ?? null)
    holdIfFull()
  }
  return {
    push(signal, dueMs, atMs) {
      if (queue.isEmpty() && dueMs <= atMs) return road.send(signal)
      if (queue.isEmpty()) road.wakeAt(dueMs)
      queue.push({ signal: kept(signal), dueMs })
      holdIfFull()
    },
    passDue,
    flush: () => passDue(Infinity),
    clear() {
      queue.clear()
      road.wakeAt(null)
      holdIfFull()
    },
    isEmpty: queue.isEmpty,
    heldBytes: queue.bytes,
  }
}
