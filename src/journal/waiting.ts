/** Calls that wait to be settled: one queue by deadline, one timer for all of it, and a bound. */
import type { Clock, Timer } from '../core/clock.ts'
import { createDueQueue } from './due-queue.ts'
import type { Entry } from './entry.ts'

interface Waiter {
  readonly entry: Entry
  readonly index: number
  readonly dueMs: number
}

export interface Waiting {
  /** Waits until `dueMs`; replaces what the call waited for before. */
  put(entry: Entry, index: number, dueMs: number): void
  /** It waits no more. */
  remove(entry: Entry, index: number): void
  /** How many wait. */
  count(): number
  /** Everybody who waits, earliest first; nobody waits afterwards, and the timer is off. */
  takeAll(): readonly Pick<Waiter, 'entry' | 'index'>[]
}

export interface WaitingAsked {
  readonly clock: Clock
  readonly pendingMax: number
  /** Its time has come. */
  due(entry: Entry, index: number): void
  /** More wait than may: the one due next has to go. */
  crowdedOut(entry: Entry, index: number): void
}

export function createWaiting({ clock, pendingMax, due, crowdedOut }: WaitingAsked): Waiting {
  const queue = createDueQueue<Waiter>()
  let count = 0
  let timer: Timer | null = null
  let timerAtMs = Infinity

  // A replaced or removed waiter stays in the queue until its turn, and is then passed over.
  const isCurrent = ({ entry, index, dueMs }: Waiter): boolean => entry.dueMs[index] === dueMs

  function remove(entry: Entry, index: number): void {
    if ((entry.dueMs[index] ?? null) === null) return
    entry.dueMs[index] = null
    count -= 1
  }

  function takeNext(): Waiter | null {
    for (let waiter = queue.take(); waiter !== null; waiter = queue.take()) {
      if (!isCurrent(waiter)) continue
      remove(waiter.entry, waiter.index)
      return waiter
    }
    return null
  }

  function arm(): void {
    const nextMs = queue.nextMs() ?? Infinity
    if (nextMs >= timerAtMs) return
    timer?.cancel()
    timerAtMs = nextMs
    timer = clock.after(Math.max(0, nextMs - clock.nowMs()), () => {
      timerAtMs = Infinity
      while ((queue.nextMs() ?? Infinity) <= clock.nowMs()) {
        const waiter = takeNext()
        if (waiter !== null) due(waiter.entry, waiter.index)
      }
      arm()
    })
  }

  return {
    put(entry, index, dueMs) {
      if (entry.dueMs[index] === dueMs) return
      remove(entry, index)
      entry.dueMs[index] = dueMs
      count += 1
      queue.put(dueMs, { entry, index, dueMs })
      if (count > pendingMax) {
        const first = takeNext()
        if (first !== null) crowdedOut(first.entry, first.index)
      }
      arm()
    },
    remove,
    count: () => count,
    takeAll() {
      timer?.cancel()
      timerAtMs = Infinity
      const all: Waiter[] = []
      for (let waiter = takeNext(); waiter !== null; waiter = takeNext()) all.push(waiter)
      return all
    },
  }
}
