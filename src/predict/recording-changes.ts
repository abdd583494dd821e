/** What would have been: the same call with its headers flushed at once, with progress told, or going on to its end. */
import { complete, end } from '../core/signal.ts'
import type { Recording, Step } from './recording.ts'
import { progressPiece, resultPiece } from './recording.ts'

const EVENT_STREAM: Step['signal'] = { is: 'head', status: 200, reason: '', rawHeaders: ['content-type', 'text/event-stream'] }
/** Inserted at most; beyond, the rest stays as it was recorded. */
const PROGRESS_MAX = 20_000

/** Silent since its last word, it answers at `atMs`. */
export function withEnd(recording: Recording, atMs: number): Recording {
  const hasHead = recording.steps.some(({ signal }) => signal.is === 'head')
  const last: readonly Step[] = [
    ...(hasHead ? [] : [{ atMs, signal: EVENT_STREAM }]),
    { atMs, signal: resultPiece() },
    { atMs, signal: end(complete) },
  ]
  return { ...recording, steps: [...recording.steps, ...last], knownUntilMs: Infinity }
}

/** Its head goes out as soon as it is asked; an answer that was JSON is an event stream then. */
export function withHeadersFlushed(recording: Recording): Recording {
  const head = recording.steps.find(({ signal }) => signal.is === 'head')
  const isStream = head?.signal.is === 'head' && head.signal.rawHeaders.includes('text/event-stream')
  const flushed: Step = { atMs: recording.askedMs, signal: isStream ? head.signal : EVENT_STREAM }
  return { ...recording, steps: [flushed, ...recording.steps.filter((step) => step !== head)] }
}

/** A progress event so long after each last word of the server, once its head is out. */
export function withProgress(recording: Recording, everyMs: number): Recording {
  const steps: Step[] = []
  let lastMs: number | null = null
  let inserted = 0
  const fill = (untilMs: number): void => {
    for (; lastMs !== null && lastMs + everyMs < untilMs && inserted < PROGRESS_MAX; inserted += 1) {
      lastMs += everyMs
      steps.push({ atMs: lastMs, signal: progressPiece() })
    }
  }
  for (const step of recording.steps) {
    fill(step.atMs)
    steps.push(step)
    lastMs = Math.max(step.atMs, recording.askedMs)
  }
  if (recording.knownUntilMs !== Infinity) fill(recording.knownUntilMs + 1)
  return { ...recording, steps }
}

/** With the header that asks hops not to hold the answer back. */
export function withoutBuffering(recording: Recording, header: string): Recording {
  const steps = recording.steps.map((step): Step => {
    const { signal } = step
    return signal.is === 'head' ? { ...step, signal: { ...signal, rawHeaders: [...signal.rawHeaders, header, 'no'] } } : step
  })
  return { ...recording, steps }
}

/** Ms, and the request's bytes. */
export interface Longest {
  readonly headers: number
  readonly idle: number
  readonly total: number
  /** How long the request took to arrive. */
  readonly ask: number
  readonly requestBytes: number
}

/** The longest wait of each kind, from the request's last byte; null: not known, for the recording ends before the answer does. */
export function longestOf({ askedMs, steps, requestBytes, knownUntilMs }: Recording): Longest | null {
  if (knownUntilMs !== Infinity) return null
  let idle = 0
  let lastMs = askedMs
  for (const { atMs } of steps) {
    idle = Math.max(idle, atMs - lastMs)
    lastMs = Math.max(atMs, askedMs)
  }
  const headMs = steps.find(({ signal }) => signal.is === 'head')?.atMs ?? lastMs
  return { headers: Math.max(0, headMs - askedMs), idle, total: lastMs - askedMs, ask: askedMs, requestBytes }
}
