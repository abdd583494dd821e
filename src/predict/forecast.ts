/** All recorded calls against all paths, one verdict after the other; nothing is kept but the sums. */
import type { CallRecord } from '../core/record.ts'
import type { Candidate } from './candidate.ts'
import type { Prediction } from './predict.ts'
import { createPredictor } from './predict.ts'
import { recordingOf } from './recording.ts'
import type { Tally } from './tally.ts'
import { createTallying } from './tally.ts'

export interface ForecastPorts {
  /** Every verdict, call by call. */
  take?(prediction: Prediction): void
  /** After each call. */
  progress?(calls: number): void
}

/** The calls that say something of a path: JSON-RPC requests that were asked of the server. */
export const callsAmong = (records: readonly CallRecord[]): readonly CallRecord[] =>
  records.filter(({ kind, requestId, timeline }) => kind === 'call' && requestId !== null && timeline.length > 0)

/** In the order of the candidates. */
export function forecast(calls: readonly CallRecord[], candidates: readonly Candidate[], ports: ForecastPorts = {}): readonly Tally[] {
  const tallyings = candidates.map((candidate) => ({ candidate, tallying: createTallying(candidate.name) }))
  for (const [index, record] of calls.entries()) {
    const predict = createPredictor(recordingOf(record))
    for (const { candidate, tallying } of tallyings) {
      const prediction = predict(candidate)
      tallying.take(prediction)
      ports.take?.(prediction)
    }
    ports.progress?.(index + 1)
  }
  return tallyings.map(({ tallying }) => tallying.tally())
}
