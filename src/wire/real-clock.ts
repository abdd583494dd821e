/** The process's clock: the one home of timers and of the time of day. */
import { assert } from '../core/assert.ts'
import type { Clock, Timer } from '../core/clock.ts'
import { createDueQueue } from '../core/due-queue.ts'

/** Node's timers hold 31 bits of milliseconds; a longer wait is taken in steps. */
const STEP_MAX_MS = 2 ** 31 - 1

let runs: ((of: never) => void)[] = []
let whose: unknown[] = []
let lastRuns: (() => void)[] = []
let isAsked = false

/** `run(of)` once, after all that is at hand was read and written, and before the loop waits for more; in the order asked. */
export function afterPoll<Of>(run: (of: Of) => void, of: Of): void {
  askForRun()
  runs.push(run)
  whose.push(of)
}

/** The same behind all that is asked of `afterPoll` until then, by which bytes are still sent. */
export function behindPoll(run: () => void): void {
  askForRun()
  lastRuns.push(run)
}

function askForRun(): void {
  if (!isAsked) setImmediate(runDue)
  isAsked = true
}

function runDue(): void {
  const [dueRuns, dueWhose] = [runs, whose]
  for (const run of lastRuns) dueRuns.push(run) // whose is nobody's
  isAsked = false
  runs = []
  whose = []
  lastRuns = []
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

const agenda = createDueQueue<() => void>()
let timer: NodeJS.Timeout | null = null
let timerAtMs = Infinity
let isRunning = false

/** One timer of Node's for all: it is moved when something is due sooner, and off when nothing is. */
function arm(): void {
  const firstMs = agenda.first()?.dueMs ?? Infinity
  if (firstMs === Infinity) {
    if (timer !== null) clearTimeout(timer)
    timer = null
    timerAtMs = Infinity
    return
  }
  if (firstMs >= timerAtMs) return
  if (timer !== null) clearTimeout(timer)
  timerAtMs = firstMs
  timer = setTimeout(onTimer, Math.min(Math.max(0, Math.ceil(firstMs - performance.now())), STEP_MAX_MS))
}

/** Node may fire up to a millisecond early by `performance.now`: a cut must not, and waits for another. */
function onTimer(): void {
  timer = null
  timerAtMs = Infinity
  runAgenda(performance.now())
  arm()
}

function runAgenda(nowMs: number): void {
  if (isRunning) return
  isRunning = true
  try {
    for (let due = agenda.first(); due !== null && due.dueMs <= nowMs; due = agenda.first()) {
      agenda.remove(due)
      due.item()
    }
  } finally {
    isRunning = false
    arm()
  }
}

/** One that is no number would stand before all others, and nothing would be due any more. */
function dueIn(delayMs: number): number {
  assert(!Number.isNaN(delayMs), 'a delay is a number')
  return performance.now() + Math.max(0, delayMs)
}

export const realClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => performance.timeOrigin + performance.now(),
  after(delayMs, run): Timer {
    const due = agenda.put(dueIn(delayMs), run)
    if (due.dueMs < timerAtMs && !isRunning) arm()
    return {
      cancel() {
        agenda.remove(due)
        if (agenda.size() === 0 && !isRunning) arm()
      },
      again(laterMs) {
        agenda.move(due, dueIn(laterMs))
        if (due.dueMs < timerAtMs && !isRunning) arm()
      },
    }
  },
  catchUp(nowMs) {
    if ((agenda.first()?.dueMs ?? Infinity) <= nowMs) runAgenda(nowMs)
  },
}
