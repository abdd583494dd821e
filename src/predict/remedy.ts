/** The cheapest way to save a call from a cut, tried out on its recording: what is offered is known to help. */
import { assertNever } from '../core/assert.ts'
import type { CauseKind } from '../core/signal.ts'
import type { Hop } from '../hops/hop.ts'
import type { Candidate } from './candidate.ts'
import { candidateOf } from './candidate.ts'
import type { Recording } from './recording.ts'
import { longestOf, withHeadersFlushed, withoutBuffering, withProgress } from './recording-changes.ts'
import type { Replay } from './replay.ts'
import { replay } from './replay.ts'

export interface RaisedLimit {
  readonly hop: string
  readonly limit: 'headers' | 'idle' | 'total' | 'bodyMax'
  /** Ms; bytes of `bodyMax`. */
  readonly to: number
}

export type Remedy =
  /** The server sends its headers at once, and where `everyMs` is set a progress event that often. `unbuffered`: and this header with the value `no`. */
  | { readonly is: 'server'; readonly isFlushed: boolean; readonly everyMs: number | null; readonly unbuffered: string | null }
  /** These limits are raised. */
  | { readonly is: 'limits'; readonly raised: readonly RaisedLimit[] }
  /** Nothing else helps, or nothing reasonable: the answer is a task, whose result is fetched later. */
  | { readonly is: 'task' }

/** A limit higher than this is no remedy but a leak. */
const LIMIT_MAX_MS = 3_600_000

export function remedyFor(recording: Recording, candidate: Candidate, cut: Replay): Remedy {
  return serversRemedy(recording, candidate, cut) ?? raisedLimits(recording, candidate, cut) ?? { is: 'task' }
}

/** What the server alone can do, the least first. */
function serversRemedy(recording: Recording, candidate: Candidate, { closed, seen }: Replay): Remedy | null {
  const kind = closed?.cause.kind
  if (kind !== 'header_timeout' && kind !== 'idle_timeout') return null
  const isBeforeHead = seen.by !== 'server'
  const silences = candidate.hops.flatMap(({ idle }) => (idle === undefined ? [] : [idle.afterMs]))
  const everyMs = silences.length === 0 ? null : halfOf(Math.min(...silences))
  const header = candidate.hops.flatMap(({ buffering }) => buffering?.honours ?? [])[0] ?? null
  const isStream = recording.steps.some(({ signal }) => signal.is === 'head' && signal.rawHeaders.includes('text/event-stream'))
  // In a JSON answer there is no room for progress: it has to become a stream.
  const flushes = isBeforeHead || !isStream ? [true] : [false, true]
  for (const unbuffered of header === null ? [null] : [null, header]) {
    for (const isFlushed of flushes) {
      for (const every of everyMs === null ? [null] : [null, everyMs]) {
        if (!isFlushed && every === null && unbuffered === null) continue
        if (helps(changed(recording, { isFlushed, everyMs: every, unbuffered }), candidate))
          return { is: 'server', isFlushed, everyMs: every, unbuffered }
      }
    }
  }
  return null
}

function changed(recording: Recording, by: { isFlushed: boolean; everyMs: number | null; unbuffered: string | null }): Recording {
  const flushed = by.isFlushed ? withHeadersFlushed(recording) : recording
  const told = by.everyMs === null ? flushed : withProgress(flushed, by.everyMs)
  return by.unbuffered === null ? told : withoutBuffering(told, by.unbuffered)
}

function helps(recording: Recording, { plans }: Pick<Candidate, 'plans'>): boolean {
  const { closed } = replay(recording, plans)
  return closed === null || closed.cause.hop === undefined
}

/** Limits raised one after the other, until none cuts; null: how far is not known, or too far. */
function raisedLimits(recording: Recording, candidate: Candidate, cut: Replay): Remedy | null {
  const longest = longestOf(recording)
  let hops = candidate.hops
  let again = cut
  const raised: RaisedLimit[] = []
  for (let tries = 0; tries < 3 * candidate.hops.length + 1; tries += 1) {
    const cause = again.closed?.cause
    if (cause?.hop === undefined) return { is: 'limits', raised }
    const limit = limitOf(
      cause.kind,
      hops.find(({ name }) => name === cause.seat),
    )
    if (limit === null) return null
    if (limit !== 'bodyMax' && longest === null) return null
    const to = limit === 'bodyMax' ? recording.requestBytes : roomyMs(longest?.[limit] ?? 0)
    if (limit !== 'bodyMax' && to > LIMIT_MAX_MS) return null
    raised.push({ hop: cause.hop, limit, to })
    hops = hops.map((hop) => (hop.name === cause.seat ? withLimit(hop, limit, to) : hop))
    again = replay(recording, candidateOf('', hops).plans)
  }
  return null
}

/** Which field of the hop made this cut: where it has no `headers`, its idle covers the wait. */
function limitOf(kind: CauseKind, hop: Hop | undefined): RaisedLimit['limit'] | null {
  if (hop === undefined) return null
  if (kind === 'header_timeout') return 'headers'
  if (kind === 'idle_timeout') return 'idle'
  if (kind === 'max_duration') return 'total'
  return kind === 'limit' ? 'bodyMax' : null
}

function withLimit(hop: Hop, limit: RaisedLimit['limit'], to: number): Hop {
  switch (limit) {
    case 'headers':
      return hop.headers === undefined || hop.headers === 'none' ? hop : { ...hop, headers: { ...hop.headers, afterMs: to } }
    case 'idle':
      return hop.idle === undefined ? hop : { ...hop, idle: { ...hop.idle, afterMs: to } }
    case 'total':
      return hop.total === undefined ? hop : { ...hop, total: { ...hop.total, afterMs: to } }
    case 'bodyMax':
      return hop.request === undefined ? hop : { ...hop, request: { ...hop.request, bodyMaxBytes: to } }
    default:
      return assertNever(limit)
  }
}

const ROUND_MS = [
  1, 1.5, 2, 3, 4.5, 5, 6, 9, 10, 12, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 450, 600, 900, 1_200, 1_800, 2_700, 3_600,
].map((seconds) => seconds * 1_000)

/** Twice within the limit, in a number people would write. */
function halfOf(limitMs: number): number {
  const half = limitMs / 2
  return ROUND_MS.findLast((ms) => ms <= half) ?? Math.max(1, Math.floor(half))
}

/** A fifth more than what was needed, in a number people would write. */
function roomyMs(neededMs: number): number {
  const roomy = neededMs * 1.2
  return ROUND_MS.find((ms) => ms >= roomy) ?? Math.ceil(roomy / 3_600_000) * 3_600_000
}
