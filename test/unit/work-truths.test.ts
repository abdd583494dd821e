/** Known truths, from spans and probe messages to settled records: correlator, port, journal and ledger together, time a number. */
import { describe, expect, test } from 'vitest'
import type { Fact } from '../../src/core/fact.ts'
import type { Settlement } from '../../src/core/ledger.ts'
import { createJournal } from '../../src/journal/journal.ts'
import { createCorrelator } from '../../src/work/correlate.ts'
import { registrationSink } from '../../src/work/registration.ts'
import type { Span } from '../../src/work/span.ts'
import type { PendingReport } from '../../src/work/work-port.ts'
import { createWorkPort } from '../../src/work/work-port.ts'
import { fakeClock, WALL_START_MS } from '../support/fake-clock.ts'
import * as ledger from '../support/ledger-rig.ts'
import { mcpSpan, type SpanAsked, span, WALL_MS } from '../support/otlp-spans.ts'

const OURS = '00f067aa0ba902b7'
const ended = (more: object = {}) => ({ event: 'end', traceparent: `00-${ledger.TRACE_ID}-${OURS}-01`, requestId: 7, ...more })

/** One open `tools/call` at 0 ms; times are ms since. */
function truthRig({ revision = '2026-07-28' as string | null } = {}) {
  const clock = fakeClock({ startMs: ledger.OPENED_AT_MS })
  const correlator = createCorrelator<PendingReport>({ callsMax: 100 })
  const settled: Settlement[] = []
  const counted: string[] = []
  const journal = createJournal({
    ...{ clock, graceMs: 500, waitMs: 60_000 },
    sinks: [registrationSink(correlator), { name: 'test', settled: (_record, settlement) => void settled.push(settlement as Settlement) }],
    onSinkError(_name, error) {
      throw error
    },
  })
  const port = createWorkPort({
    clock,
    correlator,
    deliver: journal.reportWork,
    count: (source, result) => counted.push(`${source} ${result}`),
  })
  const { tell } = journal.openExchange()
  const until = (ms: number): void => clock.advance(ledger.at(ms) - clock.nowMs())
  const rig = {
    settled,
    counted,
    port,
    tell: (...facts: Fact[]) => facts.forEach(tell),
    until,
    spans: (...spans: Span[]) => port.takeSpans(spans),
    probe: (more: object = {}) => port.takeProbeMessage(ended(more)),
    pending: journal.pendingCount,
    /** After every wait. */
    only(): Settlement {
      until(200_000)
      const [first] = settled
      if (settled.length !== 1 || first === undefined) throw new Error(`${settled.length} settled`)
      return first
    },
  }
  rig.tell(...ledger.call(revision))
  return rig
}
/** Under our own span unless `parent` is said. */
const shifted = (made: Span, asked: SpanAsked): Span => ({
  ...made,
  traceId: asked.trace ?? ledger.TRACE_ID,
  parentSpanId: asked.parent === undefined ? OURS : made.parentSpanId,
  startWallMs: made.startWallMs - WALL_MS + WALL_START_MS,
  endWallMs: made.endWallMs - WALL_MS + WALL_START_MS,
})
const work = (asked: SpanAsked): Span => shifted(mcpSpan({ startMs: 5, ...asked }), asked)
const child = (asked: SpanAsked): Span => shifted(span({ kind: 1, startMs: 5, ...asked }), asked)

describe('known truths', () => {
  test('cut at 3 s with 5 s of work: 2 s orphaned [work.truth-orphan]', () => {
    const r = truthRig()
    r.until(3_000)
    r.tell(...ledger.cutAt(3_000))
    expect(r.pending()).toBe(1)
    r.until(5_100)
    r.spans(work({ id: 2, endMs: 5_000 }))
    const { record, orphanMs } = r.only()
    expect(orphanMs).toBe(2_000)
    expect(record.work).toMatchObject({ source: 'otlp', startedMs: 5, endedMs: 5_000, outcome: 'orphaned', afterCloseMs: 2_000 })
    expect(record.violations).toContain('work-after-cancel')
    expect(r.counted).toEqual(['otlp matched'])
  })
  test('work done at 1 s, stream closed at 3 s: 2 s before [work.truth-before]', () => {
    const r = truthRig()
    r.until(1_000)
    r.probe()
    r.until(3_000)
    r.tell(...ledger.cutAt(3_000))
    expect(r.only()).toMatchObject({ beforeCloseMs: 2_000, orphanMs: 0 })
  })
  test('a tool that stops 40 ms after the close: stopped, 40 ms [work.truth-stopped]', () => {
    const r = truthRig()
    r.until(3_000)
    r.tell(...ledger.cutAt(3_000, ledger.clientAbort))
    r.until(3_040)
    r.probe({ event: 'abort' })
    const { record, cancelToStopMs, orphanMs } = r.only()
    expect([record.work.outcome, cancelToStopMs, orphanMs]).toEqual(['stopped', 40, 0])
  })
  test('a span that ends 40 ms after the close with a child that ends at 4 s: 4 s [work.descendants-extend]', () => {
    const r = truthRig()
    r.until(2_000)
    r.tell(...ledger.cutAt(2_000))
    r.until(2_050)
    r.spans(work({ id: 2, endMs: 2_040 }))
    r.until(4_010)
    r.spans(child({ id: 3, parent: 2, endMs: 4_000 }))
    const { record, orphanMs } = r.only()
    expect([record.work.endedMs, orphanMs]).toEqual([4_000, 2_000])
  })
  test('told in one batch, a child may end long after its parent', () => {
    const r = truthRig()
    r.until(2_000)
    r.tell(...ledger.cutAt(2_000))
    r.until(6_500)
    r.spans(child({ id: 3, parent: 2, endMs: 6_000 }), work({ id: 2, endMs: 2_040 }))
    expect(r.only().record.work.endedMs).toBe(6_000)
  })
})

describe('late and double', () => {
  test('ends told within 2 s of the first count, later ones are duplicate [work.duplicate]', () => {
    const r = truthRig()
    r.until(1_000)
    r.probe()
    r.until(3_000)
    r.spans(work({ id: 2, endMs: 2_900 }))
    r.until(3_001)
    r.probe()
    r.tell(...ledger.done(3_001))
    r.until(30_000)
    r.probe()
    expect(r.counted).toEqual(['probe matched', 'otlp matched', 'probe duplicate', 'probe duplicate'])
    expect(r.only().record.work.endedMs).toBe(2_900)
  })
  test('a call waits 60 s for its report, then is unobserved, and what comes then is expired [work.expired]', () => {
    const r = truthRig()
    r.until(3_000)
    r.tell(...ledger.cutAt(3_000))
    r.until(62_999)
    expect(r.settled).toEqual([])
    r.until(63_000)
    expect(r.settled[0]?.record.work).toMatchObject({ outcome: 'unobserved', source: null })
    r.probe()
    r.spans(work({ id: 2, endMs: 62_000 }), child({ id: 3, parent: 2, endMs: 63_000 }))
    expect(r.counted).toEqual(['probe expired', 'otlp expired'])
  })
})
