/**
 * Which call a span is about: it climbs from parent to parent, over links too, to a span a call is known by. Pure.
 *
 * Spans come when they end, so children come before their parents: who misses an ancestor waits for it, a bounded time.
 * The nearest known span decides. Between a span and its call others may stand: those that count as work pass their
 * call on to their descendants, the others (an HTTP server's span) only link.
 */
import type { CallIndex, CallKey, Claim } from './call-index.ts'
import { createCallIndex } from './call-index.ts'
import type { SpanLink } from './span.ts'

/** What is climbed from: a span, or a probe's message (which has no span of its own). */
export interface SpanReport extends Claim {
  readonly traceId: string
  readonly spanId: string | null
  /** The parent first, then the links. */
  readonly parents: readonly SpanLink[]
  /** Whether its end is an end of work, by itself. */
  readonly counts: boolean
}

export type Match =
  /** `isExtension`: not by itself, but as a descendant of a span that counted. `isSettled`: the call is over and told. */
  | { readonly is: 'matched'; readonly call: CallKey; readonly isSettled: boolean; readonly isExtension: boolean }
  | { readonly is: 'ambiguous' }
  | { readonly is: 'unmatched' }
  /** The same span came before: an exporter that tried again. */
  | { readonly is: 'repeated' }

export interface Sighting<Report extends SpanReport> {
  readonly report: Report
  readonly match: Match
}

export interface Correlator<Report extends SpanReport = SpanReport> {
  register(key: CallKey): void
  /** The exchange's calls are settled. */
  forget(exchangeId: string): void
  /** Takes one report, and says what is now known: of itself (unless it waits), and of those that waited for it. */
  take(report: Report, atMs: number): readonly Sighting<Report>[]
  /** Those who waited for a call just registered, and those who waited in vain. */
  sweep(atMs: number): readonly Sighting<Report>[]
  counts(): { readonly calls: number; readonly spans: number; readonly waiting: number; readonly callsEvicted: number }
}

export interface CorrelatorLimits {
  readonly callsMax: number
  readonly spansMax?: number
  readonly waitingMax?: number
  /** How long a span waits for its ancestor, and how long it is remembered for its descendants. */
  readonly waitMs?: number
  readonly rememberMs?: number
}

interface Node<Report> {
  readonly report: Report
  readonly atMs: number
  /** Set once it is known: what descendants take over. */
  match: (Match & { is: 'matched' }) | null
}
interface Waiter<Report> {
  readonly report: Report
  readonly untilMs: number
  readonly missing: readonly string[]
}
type Climb = { readonly is: 'top'; readonly match: Match | null } | { readonly is: 'missing'; readonly spans: readonly string[] }

const DEPTH_MAX = 128
const nameOf = ({ traceId, spanId }: SpanLink): string => `${traceId}${spanId}`

export function createCorrelator<Report extends SpanReport = SpanReport>(limits: CorrelatorLimits): Correlator<Report> {
  const { callsMax, spansMax = 50_000, waitingMax = 10_000, waitMs = 60_000, rememberMs = 300_000 } = limits
  const calls = createCallIndex({ callsMax })
  const nodes = new Map<string, Node<Report>>() // oldest first
  const waiters = new Set<Waiter<Report>>() // oldest first
  const waitersOf = new Map<string, Set<Waiter<Report>>>() // by the ancestor they miss
  const arrived: string[] = [] // spans registered since the last look at who waits for them

  function take(report: Report, atMs: number): readonly Sighting<Report>[] {
    const seen: Sighting<Report>[] = []
    const name = report.spanId === null ? null : nameOf({ traceId: report.traceId, spanId: report.spanId })
    if (name !== null && nodes.has(name)) return report.counts ? [{ report, match: { is: 'repeated' } }] : []
    if (name !== null) remember(name, report, atMs)
    settle(report, atMs, seen)
    if (name !== null) wake(name, seen)
    return seen
  }

  function remember(name: string, report: Report, atMs: number): void {
    for (const [oldest, node] of nodes) {
      if (nodes.size < spansMax && node.atMs >= atMs - rememberMs) break
      nodes.delete(oldest)
    }
    nodes.set(name, { report, atMs, match: null })
  }

  function settle(report: Report, atMs: number, seen: Sighting<Report>[]): void {
    const found = climb(calls, nodes, report)
    if (found.is === 'missing') {
      wait({ report, untilMs: atMs + waitMs, missing: found.spans }, seen)
      return
    }
    const { match } = found
    if (match === null) return // it only links
    if (match.is === 'matched' && report.spanId !== null) {
      const node = nodes.get(nameOf({ traceId: report.traceId, spanId: report.spanId }))
      if (node !== undefined) node.match = match
    }
    seen.push({ report, match })
  }

  function wait(waiter: Waiter<Report>, seen: Sighting<Report>[]): void {
    waiters.add(waiter)
    for (const name of waiter.missing) {
      const others = waitersOf.get(name)
      if (others === undefined) waitersOf.set(name, new Set([waiter]))
      else others.add(waiter)
    }
    const [oldest] = waiters
    if (waiters.size > waitingMax && oldest !== undefined) giveUp(oldest, seen)
  }

  function stopWaiting(waiter: Waiter<Report>): void {
    waiters.delete(waiter)
    for (const name of waiter.missing) {
      const others = waitersOf.get(name)
      others?.delete(waiter)
      if (others?.size === 0) waitersOf.delete(name)
    }
  }

  function giveUp(waiter: Waiter<Report>, seen: Sighting<Report>[]): void {
    stopWaiting(waiter)
    if (waiter.report.counts) seen.push({ report: waiter.report, match: { is: 'unmatched' } })
  }

  function wake(name: string, seen: Sighting<Report>[]): void {
    for (const waiter of [...(waitersOf.get(name) ?? [])]) {
      stopWaiting(waiter)
      settle(waiter.report, waiter.untilMs - waitMs, seen)
    }
  }

  return {
    register(key) {
      calls.register(key)
      if (waitersOf.size === 0) return
      for (const spanId of key.spanIds) {
        const name = nameOf({ traceId: key.traceId, spanId })
        if (waitersOf.has(name)) arrived.push(name)
      }
    },
    forget: calls.forget,
    take,
    sweep(atMs) {
      const seen: Sighting<Report>[] = []
      for (const name of arrived.splice(0)) wake(name, seen)
      for (const waiter of [...waiters]) {
        if (waiter.untilMs <= atMs) giveUp(waiter, seen)
      }
      return seen
    },
    counts: () => ({ calls: calls.liveCount(), spans: nodes.size, waiting: waiters.size, callsEvicted: calls.evictedCount() }),
  }
}

/** From parent to parent, the parent's road before the links', to the nearest span that a call is known by. */
function climb<Report extends SpanReport>(calls: CallIndex, nodes: ReadonlyMap<string, Node<Report>>, from: Report): Climb {
  const missing: string[] = []
  const visited = new Set<string>()

  /** `counted`: the topmost span below that counts; its claim says which call is meant. Undefined: no call on this road. */
  function up(parents: readonly SpanLink[], counted: SpanReport | null): Match | null | undefined {
    if (visited.size > DEPTH_MAX) return undefined
    for (const parent of parents) {
      const name = nameOf(parent)
      if (visited.has(name)) continue
      visited.add(name)
      if (calls.isKnown(parent.traceId, parent.spanId)) return counted === null ? null : found(calls, parent, counted, counted !== from)
      const node = nodes.get(name)
      if (node === undefined) {
        missing.push(name)
        continue
      }
      if (node.match !== null) return { ...node.match, isSettled: !calls.isOpen(node.match.call), isExtension: true }
      const match = up(node.report.parents, node.report.counts ? node.report : counted)
      if (match !== undefined) return match
    }
    return undefined
  }

  const match = up(from.parents, from.counts ? from : null)
  if (match !== undefined) return { is: 'top', match }
  if (missing.length > 0) return { is: 'missing', spans: missing }
  return { is: 'top', match: from.counts ? { is: 'unmatched' } : null }
}

function found(calls: CallIndex, at: SpanLink, claim: SpanReport, isExtension: boolean): Match | null {
  const call = calls.find(at.traceId, at.spanId, claim)
  if (call.is === 'one') return { is: 'matched', call: call.call, isSettled: call.isSettled, isExtension }
  if (isExtension) return null // its ancestor is told as ambiguous or unmatched; it adds nothing
  return { is: call.is === 'several' ? 'ambiguous' : 'unmatched' }
}
