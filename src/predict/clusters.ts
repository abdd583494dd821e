/** Closes that came after the same time: of a list of them, the largest group in which one of its times hardly varies. */
import type { ForeignClose } from './foreign-close.ts'

/** Which time it is that does not vary. */
export type Measure = 'silence' | 'total' | 'sinceHead'

export interface Cluster {
  readonly measure: Measure
  readonly members: readonly ForeignClose[]
  readonly medianMs: number
  /** The largest deviation from it. */
  readonly spreadMs: number
}

export const CLUSTER_MIN = 5
/** Fewer than this share of the closes is chance. */
const SHARE_MIN = 0.2

/** How far apart two times of the same limit may be. `jitterMs`: what timers and networks add, whatever the limit. */
export const toleranceMs = (ms: number, jitterMs: number): number => Math.min(Math.max(jitterMs, ms * 0.015), ms * 0.1)

/** The largest first; what belongs to none is not given. */
export function clustersOf(closes: readonly ForeignClose[], jitterMs: number): readonly Cluster[] {
  const clusters: Cluster[] = []
  let rest = closes
  for (;;) {
    const found = largest(rest, jitterMs)
    if (found === null || found.members.length < Math.max(CLUSTER_MIN, closes.length * SHARE_MIN)) return clusters
    clusters.push(found)
    const taken = new Set(found.members)
    rest = rest.filter((close) => !taken.has(close))
  }
}

/** Whether these times may be one limit's. */
export const isOneTime = (times: readonly number[], jitterMs: number): boolean => {
  const mostMs = Math.max(...times)
  return mostMs - Math.min(...times) <= 2 * toleranceMs(mostMs, jitterMs)
}

export const timeOf = (close: ForeignClose, measure: Measure): number | null =>
  measure === 'silence' ? close.silenceMs : measure === 'total' ? close.totalMs : close.sinceHeadMs

function largest(closes: readonly ForeignClose[], jitterMs: number): Cluster | null {
  let best: Cluster | null = null
  for (const measure of ['silence', 'total', 'sinceHead'] as const) {
    const found = densest(closes, measure, jitterMs)
    if (found === null || (measure === 'sinceHead' && hadHeadsAtOnce(found, jitterMs))) continue
    if (best === null || isBetter(found, best)) best = found
  }
  return best
}

/** Where the heads came with the requests the two times are one, and which varies less is chance. */
const hadHeadsAtOnce = ({ members }: Cluster, jitterMs: number): boolean =>
  members.every(({ totalMs, sinceHeadMs }) => sinceHeadMs !== null && totalMs - sinceHeadMs <= toleranceMs(totalMs, jitterMs))

/** More members; of as many, the one that varies less for its size. */
function isBetter(a: Cluster, b: Cluster): boolean {
  if (a.members.length !== b.members.length) return a.members.length > b.members.length
  return a.spreadMs / a.medianMs < b.spreadMs / b.medianMs
}

/** The window, two tolerances wide, that holds the most. */
function densest(closes: readonly ForeignClose[], measure: Measure, jitterMs: number): Cluster | null {
  const sorted = closes
    .flatMap((close) => {
      const ms = timeOf(close, measure)
      return ms === null || ms <= jitterMs ? [] : [{ close, ms }] // shorter ones all look alike
    })
    .sort((a, b) => a.ms - b.ms)
  let [from, to, start] = [0, 0, 0]
  for (let end = 0; end < sorted.length; end += 1) {
    const lastMs = sorted[end]?.ms ?? 0
    while (!isOneTime([sorted[start]?.ms ?? lastMs, lastMs], jitterMs)) start += 1
    if (end + 1 - start > to - from) [from, to] = [start, end + 1]
  }
  const window = sorted.slice(from, to)
  const medianMs = window[Math.floor(window.length / 2)]?.ms
  if (medianMs === undefined) return null
  const spreadMs = Math.max(...window.map(({ ms }) => Math.abs(ms - medianMs)))
  return { measure, members: window.map(({ close }) => close), medianMs, spreadMs }
}
