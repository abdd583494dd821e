/** The sidecar's own spans: what they say, that they are whole OTLP, and when they are sent. Time is a number. */
import { expect, test } from 'vitest'
import { createJournal } from '../../src/journal/journal.ts'
import type { ForwardedBody } from '../../src/work/forward.ts'
import { decodeSpans } from '../../src/work/otlp-decode.ts'
import { createOwnSpanExporter } from '../../src/work/own-span.ts'
import { ownSpanSink } from '../../src/work/own-span-sink.ts'
import type { Span } from '../../src/work/span.ts'
import { fakeClock, WALL_START_MS } from '../support/fake-clock.ts'
import * as ledger from '../support/ledger-rig.ts'

const HEADER_SPAN = 'b7ad6b7169203331'

function rig() {
  const clock = fakeClock({ startMs: ledger.OPENED_AT_MS })
  const bodies: ForwardedBody[] = []
  const forwarder = {
    send: (body: ForwardedBody) => void bodies.push(body),
    counts: () => ({ sent: 0, failed: 0, dropped: 0 }),
    close: async () => {},
  }
  const exporter = createOwnSpanExporter({ forwarder, clock, version: '1.2.3' })
  const onSinkError = (_name: string, error: unknown): never => {
    throw error
  }
  const journal = createJournal({ clock, sinks: [ownSpanSink(exporter)], graceMs: 500, waitMs: 1_000, onSinkError })
  const spans = (): Span[] => {
    const all: Span[] = []
    for (const { bytes } of bodies)
      expect(decodeSpans(bytes, 'json', (span) => all.push(span))).toMatchObject({ rejected: 0, problem: null })
    return all
  }
  return { clock, bodies, journal, spans, exporter }
}

test('one span per exchange, under the client’s, above the server’s: traces stay whole [work.own-span]', () => {
  const { clock, bodies, journal, spans } = rig()
  const { tell } = journal.openExchange()
  const [, ...rest] = ledger.call()
  tell(ledger.opened(0, ['traceparent', `00-${ledger.TRACE_ID}-${HEADER_SPAN}-01`]))
  for (const fact of [...rest, ...ledger.cutAt(3_000)]) tell(fact)
  expect(bodies).toEqual([])
  clock.advance(1_000)
  expect(bodies.map(({ signal, headers }) => [signal, headers])).toEqual([['traces', { 'content-type': 'application/json' }]])
  const [span] = spans()
  expect(span).toMatchObject({
    traceId: ledger.TRACE_ID,
    spanId: '00f067aa0ba902b7',
    parentSpanId: HEADER_SPAN,
    name: 'tools/call render',
    kind: 2,
    isError: true,
  })
  expect([span?.startWallMs, span?.endWallMs]).toEqual([WALL_START_MS, WALL_START_MS + 3_000])
  expect(Object.fromEntries(span?.attributes ?? [])).toMatchObject({
    ...{ 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'render', 'jsonrpc.request.id': '7' },
    ...{ 'impatient.cause': 'idle_timeout', 'impatient.hop': 'nginx', 'impatient.exchange': 'c1' },
  })
})
test('spans go in batches; the end flushes what waits', async () => {
  const { bodies, journal, spans, clock } = rig()
  const run = (): void => {
    const { tell } = journal.openExchange()
    for (const fact of [...ledger.call(), ...ledger.done(10)]) tell(fact)
  }
  for (let n = 0; n < 513; n += 1) run()
  expect([bodies.length, spans().length, spans()[0]?.isError]).toEqual([1, 512, false])
  await journal.close()
  expect(spans()).toHaveLength(513)
  clock.advance(5_000)
  expect(bodies).toHaveLength(2)
})
