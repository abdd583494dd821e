/** The figures that expectations are about, added up from settled calls. */
import type { CallRecord } from '../core/record.ts'

export interface Samples {
  /** Milliseconds. */
  readonly samples: number[]
  /** Calls that should have given one, and whose work nobody reported. */
  unknown: number
}

/** Of `tools/call` only, violations excepted. */
export interface Measures {
  calls: number
  /** A sample per call that was abandoned without its result: how long work went on past that, 0 within the grace. */
  readonly orphan: Samples
  /** A sample per call whose server was told: how long until its work ended. */
  readonly cancelToStop: Samples
  undelivered: number
  duplicates: number
  unobserved: number
  violations: number
  /** Samples beyond what is kept. */
  left: number
}

/** What settling a call gives; the rest of a settlement is of no matter here. */
export interface SettledCall {
  readonly record: CallRecord
  readonly isToolCall: boolean
  readonly orphanMs: number
  /** It was issued again while the server still worked on it, or had done so. */
  readonly isDuplicate: boolean
}

const SAMPLES_MAX = 100_000

export const noMeasures = (): Measures => ({
  calls: 0,
  orphan: { samples: [], unknown: 0 },
  cancelToStop: { samples: [], unknown: 0 },
  undelivered: 0,
  duplicates: 0,
  unobserved: 0,
  violations: 0,
  left: 0,
})

/** Adds one settled call. */
export function addCall(measures: Measures, { record, isToolCall, isDuplicate, orphanMs }: SettledCall): void {
  measures.violations += record.violations.length
  if (!isToolCall) return
  const { work, abandonedMs, toldMs } = record
  const isUnobserved = work.outcome === 'unobserved'
  measures.calls += 1
  if (record.result === 'seen') measures.undelivered += 1
  if (isDuplicate) measures.duplicates += 1
  if (isUnobserved) measures.unobserved += 1
  if (abandonedMs === null) return
  if (isUnobserved) measures.orphan.unknown += 1
  else add(measures, measures.orphan, orphanMs)
  if (toldMs === null || (work.endedMs !== null && work.endedMs < toldMs)) return
  // One that did not stop is the slowest of all: leaving it out would flatter the figure.
  if (work.endedMs === null) measures.cancelToStop.unknown += isUnobserved ? 1 : 0
  else add(measures, measures.cancelToStop, work.endedMs - toldMs)
}

function add(measures: Measures, { samples }: Samples, ms: number): void {
  if (samples.length < SAMPLES_MAX) samples.push(ms)
  else measures.left += 1
}
