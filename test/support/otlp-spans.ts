/** Short words for spans, calls and a clock that is only a number. */
import type { Clock } from '../../src/core/clock.ts'
import type { WorkReport } from '../../src/core/fact.ts'
import type { CallKey } from '../../src/work/call-index.ts'
import { createCorrelator } from '../../src/work/correlate.ts'
import type { Span, SpanMatcher } from '../../src/work/span.ts'
import type { DeliveryResult, PendingReport, WorkPort } from '../../src/work/work-port.ts'
import { createWorkPort } from '../../src/work/work-port.ts'

export const TRACE = 'a'.repeat(32)
export const spanIdOf = (n: number): string => n.toString(16).padStart(16, '0')
export const parentOf = (n: number, trace = TRACE): string => `00-${trace}-${spanIdOf(n)}-01`

/** Span 1 is ours unless said otherwise. */
export const call = (exchangeId: string, more: Partial<CallKey> = {}): CallKey => ({
  exchangeId,
  traceId: TRACE,
  spanIds: [spanIdOf(1)],
  requestId: '7',
  method: 'tools/call',
  tool: 'render',
  session: null,
  openedAtMs: 0,
  ...more,
})

export interface SpanAsked {
  readonly id: number
  readonly parent?: number | null
  readonly trace?: string
  readonly kind?: number
  readonly name?: string
  /** Exchange-clock milliseconds. */
  readonly startMs?: number
  readonly endMs?: number
  readonly attributes?: Readonly<Record<string, string>>
  readonly links?: readonly { readonly trace: string; readonly id: number }[]
  readonly isError?: boolean
}

/** How far the rig's wall clock is ahead of its exchange clock. */
export const WALL_MS = 1_700_000_000_000

export const span = ({ id, parent = 1, trace = TRACE, kind = 2, startMs = 0, endMs = 1_000, ...more }: SpanAsked): Span => ({
  traceId: trace,
  spanId: spanIdOf(id),
  parentSpanId: parent === null ? null : spanIdOf(parent),
  name: more.name ?? 'span',
  kind,
  startWallMs: WALL_MS + startMs,
  endWallMs: WALL_MS + endMs,
  attributes: new Map(Object.entries(more.attributes ?? {})),
  links: (more.links ?? []).map((link) => ({ traceId: link.trace, spanId: spanIdOf(link.id) })),
  isError: more.isError ?? false,
})
/** A span that counts. */
export const mcpSpan = (asked: SpanAsked): Span =>
  span({ name: 'tools/call render', ...asked, attributes: { 'mcp.method.name': 'tools/call', ...asked.attributes } })
/** One that ends when the client disconnects, and so never counts. */
export const httpSpan = (asked: SpanAsked): Span =>
  span({ name: 'POST', ...asked, attributes: { 'http.request.method': 'POST', ...asked.attributes } })

export interface WorkRig {
  readonly port: WorkPort
  /** `c1#7 otlp end 1000 ok` */
  readonly told: string[]
  /** `otlp matched` */
  readonly counted: string[]
  register(...keys: CallKey[]): void
  forget(exchangeId: string): void
  spans(...spans: Span[]): void
  probe(message: Readonly<Record<string, unknown>>): number
  at(nowMs: number): void
  waiting(): number
}

/** A work port over a clock moved by hand; `answers`: what the journal makes of an event. */
export function workRig({
  matchers = [] as readonly SpanMatcher[],
  callsMax = 50_000,
  spansMax = 50_000,
  answers = (_event: WorkReport['event']): DeliveryResult => 'matched',
} = {}): WorkRig {
  let nowMs = 0
  let due: { atMs: number; run: () => void }[] = []
  const clock: Clock = {
    nowMs: () => nowMs,
    wallMs: () => WALL_MS + nowMs,
    catchUp: () => undefined,
    after(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run }
      due.push(timer)
      const without = () => due.filter((other) => other !== timer)
      return {
        cancel: () => (due = without()),
        again(laterMs) {
          due = [...without(), timer]
          timer.atMs = nowMs + laterMs
        },
      }
    },
  }
  const told: string[] = []
  const counted: string[] = []
  const correlator = createCorrelator<PendingReport>({ callsMax, spansMax })
  const deliver = (exchangeId: string, { source, event, workAtMs, outcome, requestId }: WorkReport): DeliveryResult => {
    told.push(`${exchangeId}#${requestId} ${source} ${event} ${workAtMs} ${outcome ?? ''}`.trim())
    return answers(event)
  }
  const port = createWorkPort({ clock, correlator, matchers, deliver, count: (source, result) => counted.push(`${source} ${result}`) })
  return {
    port,
    told,
    counted,
    register: (...keys) => keys.forEach(correlator.register),
    forget: correlator.forget,
    spans: (...spans) => port.takeSpans(spans),
    probe: (message) => port.takeProbeMessage(message).status,
    at(atMs) {
      for (;;) {
        const next = due.filter((timer) => timer.atMs <= atMs).sort((a, b) => a.atMs - b.atMs)[0]
        if (next === undefined) break
        due = due.filter((timer) => timer !== next)
        nowMs = next.atMs
        next.run()
      }
      nowMs = atMs
    },
    waiting: () => correlator.counts().waiting,
  }
}
