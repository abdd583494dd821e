/** Facts in, the contract's record out: times, shapes, results, silences, progress, abandonment. */
import { describe, expect, test } from 'vitest'
import type { Fact } from '../../src/core/fact.ts'
import type { EventMark } from '../../src/core/signal.ts'
import { clientReset } from '../../src/core/signal.ts'
import {
  answered,
  asked,
  at,
  call,
  clientAbort,
  closed,
  complete,
  cutAt,
  done,
  event,
  faultCut,
  finished,
  head,
  heads,
  idleCut,
  JSON_HEAD,
  json,
  ledgerRig,
  mark,
  moved,
  opened,
  passed,
  progressEvent,
  resultEvent,
  resultText,
  serverOver,
  TRACE_ID,
  told,
  toolCall,
  understood,
} from '../support/ledger-rig.ts'

const KEYS = [
  ...['id', 'openedAt', 'kind', 'answer', 'method', 'tool', 'requestId', 'revision', 'traceId', 'spanId', 'client'],
  ...['status', 'seenStatus', 'headersMs', 'firstByteMs', 'firstEventMs', 'closedMs', 'closedBeforeHeaders', 'longestSilenceMs'],
  ...['silenceAtCloseMs', 'progress', 'bytes', 'closedBy', 'cause', 'hop', 'fault', 'ending', 'result', 'abandonedMs', 'abandonedBy'],
  ...['toldMs', 'wouldCut', 'work', 'retryOf', 'violations', 'notices', 'timeline'],
]

test('a cut stream, as the contract writes it down [ledger.record-shape]', () => {
  const rig = ledgerRig({ graceMs: 2_000 })
  rig.take(...call(), moved(1, 'request', 210), ...passed(5, progressEvent()), ...cutAt(2_003))
  rig.take({ kind: 'work', atMs: at(6_300), report: { source: 'otlp', event: 'start', workAtMs: at(3), outcome: null, requestId: null } })
  rig.take({ kind: 'work', atMs: at(6_300), report: { source: 'otlp', event: 'end', workAtMs: at(6_004), outcome: 'ok', requestId: null } })
  const { record } = rig.settle()
  expect(Object.keys(record)).toEqual(KEYS)
  const bytes = progressEvent().bytes.length
  expect(JSON.parse(JSON.stringify(record))).toEqual({
    ...{ id: 'c42', openedAt: '2026-11-29T10:00:00.000Z', kind: 'call', answer: 'sse', method: 'tools/call', tool: 'render', requestId: 7 },
    ...{ revision: '2026-07-28', traceId: TRACE_ID, spanId: '00f067aa0ba902b7', client: 'inspector', status: 200, seenStatus: 200 },
    ...{ headersMs: 4, firstByteMs: 5, firstEventMs: 5, closedMs: 2_003, closedBeforeHeaders: false, longestSilenceMs: 1_998 },
    ...{ silenceAtCloseMs: 1_998, progress: { seen: 1, sent: 1 }, bytes: { request: 210, seen: bytes, sent: bytes } },
    ...{ closedBy: 'sidecar', cause: 'idle_timeout', hop: 'nginx', fault: null, ending: 'fin', result: 'none' },
    ...{ abandonedMs: 2_003, abandonedBy: 'close', toldMs: 2_003, wouldCut: [] },
    work: { source: 'otlp', startedMs: 3, endedMs: 6_004, outcome: 'orphaned', afterCloseMs: 4_001 },
    ...{ retryOf: null, violations: ['work-after-cancel'], notices: [] },
    timeline: [
      ...[
        [1, 'asked'],
        [3, 'work-started'],
        [4, 'headers', 200],
        [5, 'event', bytes, 'progress'],
        [2_003, 'closed', 'idle_timeout'],
      ],
      ...[
        [2_003, 'told', 'fin'],
        [6_004, 'work-ended'],
      ],
    ],
  })
})

describe('the result', () => {
  test('over SSE is seen at the server and sent at the client [ledger.result-by-raw-id]', () => {
    const rig = ledgerRig().take(...call(), event(10, 'server', resultEvent(8)), event(11, 'server', progressEvent()))
    expect(rig.record().result).toBe('none')
    rig.take(event(12, 'server', resultEvent()))
    expect(rig.record().result).toBe('seen')
    rig.take(event(13, 'client', resultEvent()))
    expect(rig.record()).toMatchObject({ result: 'sent', abandonedMs: null })
    expect(rig.take(closed(14, clientAbort)).record()).toMatchObject({ result: 'sent', abandonedMs: null, closedBy: 'client' })
  })
  test('ids beyond 2^53 that a number would take for one are two', () => {
    const rig = ledgerRig().take(...call('2026-07-28', toolCall('9007199254740993')), event(5, 'client', resultEvent('9007199254740992')))
    expect(rig.record()).toMatchObject({ result: 'none', requestId: '9007199254740993' })
    expect(rig.take(event(6, 'client', resultEvent('9007199254740993'))).record().result).toBe('sent')
  })
  test('ids are JSON: 7 is not "7", and 0 is one', () => {
    expect(
      ledgerRig()
        .take(...call('2026-07-28', toolCall('"7"')), event(5, 'client', resultEvent(7)))
        .record(),
    ).toMatchObject({ result: 'none', requestId: '7' })
    expect(
      ledgerRig()
        .take(...call('2026-07-28', toolCall(0)), event(5, 'client', resultEvent(0)))
        .record(),
    ).toMatchObject({ result: 'sent', requestId: 0 })
  })
  test('as JSON is sent only with the whole answer [ledger.json-sent-whole]', () => {
    const start = [
      opened(),
      understood(1, toolCall()),
      asked(1),
      ...heads(40, JSON_HEAD),
      moved(40, 'seen', 9),
      moved(40, 'sent', 9),
      json(41, resultText()),
    ]
    const whole = ledgerRig().take(...start)
    expect(whole.record().result).toBe('seen')
    expect(whole.take(...done(42)).record()).toMatchObject({ answer: 'json', result: 'sent', abandonedMs: null })
    for (const cut of [closed(42, clientAbort), closed(42, faultCut, 'clean'), closed(42, idleCut)]) {
      expect(
        ledgerRig()
          .take(...start, cut)
          .record(),
      ).toMatchObject({ result: 'seen', abandonedMs: 42, abandonedBy: 'close' })
    }
  })
  test('that only the sidecar answered is none', () => {
    const rig = ledgerRig().take(
      opened(),
      understood(1, toolCall()),
      asked(1),
      answered(60_001),
      moved(60_001, 'sent', 90),
      ...cutAt(60_001),
    )
    expect(rig.record()).toMatchObject({
      result: 'none',
      status: 504,
      seenStatus: null,
      answer: 'other',
      closedBeforeHeaders: true,
      abandonedMs: 60_001,
    })
  })
  test('of a whole answer that nobody could read is taken for sent, and said so', () => {
    const rig = ledgerRig().take(opened(), understood(1, toolCall()), ...heads(4, JSON_HEAD), json(9, null), ...done(9))
    expect(rig.record()).toMatchObject({ result: 'sent', notices: ['answer-not-read'] })
    const gzip = ledgerRig().take(
      opened(),
      understood(1, toolCall()),
      ...heads(4, ['Content-Type', 'text/event-stream', 'Content-Encoding', 'gzip']),
      ...done(9),
    )
    expect(gzip.record()).toMatchObject({ answer: 'sse', result: 'sent' })
    const cut = ledgerRig().take(opened(), understood(1, toolCall()), ...heads(4, JSON_HEAD), closed(9, clientAbort))
    expect(cut.record()).toMatchObject({ result: 'none', notices: [] })
  })
  test('an error without an id answers the only request', () => {
    const rig = ledgerRig().take(
      opened(),
      understood(1, toolCall()),
      ...heads(4, JSON_HEAD, 400),
      json(9, '{"id":null,"error":{"code":-32600}}'),
      ...done(9),
    )
    expect(rig.settle()).toMatchObject({
      toolResult: 'protocol_error',
      record: { result: 'sent', work: { source: 'response', outcome: 'finished' } },
    })
  })
  test('that comes elsewhere is no abandonment: 202 of 2024-11-05', () => {
    expect(
      ledgerRig()
        .take(opened(), understood(1, toolCall()), ...heads(4, [], 202), ...done(5))
        .record(),
    ).toMatchObject({ answer: 'none', abandonedMs: null })
    expect(
      ledgerRig()
        .take(opened(), understood(1, toolCall()), ...heads(4, [], 202), closed(5, clientAbort))
        .record(),
    ).toMatchObject({ abandonedMs: 5 })
  })
})

describe('a batch', () => {
  const batch = `[${toolCall(1, 'a', '"p1"')},${toolCall('"1"', 'b', '"p2"')},{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}]`
  test('of three is three records, told apart by raw id and token [ledger.batch-apart]', () => {
    const rig = ledgerRig().take(
      ...call('2025-03-26', batch),
      ...passed(5, progressEvent('"p2"')),
      ...passed(6, progressEvent('"p2"')),
      event(7, 'server', progressEvent('"p1"')),
    )
    rig.take(
      ...passed(8, resultEvent('"1"', ',"isError":true')),
      event(9, 'server', resultEvent('9007199254740993')),
      closed(20, clientAbort),
      told(20),
      finished(20),
    )
    const [a, b, ping] = [rig.settle(0), rig.settle(1), rig.settle(2)]
    expect(a.record).toMatchObject({
      id: 'c42',
      tool: 'a',
      requestId: 1,
      result: 'none',
      progress: { seen: 1, sent: 0 },
      abandonedMs: 20,
      work: { outcome: 'unobserved' },
    })
    expect(b.record).toMatchObject({
      id: 'c42.2',
      tool: 'b',
      requestId: '1',
      result: 'sent',
      progress: { seen: 2, sent: 2 },
      abandonedMs: null,
      work: { outcome: 'finished', endedMs: 8 },
    })
    expect(ping.record).toMatchObject({
      id: 'c42.3',
      method: 'ping',
      tool: null,
      requestId: '9007199254740993',
      result: 'seen',
      abandonedMs: 20,
    })
    expect([a, b, ping].map(({ toolResult, isToolCall }) => [isToolCall, toolResult])).toEqual([
      [true, 'none'],
      [true, 'tool_error'],
      [false, 'ok'],
    ])
  })
  test('may be answered by one JSON array', () => {
    const rig = ledgerRig().take(
      opened(),
      understood(1, batch),
      ...heads(4, JSON_HEAD),
      json(5, `[${resultText('"1"')},${resultText(1)}]`),
      ...done(6),
    )
    expect([0, 1, 2].map((index) => rig.record(index).result)).toEqual(['sent', 'sent', 'none'])
  })
  test('takes reports by id', () => {
    const rig = ledgerRig().take(...call('2025-03-26', batch), ...cutAt(100))
    const report = { source: 'otlp', event: 'end', outcome: null } as const
    rig.take({ kind: 'work', atMs: at(400), report: { ...report, workAtMs: at(300), requestId: '1' } })
    rig.take({ kind: 'work', atMs: at(400), report: { ...report, workAtMs: at(350), requestId: '"1"' } })
    expect([0, 1, 2].map((index) => rig.record(index).work.endedMs)).toEqual([300, 350, null])
  })
})

describe('silence', () => {
  test('counts from the request’s last byte while nothing comes [ledger.silence]', () => {
    const rig = ledgerRig().take(opened(), understood(50, toolCall()), asked(50))
    expect(rig.ledger.records(at(80))[0]?.longestSilenceMs).toBe(30)
    expect(rig.take(answered(650), closed(650, idleCut)).record()).toMatchObject({ longestSilenceMs: 600, silenceAtCloseMs: 600 })
  })
  test('is the server’s: what a buffer holds back is none, and a comment ends one', () => {
    const rig = ledgerRig().take(
      ...call(),
      moved(1_004, 'seen', 12),
      event(1_004, 'server', mark(': ping\n\n')),
      moved(1_204, 'seen', 12),
      closed(1_504, idleCut),
    )
    expect(rig.record()).toMatchObject({ longestSilenceMs: 1_000, silenceAtCloseMs: 300, firstEventMs: null, firstByteMs: null })
  })
  test('ends with the server’s answer, and counts no more after the close', () => {
    expect(
      ledgerRig()
        .take(...call(), moved(10, 'seen', 1), serverOver(30), closed(900, clientAbort))
        .record(),
    ).toMatchObject({ longestSilenceMs: 20, silenceAtCloseMs: 20 })
    expect(
      ledgerRig()
        .take(...call(), closed(10, clientAbort), moved(900, 'seen', 1), serverOver(2_000))
        .record(),
    ).toMatchObject({ longestSilenceMs: 6, silenceAtCloseMs: 6 })
  })
  test('is unknown while the request was never whole', () => {
    expect(
      ledgerRig()
        .take(opened(), closed(500, clientReset, 'rst'))
        .record(),
    ).toMatchObject({ longestSilenceMs: 0, silenceAtCloseMs: null, cause: 'client_reset', ending: 'rst' })
  })
})

describe('progress on its way', () => {
  const said = (...facts: Fact[]): unknown[] =>
    ledgerRig()
      .take(...call(), ...facts)
      .moments.flatMap((moment) => (moment.is === 'progress' ? [`${moment.how} ${moment.count}`] : []))
  const [one, two] = [progressEvent(), progressEvent()]
  test('is forwarded, held, dropped or lost', () => {
    expect(said(event(5, 'server', one), event(5, 'client', one))).toEqual(['forwarded 1'])
    expect(said(event(5, 'server', one), event(105, 'client', one))).toEqual(['held 1'])
    expect(
      said(
        event(5, 'server', one),
        { kind: 'noted', atMs: at(5), seat: 'drop', note: { is: 'dropped', what: 'progress' } },
        closed(9, clientAbort),
      ),
    ).toEqual(['dropped 1'])
    expect(said(event(5, 'server', one), event(6, 'server', two), closed(9, clientAbort))).toEqual(['lost 2'])
    expect(said(closed(9, clientAbort), event(10, 'server', one))).toEqual(['lost 1'])
  })
})

test('who closed follows from the cause', () => {
  const by = (fact: Fact): unknown =>
    ledgerRig()
      .take(...call(), fact)
      .record()
  expect(by(closed(9, complete, 'clean'))).toMatchObject({ closedBy: 'server', cause: 'complete', ending: 'clean' })
  expect(by(closed(9, clientAbort))).toMatchObject({ closedBy: 'client' })
  expect(by(closed(9, { kind: 'server_reset', seat: null }, 'rst'))).toMatchObject({ closedBy: 'server', ending: 'rst' })
  expect(by(closed(9, { kind: 'unreachable', seat: null }))).toMatchObject({ closedBy: 'server' })
  expect(by(closed(9, faultCut))).toMatchObject({ closedBy: 'sidecar', fault: 'cut-search', hop: null })
  expect(by(closed(9, { kind: 'limit', seat: null }))).toMatchObject({ closedBy: 'sidecar', fault: null, hop: null })
  expect(by(closed(9, { kind: 'max_duration', seat: 'path[1]:envoy' }))).toMatchObject({ hop: 'envoy' })
})

test('the first close is the one told', () => {
  expect(
    ledgerRig()
      .take(...call(), closed(9, clientAbort), closed(10, idleCut))
      .record(),
  ).toMatchObject({ closedMs: 9, cause: 'client_abort' })
})

test('what would have been cut, and notices, are told', () => {
  const rig = ledgerRig().take(
    ...call(),
    { kind: 'would_cut', atMs: at(60), cause: idleCut },
    { kind: 'notice', atMs: at(61), what: 'stale-socket' },
    { kind: 'notice', atMs: at(61), what: 'stale-socket' },
  )
  expect(rig.record()).toMatchObject({ wouldCut: [{ hop: 'nginx', cause: 'idle_timeout', atMs: 60 }], notices: ['stale-socket'] })
})

test('headers first, the body later: ids complete what is there, and it begins once', () => {
  const modern = ['Mcp-Method', 'tools/call', 'Mcp-Name', 'render']
  const rig = ledgerRig().take(opened(), understood(0, null, '2026-07-28', modern))
  expect(rig.record()).toMatchObject({ kind: 'call', tool: 'render', requestId: null })
  rig.take(understood(3, toolCall('"late"'), '2026-07-28', modern), ...heads(4), ...passed(9, resultEvent('"late"')))
  expect(rig.record()).toMatchObject({ requestId: 'late', result: 'sent' })
  expect(rig.moments.filter(({ is }) => is === 'began')).toHaveLength(1)
})

test('reports may name our span, the header’s and that of _meta, of the same trace only', () => {
  const meta = (trace: string): string =>
    toolCall(7, 'render', null).replace('"name"', `"_meta":{"traceparent":"00-${trace}-bbbbbbbbbbbbbbbb-01"},"name"`)
  const spans = (trace: string): readonly string[] =>
    ledgerRig().take(opened(0, ['traceparent', `00-${TRACE_ID}-aaaaaaaaaaaaaaaa-01`]), understood(1, meta(trace))).ledger.view.spanIds
  expect(spans(TRACE_ID)).toEqual(['aaaaaaaaaaaaaaaa', '00f067aa0ba902b7', 'bbbbbbbbbbbbbbbb'])
  expect(spans('1'.repeat(32))).toEqual(['aaaaaaaaaaaaaaaa', '00f067aa0ba902b7'])
})

test('tools are known by being listed or answered', () => {
  const names = (...facts: Fact[]): unknown[] =>
    ledgerRig()
      .take(...facts)
      .moments.flatMap((moment) => (moment.is === 'tools' ? moment.names : []))
  const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
  const listed = '{"id":1,"result":{"tools":[{"name":"a"},{"name":"b"},{"x":1}]}}'
  expect(names(opened(), understood(1, list), ...heads(4, JSON_HEAD), json(5, listed))).toEqual(['a', 'b'])
  expect(names(opened(), understood(1, list), ...heads(4), event(5, 'server', mark(`data: ${listed}\n\n`)))).toEqual(['a', 'b'])
  expect(names(opened(), understood(1, toolCall()))).toEqual([])
  expect(names(opened(), understood(1, toolCall()), head(4, 'server'))).toEqual(['render'])
  expect(names(opened(), understood(1, toolCall()), head(4, 'server', [], 503))).toEqual([])
})

describe('the timeline', () => {
  test('stops at 2,000 entries, says so, and keeps room for the end [ledger.timeline-bound]', () => {
    const rig = ledgerRig().take(...call())
    for (let n = 0; n < 5_000; n += 1) rig.take(event(10 + n, 'server', progressEvent()))
    rig.take(...cutAt(9_000))
    const { timeline, truncated } = rig.record()
    expect(truncated).toBe(true)
    expect(timeline.length).toBeLessThanOrEqual(2_000)
    expect(timeline.slice(-2)).toEqual([
      [9_000, 'closed', 'idle_timeout'],
      [9_000, 'told', 'fin'],
    ])
    expect(rig.record().progress.seen).toBe(5_000)
  })
  test('sums up bytes where no event shows', () => {
    const rig = ledgerRig().take(opened(), ...heads(0, JSON_HEAD))
    for (let ms = 0; ms < 100; ms += 1) rig.take(moved(ms, 'seen', 10))
    const { timeline } = rig.record()
    expect(timeline.length).toBeLessThan(10)
    expect(timeline.reduce((sum, [, what, bytes]) => sum + (what === 'bytes' ? Number(bytes) : 0), 0)).toBe(1_000)
  })
})

test('events as they are written need not be decoded: 4 MB cost no more than reading them', () => {
  const big: EventMark = mark(`data: {"result":{"content":[{"text":"${'x'.repeat(4_000_000)}"}]},"id":7}\n\n`)
  expect(
    ledgerRig()
      .take(...call(), event(9, 'client', big))
      .record().result,
  ).toBe('sent')
})
