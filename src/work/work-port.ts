/** Where all reports meet: spans and probe messages become work facts of the calls they are about, and every one is counted. */
import { assertNever } from '../core/assert.ts'
import type { Clock, Timer } from '../core/clock.ts'
import type { WorkReport } from '../core/fact.ts'
import type { CallKey } from './call-index.ts'
import type { Correlator, Sighting, SpanReport } from './correlate.ts'
import { readProbeMessage } from './probe-message.ts'
import type { Span, SpanMatcher } from './span.ts'
import { spanCounts } from './span.ts'

export type ReportedSource = 'otlp' | 'probe'
export type ReportResult = 'matched' | 'unmatched' | 'ambiguous' | 'refused' | 'expired' | 'duplicate'
export type DeliveryResult = Exclude<ReportResult, 'ambiguous'>

/** A report on its way to its call; times are Unix milliseconds. */
export interface PendingReport extends SpanReport {
  readonly source: ReportedSource
  readonly startWallMs: number | null
  readonly endWallMs: number | null
  readonly event: WorkReport['event']
  readonly outcome: WorkReport['outcome']
}

export interface WorkPortAsked {
  readonly clock: Clock
  readonly correlator: Correlator<PendingReport>
  readonly matchers?: readonly SpanMatcher[]
  /** Calls told of but not yet registered are registered now: a report may be about one. */
  catchUp?(): void
  /** A matched report, as a fact's content, `workAtMs` on the exchange's clock; the journal says what became of it. */
  deliver(exchangeId: string, report: WorkReport): DeliveryResult
  /** `work_reports_total`: one per report, whatever became of it. Descendants that changed nothing are none. */
  count(source: ReportedSource, result: ReportResult): void
}

export interface WorkPort {
  /** One probe message: 202 if it is one, whether or not its call is known; else 400 and what is wrong, naming the key. */
  takeProbeMessage(json: unknown): { readonly status: 202 | 400; readonly problem?: string }
  takeSpans(spans: readonly Span[]): void
  /** Disarms its timer. */
  close(): void
}

/** Clocks of one host differ by little; a start before this is not of this call. */
const EARLY_MAX_MS = 250
const AHEAD_MAX_MS = 5_000
const SWEEP_EVERY_MS = 250

export function createWorkPort({ clock, correlator, matchers = [], catchUp, deliver, count }: WorkPortAsked): WorkPort {
  let timer: Timer | null = null

  function take(report: PendingReport): void {
    const aheadMs = clock.wallMs() + AHEAD_MAX_MS
    const { startWallMs, endWallMs } = report
    const isBackwards = startWallMs !== null && endWallMs !== null && endWallMs < startWallMs
    if (isBackwards || (startWallMs ?? 0) > aheadMs || (endWallMs ?? 0) > aheadMs) {
      if (report.counts) count(report.source, 'refused')
      return
    }
    catchUp?.()
    settle(correlator.take(report, clock.nowMs()))
    arm()
  }

  function arm(): void {
    if (timer !== null || correlator.counts().waiting === 0) return
    timer = clock.after(SWEEP_EVERY_MS, () => {
      timer = null
      catchUp?.()
      settle(correlator.sweep(clock.nowMs()))
      arm()
    })
  }

  function settle(sightings: readonly Sighting<PendingReport>[]): void {
    for (const { report, match } of sightings) {
      if (match.is === 'matched') {
        const result = settleMatched(report, match.call, match.isExtension)
        if (result !== null) count(report.source, result)
      } else count(report.source, match.is === 'repeated' ? 'duplicate' : match.is)
    }
  }

  /** Null: nothing worth telling, a descendant that ended before its ancestor did. */
  function settleMatched(report: PendingReport, call: CallKey, isExtension: boolean): DeliveryResult | null {
    const offsetMs = clock.wallMs() - clock.nowMs()
    const { source, startWallMs, endWallMs, counts } = report
    const earliestWallMs = call.openedAtMs + offsetMs - EARLY_MAX_MS
    if (Math.min(startWallMs ?? Infinity, endWallMs ?? Infinity) < earliestWallMs) return counts ? 'refused' : null
    const isLater = endWallMs !== null && endWallMs > (call.latestEndWallMs ?? -Infinity)
    if (isExtension && !isLater) return counts ? 'matched' : null
    const tell = (event: WorkReport['event'], wallMs: number, outcome: WorkReport['outcome']): DeliveryResult =>
      deliver(call.exchangeId, { source, event, workAtMs: wallMs - offsetMs, outcome, requestId: call.requestId })
    let result: DeliveryResult = 'matched'
    if (startWallMs !== null && !isExtension) result = tell('start', startWallMs, null)
    if (endWallMs === null || result !== 'matched') return result
    result = tell(report.event, endWallMs, report.outcome)
    if (result === 'matched' && isLater) call.latestEndWallMs = endWallMs
    return counts || result === 'matched' ? result : null
  }

  return {
    takeProbeMessage(json) {
      const read = readProbeMessage(json)
      switch (read.is) {
        case 'problem':
          return { status: 400, problem: read.problem }
        case 'message': {
          const { traceId, spanId, requestId, event, outcome } = read.message
          const atWallMs = read.message.atWallMs ?? clock.wallMs()
          const isStart = event === 'start'
          take({
            ...{ traceId, spanId: null, parents: [{ traceId, spanId }], counts: true, requestId, method: null, tool: null, session: null },
            ...{ source: 'probe', event, outcome, startWallMs: isStart ? atWallMs : null, endWallMs: isStart ? null : atWallMs },
          })
          return { status: 202 }
        }
        default:
          return assertNever(read)
      }
    },
    takeSpans(spans) {
      for (const span of spans) take(reportOf(span, matchers))
    },
    close: () => timer?.cancel(),
  }
}

/** A span as a report, slim: most spans are kept for their parents' sake alone. */
function reportOf(span: Span, matchers: readonly SpanMatcher[]): PendingReport {
  const { traceId, spanId, parentSpanId, attributes, links } = span
  const parents = parentSpanId === null ? links : [{ traceId, spanId: parentSpanId }, ...links]
  const outcome = outcomeOf(span)
  return {
    ...{ traceId, spanId, parents, counts: spanCounts(span, matchers) },
    requestId: attributes.get('jsonrpc.request.id') ?? attributes.get('rpc.jsonrpc.request_id') ?? null,
    method: attributes.get('mcp.method.name') ?? null,
    tool: attributes.get('gen_ai.tool.name') ?? attributes.get('mcp.tool.name') ?? null,
    session: attributes.get('mcp.session.id') ?? null,
    ...{
      source: 'otlp',
      event: outcome === 'aborted' ? 'abort' : 'end',
      outcome,
      startWallMs: span.startWallMs,
      endWallMs: span.endWallMs,
    },
  }
}

function outcomeOf({ isError, attributes }: Span): 'ok' | 'error' | 'aborted' {
  const type = attributes.get('error.type')
  if (type !== undefined && /abort|cancel/i.test(type)) return 'aborted'
  return isError || type !== undefined ? 'error' : 'ok'
}
