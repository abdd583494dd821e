/** A record of a recorded trace in one line, and which of them have something to tell. */
import type { CallRecord } from '../../src/core/record.ts'

/** Answered in good order, and nothing to say about it. */
const isPlain = ({ kind, result, violations, notices, retryOf, work, cause }: CallRecord): boolean =>
  violations.length === 0 &&
  notices.length === 0 &&
  retryOf === null &&
  work.outcome !== 'delegated' &&
  (kind === 'call' || kind === 'subscription' ? result === 'sent' : cause === 'complete' || cause === null)

/** `c4 tools/call sse 200 server_close · none, given up by close · retry of c3 · ! violation · ? notice`. */
export function inWords(record: CallRecord): string {
  const { id, method, kind, answer, status, cause, result, abandonedBy, retryOf, violations, notices, work } = record
  const words = [`${id} ${method ?? kind} ${answer} ${status ?? '-'} ${cause ?? 'open'}`]
  if (kind === 'call' || kind === 'subscription') words.push(abandonedBy === null ? result : `${result}, given up by ${abandonedBy}`)
  if (work.outcome === 'delegated') words.push('delegated')
  if (retryOf !== null) words.push(`after ${retryOf}`)
  for (const violation of violations) words.push(`! ${violation}`)
  for (const notice of notices) words.push(`? ${notice}`)
  return words.join(' · ')
}

export const oddOnes = (records: readonly CallRecord[]): readonly string[] => records.filter((record) => !isPlain(record)).map(inWords)
