/** Verdicts in words, for tables and messages. */
import { assertNever } from '../core/assert.ts'
import type { CauseKind } from '../core/signal.ts'
import { formatDuration, formatSize } from '../core/units.ts'
import type { RaisedLimit, Remedy } from './remedy.ts'
import type { Seen } from './replay.ts'

/** `60.0 s`. */
export const secondsInWords = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

export function causeInWords(cause: CauseKind): string {
  switch (cause) {
    case 'header_timeout':
      return 'headers'
    case 'idle_timeout':
      return 'idle'
    case 'max_duration':
      return 'total'
    case 'limit':
      return 'request size'
    default:
      return cause
  }
}

/** `504`, `200, 2 events, then cut off`, `a bare close`. `isSummed`: of many calls, whose events differ. */
export function seenInWords({ status, by, ending, events }: Seen, isSummed = false): string {
  if (ending === 'silent') return 'nothing: dropped without a word'
  if (status === null) return 'a bare close'
  if (by === 'hop') return String(status)
  const got = isSummed ? String(status) : `${status}, ${events} event${events === 1 ? '' : 's'}`
  if (ending === 'clean') return `${got}, then a clean end`
  return ending === 'rst' ? `${got}, then a reset` : `${got}, then cut off`
}

export function remedyInWords(remedy: Remedy): string {
  switch (remedy.is) {
    case 'server':
      return serverInWords(remedy)
    case 'limits':
      return remedy.raised.map(limitInWords).join(', ')
    case 'task':
      return 'answer with a task'
    default:
      return assertNever(remedy)
  }
}

function serverInWords({ isFlushed, everyMs, unbuffered }: Extract<Remedy, { is: 'server' }>): string {
  const parts = [
    ...(isFlushed ? ['headers flushed at once'] : []),
    ...(unbuffered === null ? [] : [`${unbuffered}: no`]),
    ...(everyMs === null ? [] : [`a progress event every ${formatDuration(everyMs)}`]),
  ]
  return parts.join(', ')
}

const limitInWords = ({ hop, limit, to }: RaisedLimit): string =>
  limit === 'bodyMax' ? `${hop} request.bodyMax to ${formatSize(to)}` : `${hop} ${limit} to ${formatDuration(to)}`
