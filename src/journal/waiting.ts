/** Calls that wait to be settled: one queue by deadline, one timer for all of it, and a bound. */
import type { Clock, Timer } from '../core/clock.ts'
import { createDueQueue } from '../core/due-queue.ts'
import type { Entry, Waiter } from './entry.ts'

export interface Waiting {
  /** Waits until `dueMs`; replaces what the call waited for before. */
  put(entry: Entry, index: number, dueMs: number): void
  /** It waits no more. */
  remove(entry: Entry, index: number): void
  /** How many wait. */
  count(): number
  /** Nobody waits any more, and the timer is off. */
  clear(): void
}

export interface WaitingAsked {
  readonly clock: Clock
  readonly pendingMax: number
  /** Its time has come. */
  due(waiter: Waiter): void
  /** More wait than may: the one due next has to go. */
  crowdedOut(waiter: Waiter): void
}

/** So many in one go: thousands that were left in one moment fall due in one, and a cut must not wait for all of them. */
const DUE_MAX = 100

export function createWaiting({ clock, pendingMax, due, crowdedOut }: WaitingAsked): Waiting {
  const queue = createDueQueue<Waiter>()
  let timer: Timer | null = null
  let timerAtMs = Infinity

  function remove(entry: Entry, index: number): void {
    const wait = entry.waits?.[index]
    if (wait === undefined || entry.waits === null) return
    entry.waits[index] = undefined
    queue.remove(wait)
  }

  function takeFirst(): Waiter | null {
    const waiter = queue.first()?.item ?? null
    if (waiter !== null) remove(waiter.entry, waiter.index)
    return waiter
  }

  /** Never later than the first is due; a timer too early, for a call that waits no more, just arms the next. */
  function arm(): void {
    const firstMs = queue.first()?.dueMs ?? Infinity
    if (firstMs >= timerAtMs) return
    timer?.cancel()
    timerAtMs = firstMs
    timer = clock.after(Math.max(0, firstMs - clock.nowMs()), () => {
      timerAtMs = Infinity
      for (let left = DUE_MAX; left > 0 && (queue.first()?.dueMs ?? Infinity) <= clock.nowMs(); left -= 1) {
        const waiter = takeFirst()
        if (waiter !== null) due(waiter)
      }
      arm()
    })
  }

  return {
    put(entry, index, dueMs) {
      if (entry.waits?.[index]?.dueMs === dueMs) return
      remove(entry, index)
      const due = queue.put(dueMs, { entry, index })
      if (entry.waits !== null) entry.waits[index] = due
      else if (index === 0)
        entry.waits = [due] // an empty array that is given its first makes room for sixteen more
      else entry.waits = entry.view.calls.map((_, call) => (call === index ? due : undefined))
      if (queue.size() > pendingMax) {
        const waiter = takeFirst()
        if (waiter !== null) crowdedOut(waiter)
      }
      arm()
    },
    remove,
    count: queue.size,
    clear() {
      timer?.cancel()
      timerAtMs = Infinity
      for (let waiter = takeFirst(); waiter !== null; waiter = takeFirst());
    },
  }
}
