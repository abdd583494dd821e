/** The process's clock: the one home of timers and of the time of day. */
import type { Clock, Timer } from '../core/clock.ts'

/** Node's timers hold 31 bits of milliseconds; a longer wait is taken in steps. */
const STEP_MAX_MS = 2 ** 31 - 1

let runs: ((of: never) => void)[] = []
let whose: unknown[] = []

/** `run(of)` once, after all that is at hand was read and written, and before the loop waits for more; in the order asked. */
export function afterPoll<Of>(run: (of: Of) => void, of: Of): void {
  if (runs.length === 0) setImmediate(runDue)
  runs.push(run)
  whose.push(of)
}

function runDue(): void {
  const [dueRuns, dueWhose] = [runs, whose]
  runs = []
  whose = []
  let ran = 0
  try {
    while (ran < dueRuns.length) {
      ran += 1
      dueRuns[ran - 1]?.(dueWhose[ran - 1] as never)
    }
  } finally {
    for (let at = ran; at < dueRuns.length; at += 1) afterPoll(dueRuns[at] ?? ignore, dueWhose[at] as never) // one that throws takes no other with it
  }
}

const ignore = (): void => undefined

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
