/** Which presets explain a cluster of closes, and which seem to and do not. */
import type { Cluster } from './clusters.ts'
import { isOneTime, toleranceMs } from './clusters.ts'
import type { ForeignClose } from './foreign-close.ts'
import type { KnownLimit } from './known-limits.ts'
import { isToldAtWrite } from './known-limits.ts'

export interface Evidence {
  readonly known: readonly KnownLimit[]
  readonly jitterMs: number
  /** The longest silence of a call that had its result; null: none had. */
  readonly survivedSilenceMs: number | null
}

/** Why a limit as near as this is not it. */
export type WhyNot = 'kind' | 'break' | 'untold' | 'drops' | 'side' | 'status'

export interface Explanation {
  /** What kinds of limit the times allow, the likeliest first. */
  readonly kinds: readonly KnownLimit['kind'][]
  /** In ms, as people set limits; null: not to be told apart from chance. */
  readonly limitMs: number
  readonly fits: readonly KnownLimit[]
  /** As near, but of another kind or manner. */
  readonly ruledOut: readonly { readonly limit: KnownLimit; readonly why: WhyNot }[]
  /** A call that was silent for longer and lived; null: none. */
  readonly survivedMs: number | null
}

export function explain(cluster: Cluster, { known, jitterMs, survivedSilenceMs }: Evidence): Explanation {
  const kinds = kindsOf(cluster, jitterMs)
  const near = known.filter((limit) => isNear(limit, cluster, jitterMs))
  const [first] = cluster.members
  const judged = near.map((limit) => ({ limit, why: first === undefined ? null : whyNot(limit, cluster, first, kinds, jitterMs) }))
  const fits = nearestOf(
    judged.flatMap(({ limit, why }) => (why === null ? [limit] : [])),
    cluster,
  )
  const limitMs = fits[0]?.ms ?? rounded(cluster.medianMs, jitterMs)
  const fitting = new Set(fits.map(({ preset }) => preset))
  const ruledOut = judged.flatMap(({ limit, why }) => (why === null || fitting.has(limit.preset) ? [] : [{ limit, why }]))
  const isContradicted =
    !kinds.includes('total') && survivedSilenceMs !== null && survivedSilenceMs > limitMs + toleranceMs(limitMs, jitterMs)
  return { kinds, limitMs, fits: unique(fits), ruledOut: uniqueOut(ruledOut), survivedMs: isContradicted ? survivedSilenceMs : null }
}

/** Something that drops in silence: its limit lies between the longest silence that lived and the shortest that did not. */
export function explainDrops(leastGapMs: number, { known, jitterMs, survivedSilenceMs }: Evidence): Explanation {
  const fromMs = survivedSilenceMs !== null && survivedSilenceMs < leastGapMs ? survivedSilenceMs : 0
  const within = known.filter(
    ({ kind, ms }) =>
      kind === 'idle' && ms >= fromMs - toleranceMs(fromMs, jitterMs) && ms <= leastGapMs + toleranceMs(leastGapMs, jitterMs),
  )
  const fits = within.filter(isToldAtWrite)
  const ruledOut = within.filter((limit) => !isToldAtWrite(limit)).map((limit) => ({ limit, why: 'drops' as const }))
  return { kinds: ['idle'], limitMs: leastGapMs, fits: unique(fits), ruledOut: uniqueOut(ruledOut), survivedMs: null }
}

/** Where all were silent since the request, a limit on the head, on silence or on the whole look alike. */
function kindsOf({ measure, members }: Cluster, jitterMs: number): readonly KnownLimit['kind'][] {
  const isSilent = ({ silenceMs, totalMs }: ForeignClose): boolean => totalMs - silenceMs <= toleranceMs(totalMs, jitterMs) / 2
  if (members.every(({ sinceHeadMs }) => sinceHeadMs === null)) return ['wait', 'idle', 'total']
  if (members.every(isSilent)) return ['idle', 'total']
  return measure === 'silence' ? ['idle'] : ['total']
}

/** A total told by a write is told that much later; silence told by one shows in drops, not here. */
function isNear(limit: KnownLimit, { medianMs, members }: Cluster, jitterMs: number): boolean {
  if (isToldAtWrite(limit) && limit.kind !== 'total') return false
  const offMs = medianMs - limit.ms
  const lateMs = isToldAtWrite(limit) ? 2 * medianOf(members.map(({ gapMs }) => gapMs ?? 0)) : 0
  const within = toleranceMs(limit.ms, jitterMs)
  return offMs >= -within && offMs <= within + lateMs
}

function whyNot(
  limit: KnownLimit,
  { measure, members }: Cluster,
  { side, form }: ForeignClose,
  kinds: Explanation['kinds'],
  jitterMs: number,
): WhyNot | null {
  if (!kinds.includes(limit.kind)) return 'kind'
  // Heads came at different times: a total from the request would show in totals that hardly vary as well.
  if (measure === 'sinceHead' && limit.kind === 'total' && !limit.isFromHead && !areTotalsOne(members, jitterMs)) return 'kind'
  if (form === 'cancel') return limit.isClient ? null : 'side'
  if (side === 'server') {
    if (limit.isClient) return 'side'
    return typeof form === 'number' && limit.status !== form ? 'status' : null
  }
  if (limit.tells === 'none') return 'untold'
  const breaks = new Set(members.map((close) => close.break))
  return typeof limit.tells === 'string' && !breaks.has(limit.tells) ? 'break' : null
}

const areTotalsOne = (members: readonly ForeignClose[], jitterMs: number): boolean =>
  isOneTime(
    members.map(({ totalMs }) => totalMs),
    jitterMs,
  )

/** Those as near as the nearest, as far as times that vary so much can tell. */
function nearestOf(limits: readonly KnownLimit[], { medianMs, spreadMs }: Cluster): readonly KnownLimit[] {
  const off = ({ ms }: KnownLimit): number => Math.abs(medianMs - ms)
  const slackMs = Math.max(medianMs * 0.01, spreadMs)
  const leastMs = Math.min(...limits.map(off))
  return limits.filter((limit) => off(limit) <= leastMs + slackMs || isToldAtWrite(limit)).sort((a, b) => off(a) - off(b))
}

/** To a number as people would set it, where one is within reach. */
function rounded(ms: number, jitterMs: number): number {
  for (const stepMs of [60_000, 10_000, 5_000, 1_000, 500, 100, 10]) {
    const near = Math.round(ms / stepMs) * stepMs
    if (near > 0 && Math.abs(near - ms) <= Math.min(toleranceMs(ms, jitterMs), stepMs / 4)) return near
  }
  return ms
}

const medianOf = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const unique = (limits: readonly KnownLimit[]): readonly KnownLimit[] =>
  limits.filter(({ preset }, index) => limits.findIndex((other) => other.preset === preset) === index)
/** One reason a preset; that it has another limit as long is the weakest. */
function uniqueOut(list: Explanation['ruledOut']): Explanation['ruledOut'] {
  const byWeight = [...list].sort((a, b) => Number(a.why === 'kind') - Number(b.why === 'kind'))
  return byWeight.filter(({ limit }, index) => byWeight.findIndex((other) => other.limit.preset === limit.preset) === index)
}
