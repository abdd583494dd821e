/** The process's clock: the one home of timers and of the time of day. */
import type { Clock, Timer } from '../core/clock.ts'

/** Node's timers hold 31 bits of milliseconds; a longer wait is taken in steps. */
const STEP_MAX_MS = 2 ** 31 - 1

let due: (() => void)[] = []

/** Once, after all that is at hand was read and written, and before the loop waits for more; in the order asked. */
export function afterPoll(run: () => void): void {
  if (due.length === 0) setImmediate(runDue)
  due.push(run)
}

function runDue(): void {
  const runs = due
  due = []
  let ran = 0
  try {
    for (const run of runs) {
      ran += 1
      run()
    }
  } finally {
    for (const run of runs.slice(ran)) afterPoll(run) // one that throws takes no other with it
  }
}

export const realClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => performance.timeOrigin + performance.now(),
  after(delayMs, run): Timer {
    const dueMs = performance.now() + delayMs
    let timer: NodeJS.Timeout | null = null
    // Node may fire up to a millisecond early by `performance.now`: a cut must not.
    const arm = (): void => {
      const leftMs = dueMs - performance.now()
      if (leftMs <= 0) run()
      else timer = setTimeout(arm, Math.min(Math.ceil(leftMs), STEP_MAX_MS))
    }
    timer = setTimeout(arm, Math.min(Math.max(0, Math.ceil(delayMs)), STEP_MAX_MS))
    return {
      cancel: () => {
        if (timer !== null) clearTimeout(timer)
      },
    }
  },
}
