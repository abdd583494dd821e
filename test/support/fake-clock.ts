/** Time as a number that only a test moves. */
import type { Clock, Timer } from '../../src/core/clock.ts'

export interface FakeClock extends Clock {
  /** Moves time forward, running every task that falls due, in order of due time. */
  advance(ms: number): void
  /** How many timers are armed. */
  armed(): number
}

/** 2026-11-29T10:00:00.000Z */
export const WALL_START_MS = 1_795_946_400_000

export function fakeClock({ startMs = 0, wallStartMs = WALL_START_MS } = {}): FakeClock {
  let nowMs = startMs
  const tasks = new Set<{ dueMs: number; run: () => void }>()
  const nextUntil = (endMs: number) =>
    [...tasks]
      .filter(({ dueMs }) => dueMs <= endMs)
      .reduce<{ dueMs: number; run: () => void } | null>((a, b) => (a !== null && a.dueMs <= b.dueMs ? a : b), null)
  return {
    nowMs: () => nowMs,
    wallMs: () => wallStartMs + (nowMs - startMs),
    catchUp: () => undefined, // what is due runs at its time
    after(delayMs, run): Timer {
      const task = { dueMs: nowMs + Math.max(0, delayMs), run }
      tasks.add(task)
      return {
        cancel: () => tasks.delete(task),
        again(laterMs) {
          tasks.delete(task)
          task.dueMs = nowMs + Math.max(0, laterMs)
          tasks.add(task)
        },
      }
    },
    advance(ms) {
      const endMs = nowMs + ms
      for (let next = nextUntil(endMs); next !== null; next = nextUntil(endMs)) {
        tasks.delete(next)
        nowMs = next.dueMs
        next.run()
      }
      nowMs = endMs
    },
    armed: () => tasks.size,
  }
}
