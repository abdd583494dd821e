/** Each rule of the protocol: as data, and broken once in the ledger or between exchanges. */
import { describe, expect, test } from 'vitest'
import type { Fact } from '../../src/core/fact.ts'
import { readAsk } from '../../src/core/mcp/ask.ts'
import { REVISIONS } from '../../src/core/mcp/revision.ts'
import { isRuleId, RULE_IDS, ruleOf, sectionOf, severityOf } from '../../src/core/mcp/rules.ts'
import type { CallRecord } from '../../src/core/record.ts'
import type { EventMark, RawHeaders } from '../../src/core/signal.ts'
import { journalRig } from '../support/journal-rig.ts'
import {
  at,
  call,
  clientAbort,
  closed,
  cutAt,
  done,
  event,
  finished,
  head,
  heads,
  JSON_HEAD,
  json,
  mark,
  opened,
  passed,
  progressEvent,
  resultEvent,
  serverOver,
  told,
  toolCall,
  understood,
} from '../support/ledger-rig.ts'

const SESSION: RawHeaders = ['Mcp-Session-Id', 's1']

/** What the only exchange's record says, in a journal of its own. */
function broken(...facts: Fact[]): Pick<CallRecord, 'violations' | 'notices'> {
  const rig = journalRig()
  const id = rig.run(...facts)
  rig.until(200_000)
  const record = rig.settled.find((one) => one.id === id) ?? rig.journal.call(id)
  return { violations: record?.violations ?? [], notices: (record?.notices ?? []).filter(isRuleId) }
}
const none = { violations: [], notices: [] }
const violation = (rule: string) => ({ violations: [rule], notices: [] })
const notice = (rule: string) => ({ violations: [], notices: [rule] })
const progress = (value: number, token: number | string = 7): EventMark =>
  mark(`data: {"method":"notifications/progress","params":{"progressToken":${token},"progress":${value}}}\n\n`)
const listen = '{"jsonrpc":"2.0","id":"listen:0","method":"subscriptions/listen","params":{}}'
const says = (method: string): EventMark => mark(`data: {"jsonrpc":"2.0","method":"${method}","params":{}}\n\n`)
const acknowledged = says('notifications/subscriptions/acknowledged')
const post = (ms: number, body: string, revision: string | null, more: RawHeaders = []): Fact[] => [
  opened(ms),
  understood(ms, body, revision, more),
  { kind: 'asked', atMs: at(ms) },
]
const get = (ms: number, revision: string | null, more: RawHeaders = []): Fact[] => {
  const rawHeaders: RawHeaders = ['Accept', 'text/event-stream', ...(revision === null ? [] : ['MCP-Protocol-Version', revision]), ...more]
  const ask = readAsk({ method: 'GET', target: '/mcp', rawHeaders }, null)
  return [{ ...opened(ms, rawHeaders), method: 'GET' } as Fact, { kind: 'understood', atMs: at(ms), ask }]
}

describe('the table', () => {
  test.each(RULE_IDS)('%s says why in one line, and where it is written [mcp.rules]', (id) => {
    const { why, appliesIn, mustIn, sections } = ruleOf(id)
    expect(why).toMatch(/^[A-Z][^\n]{20,}\.$/)
    expect(mustIn.every((revision) => appliesIn.includes(revision))).toBe(true)
    for (const revision of mustIn) expect(sectionOf(id, revision)).toMatch(/^https:\/\/modelcontextprotocol\.io\/specification\/20/)
    expect(Object.keys(sections).length > 0 || mustIn.length === 0).toBe(true)
  })
  test('severities by revision', () => {
    expect(REVISIONS.map((revision) => severityOf('stream-ended-without-result', revision))).toEqual([
      ...Array(4).fill('notice'),
      'violation',
    ])
    expect(severityOf('header-mismatch', '2025-11-25')).toBeNull()
    expect(severityOf('work-after-cancel', '2027-01-01')).toBe('violation')
    expect(severityOf('response-after-final', null)).toBe('notice')
    expect(severityOf('cancel-ignored', null)).toBe('violation')
  })
})

describe('what the server says', () => {
  test('legal progress and a result break nothing', () =>
    expect(broken(...call(), ...passed(5, progress(1)), ...passed(6, progress(1.5)), ...passed(9, resultEvent()), ...done(10))).toEqual(
      none,
    ))
  test('response-after-final: a second answer, or progress after the first [mcp.rule-broken]', () => {
    expect(broken(...call(), ...passed(9, resultEvent()), ...passed(9, resultEvent()), ...done(10))).toEqual(
      violation('response-after-final'),
    )
    expect(broken(...call(), ...passed(9, resultEvent()), ...passed(9, progress(2)), ...done(10))).toEqual(
      violation('response-after-final'),
    )
  })
  test('progress-not-increasing: a MUST from 2025-03-26', () => {
    const facts = (revision: string): Fact[] => [
      ...call(revision),
      ...passed(5, progress(2)),
      ...passed(6, progress(2)),
      ...passed(9, resultEvent()),
      ...done(10),
    ]
    expect(broken(...facts('2025-11-25'))).toEqual(violation('progress-not-increasing'))
    expect(broken(...facts('2024-11-05'))).toEqual(notice('progress-not-increasing'))
  })
  test('progress-unknown-token: of no request, or where none was given', () => {
    const after: Fact[] = [...passed(5, progress(1, 8)), ...passed(9, resultEvent()), ...done(10)]
    expect(broken(...call(), ...after)).toEqual(violation('progress-unknown-token'))
    expect(broken(...call('2025-11-25', toolCall(7, 'render', null)), ...after)).toEqual(violation('progress-unknown-token'))
    expect(broken(...call('2026-07-28', toolCall(7, 'render', '"7"')), ...after)).toEqual(violation('progress-unknown-token'))
  })
  test('result-to-wrong-id: and an error that HTTP carries may name none', () => {
    expect(broken(...call(), ...passed(9, resultEvent(8)), ...passed(9, resultEvent()), ...done(10))).toEqual(
      violation('result-to-wrong-id'),
    )
    const refused = (id: string): Fact[] => [
      ...post(0, toolCall(), '2025-11-25'),
      ...heads(4, JSON_HEAD, 400),
      json(5, `{"id":${id},"error":{"code":-1}}`),
      ...done(5),
    ]
    expect(broken(...refused('"server-error"'))).toEqual(none)
    expect(broken(...refused('null'))).toEqual(none)
  })
  test('stream-ended-without-result: whole and in good order only', () => {
    const ended = (revision: string, ...facts: Fact[]) => broken(...call(revision), ...facts, ...done(10))
    expect(ended('2026-07-28')).toEqual(violation('stream-ended-without-result'))
    expect(ended('2025-11-25')).toEqual(notice('stream-ended-without-result'))
    expect(ended('2025-11-25', ...passed(5, mark('id: e1\ndata: \n\n')))).toEqual(none)
    expect(broken(...call(), serverOver(9, 'fin'), closed(9, { kind: 'server_close', seat: null }), finished(9))).toEqual(none)
    expect(broken(...call(), closed(5, clientAbort), told(5), serverOver(6), finished(6))).toEqual(none)
    const gzip = ['Content-Type', 'text/event-stream', 'Content-Encoding', 'gzip']
    expect(broken(...post(0, toolCall(), '2026-07-28'), ...heads(4, gzip), ...done(10)).violations).toEqual([])
  })
  test('server-cancelled-outside-listen, server-request-on-stream: from 2026-07-28', () => {
    const facts = (revision: string, of: EventMark): Fact[] => [
      ...call(revision),
      ...passed(5, of),
      ...passed(9, resultEvent()),
      ...done(10),
    ]
    const request = mark('data: {"id":0,"method":"elicitation/create","params":{}}\n\n')
    expect(broken(...facts('2026-07-28', says('notifications/cancelled')))).toEqual(violation('server-cancelled-outside-listen'))
    expect(broken(...facts('2025-11-25', says('notifications/cancelled')))).toEqual(none)
    expect(broken(...facts('2026-07-28', request))).toEqual(violation('server-request-on-stream'))
    expect(broken(...facts('2025-11-25', request))).toEqual(none)
  })
  test('subscription-not-acknowledged: the first word counts, keepalives aside', () => {
    const facts = (...events: EventMark[]): Fact[] => [
      ...post(0, listen, '2026-07-28'),
      ...heads(4),
      ...events.flatMap((of) => passed(5, of)),
      ...cutAt(9, clientAbort),
    ]
    expect(broken(...facts(mark(': keepalive\n\n'), acknowledged, says('notifications/tools/list_changed')))).toEqual(none)
    expect(broken(...facts(says('notifications/tools/list_changed'), acknowledged))).toEqual(violation('subscription-not-acknowledged'))
    // The server may call it off, and answer or not.
    expect(broken(...facts(acknowledged, says('notifications/cancelled')))).toEqual(none)
  })
  test('get-answered-200-without-sse: 405 is the way to refuse', () => {
    const answered = (revision: string | null, status: number) =>
      broken(...get(0, revision), ...heads(4, JSON_HEAD, status), json(5, '{}'), ...done(5))
    expect(answered('2025-11-25', 200)).toEqual(violation('get-answered-200-without-sse'))
    expect(answered(null, 200)).toEqual(notice('get-answered-200-without-sse'))
    expect(answered('2025-11-25', 405)).toEqual(none)
  })
  test('request-answered-202: where no stream of 2024-11-05 is open', () => {
    const facts = (target: string, revision: string | null): Fact[] =>
      [...post(0, toolCall(), revision), ...heads(4, [], 202), ...done(5)].map((fact) =>
        fact.kind === 'opened' ? { ...fact, target } : fact,
      )
    expect(broken(...facts('/mcp', '2025-11-25'))).toEqual(violation('request-answered-202'))
    expect(broken(...facts('/mcp', null))).toEqual(notice('request-answered-202'))
    expect(broken(...facts('/messages?sessionId=elsewhere', '2025-11-25'))).toEqual(none)
  })
})

describe('after a cancellation', () => {
  test('a message on its way is stale, a later one breaks the rule of 2026-07-28 [mcp.stale]', () => {
    const late = (ms: number) =>
      broken(...call(), closed(3_000, clientAbort), told(3_000), event(ms, 'server', progressEvent()), finished(ms))
    expect(late(3_050)).toEqual(notice('stale-message'))
    expect(late(3_200)).toEqual(violation('message-after-cancel'))
  })
  test('in the session revisions messages after the notification are counted, each', () => {
    const rig = journalRig()
    const id = rig.run(...post(0, toolCall(), '2025-11-25', SESSION), ...heads(4))
    const cancel = '{"method":"notifications/cancelled","params":{"requestId":7}}'
    rig.run(...post(100, cancel, '2025-11-25', SESSION), ...heads(101, [], 202), ...done(102))
    rig.tellTo(id, ...passed(150, progress(1)), ...passed(160, progress(2)), ...passed(200, resultEvent()), ...done(201))
    expect(rig.journal.call(id)?.notices).toEqual(['stale-message', '3 messages came for it after it was cancelled'])
    expect(rig.journal.call(id)).toMatchObject({ result: 'sent', progress: { seen: 2, sent: 2 } })
  })
})

describe('what the client says', () => {
  const headers = (name: string, method = 'tools/call'): RawHeaders => ['Mcp-Method', method, 'Mcp-Name', name]
  const told26 = (more: RawHeaders) =>
    broken(...post(0, toolCall(), '2026-07-28', more), ...heads(4), ...passed(5, resultEvent()), ...done(6))
  test('header-mismatch names the header', () => {
    expect(told26(headers('render'))).toEqual(none)
    expect(told26(headers('=?base64?cmVuZGVy?='))).toEqual(none)
    expect(told26(headers('other'))).toEqual(violation('header-mismatch'))
    const rig = journalRig()
    const id = rig.run(...post(0, toolCall(), '2026-07-28', headers('other')))
    expect(rig.journal.call(id)?.notices).toEqual(['Mcp-Name says "other", the body "render"'])
    expect(broken(...post(0, toolCall(), '2025-11-25', headers('other')))).toEqual(none)
  })
  test('batch-not-defined: a surprise from 2025-06-18', () => {
    const batch = `[${toolCall(1)},{"jsonrpc":"2.0","method":"notifications/initialized"}]`
    expect(broken(...post(0, batch, '2025-03-26'))).toEqual(none)
    expect(broken(...post(0, batch, '2025-11-25'))).toEqual(notice('batch-not-defined'))
  })
  test('cancelled-notification-over-http: a violation while the stream stays open, a notice where it closes', () => {
    const cancel = '{"method":"notifications/cancelled","params":{"requestId":7}}'
    const outcome = (closesMs: number | null) => {
      const rig = journalRig()
      const named = rig.run(...call(), ...(closesMs !== null && closesMs <= 100 ? cutAt(closesMs, clientAbort) : []))
      const id = rig.run(...post(100, cancel, '2026-07-28'), ...heads(101, [], 202), ...done(102))
      if (closesMs !== null && closesMs > 100) rig.tellTo(named, ...cutAt(closesMs, clientAbort))
      rig.until(1_000)
      const { violations = [], notices = [] } = rig.settled.find((one) => one.id === id) ?? {}
      return { violations, notices: notices.filter(isRuleId) }
    }
    expect(outcome(null)).toEqual(violation('cancelled-notification-over-http'))
    expect(outcome(5_000)).toEqual(violation('cancelled-notification-over-http'))
    expect(outcome(90)).toEqual(notice('cancelled-notification-over-http'))
    // The v2 client closes its listen stream and notifies at once: whichever arrives first.
    expect(outcome(110)).toEqual(notice('cancelled-notification-over-http'))
  })
  test('ids of one session: used again, or twice at once; at two clients they are two [mcp.ids]', () => {
    const rig = journalRig()
    const ask = (ms: number, id: string, more: RawHeaders, revision = '2025-11-25'): string =>
      rig.run(...post(ms, toolCall(id), revision, more))
    const answer = (id: string, ms: number, of: string): void => rig.tellTo(id, ...heads(ms), ...passed(ms, resultEvent(of)), ...done(ms))
    const rules = (id: string): readonly string[] => rig.journal.call(id)?.violations ?? []
    for (const id of ['0', '"0"', '9007199254740993', '9007199254740992']) answer(ask(1, id, SESSION), 2, id)
    expect(rig.settled.flatMap(({ violations }) => violations)).toEqual([])
    expect(rules(ask(10, '9007199254740993', SESSION))).toEqual(['request-id-reused'])
    const first = ask(20, '5', SESSION)
    expect([rules(first), rules(ask(21, '5', SESSION)), rules(ask(22, '5', ['Mcp-Session-Id', 's2']))]).toEqual([
      [],
      ['duplicate-id-in-flight'],
      [],
    ])
    // Without a session two clients may count alike.
    expect([rules(ask(30, '0', [], '2026-07-28')), rules(ask(31, '0', [], '2026-07-28'))]).toEqual([[], []])
    expect(broken(...post(0, `[${toolCall(1)},${toolCall(1)}]`, '2025-03-26', SESSION)).violations).toEqual(['duplicate-id-in-flight'])
  })
  test('a request that HTTP refused may come again as it is', () => {
    const rig = journalRig()
    rig.run(...post(0, toolCall(), '2025-11-25', SESSION), ...heads(4, [], 401), ...done(5))
    const again = rig.run(...post(10, toolCall(), '2025-11-25', SESSION), ...heads(14), ...passed(15, resultEvent()), ...done(16))
    expect(rig.settled.find(({ id }) => id === again)).toMatchObject({ violations: [], notices: [], retryOf: null })
  })
})

test('a resumption in 2026-07-28 is a surprise', () =>
  expect(
    broken(...get(0, '2026-07-28', ['Last-Event-ID', 'e1']), head(1, 'server', [], 405), head(1, 'client', [], 405), ...done(2)),
  ).toEqual(notice('resumption-not-defined')))
