/** What exchanges mean for each other: retries and their harm, storms, resumption, the stream of 2024-11-05, tasks, and how little is kept. */
import { describe, expect, test } from 'vitest'
import type { Fact } from '../../src/core/fact.ts'
import type { Moment } from '../../src/core/ledger.ts'
import { readAsk } from '../../src/core/mcp/ask.ts'
import { PEERS_MAX, QUIET_MS_MAX } from '../../src/core/mcp/peers.ts'
import { STORM_MIN } from '../../src/core/mcp/reissues.ts'
import { ENDLESS_MIN } from '../../src/core/mcp/streams.ts'
import type { RawHeaders } from '../../src/core/signal.ts'
import type { JournalRig } from '../support/journal-rig.ts'
import { journalRig } from '../support/journal-rig.ts'
import {
  at,
  call,
  clientAbort,
  closed,
  complete,
  cutAt,
  done,
  finished,
  heads,
  JSON_HEAD,
  json,
  mark,
  opened,
  passed,
  report,
  resultEvent,
  resultText,
  toolCall,
  understood,
} from '../support/ledger-rig.ts'

const SESSION: RawHeaders = ['Mcp-Session-Id', 's1']
const body = (id: number | string, params: string, token: number | string = 1): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"_meta":{"progressToken":${token}},${params}}}`
const SEARCH = '"name":"search","arguments":{"q":"x"}'
const post = (ms: number, text: string, revision: string | null = '2026-07-28', more: RawHeaders = [], connection = 1): Fact[] => [
  { ...opened(ms), connection } as Fact,
  understood(ms, text, revision, more),
  { kind: 'asked', atMs: at(ms) },
]
const get = (ms: number, more: RawHeaders = [], target = '/mcp'): Fact[] => {
  const rawHeaders: RawHeaders = ['Accept', 'text/event-stream', 'User-Agent', 'inspector/1', ...more]
  const ask = readAsk({ method: 'GET', target, rawHeaders }, null)
  return [{ ...opened(ms, rawHeaders), method: 'GET', target } as Fact, { kind: 'understood', atMs: at(ms), ask }]
}
const tools = (annotations: string): Fact[] => [
  ...post(0, '{"jsonrpc":"2.0","id":"list","method":"tools/list"}'),
  ...heads(1, JSON_HEAD),
  json(1, `{"jsonrpc":"2.0","id":"list","result":{"tools":[{"name":"search","annotations":{${annotations}}}]}}`),
  ...done(1),
]

function rigOf(): { rig: JournalRig; told: (is: Moment['is']) => Moment[] } {
  const moments: Moment[] = []
  const rig = journalRig({ sinks: [{ name: 'moments', moment: (_, moment) => void moments.push(moment) }] })
  return { rig, told: (is) => moments.filter((moment) => moment.is === is) }
}

describe('a call that comes again after a cut', () => {
  test('is known by who asks and what, not by id, token or the order of parameters [mcp.retries]', () => {
    const { rig, told } = rigOf()
    const first = rig.run(...post(0, body(1, SEARCH)), ...heads(2), ...cutAt(1_000))
    const other = rig.run(...post(1_100, body(2, '"name":"search","arguments":{"q":"y"}')))
    const stranger = rig.run(
      ...post(1_100, body(2, SEARCH), '2026-07-28', ['User-Agent', 'x']).map((fact) =>
        fact.kind === 'understood' ? { ...fact, ask: { ...fact.ask, client: 'stranger' } } : fact,
      ),
    )
    const again = rig.run(...post(1_200, body('"b"', '"arguments":{"q":"x"},"name":"search"', '"t"')))
    expect([other, stranger, again].map((id) => rig.journal.call(id)?.retryOf)).toEqual([null, null, first])
    expect(rig.journal.call(first)?.timeline).toContainEqual([1_200, 'reissued-as', again])
    expect(told('retry')).toEqual([{ is: 'retry', how: 'reissued' }])
    // It is told once: a third is a call of its own while the second is open.
    expect(rig.journal.call(rig.run(...post(1_300, body(4, SEARCH))))?.retryOf).toBeNull()
  })
  test('later than five minutes, or after a whole answer, it is a new call', () => {
    const { rig } = rigOf()
    rig.run(...post(0, body(1, SEARCH)), ...heads(2), ...cutAt(1_000))
    const late = rig.run(...post(301_001, body(2, SEARCH)), ...heads(301_002), ...passed(301_003, resultEvent(2)), ...done(301_004))
    expect([rig.journal.call(late)?.retryOf, rig.journal.call(rig.run(...post(301_010, body(3, SEARCH))))?.retryOf]).toEqual([null, null])
  })
  test('in a new session, after the old one was lost', () => {
    const { rig } = rigOf()
    const first = rig.run(...post(0, body(1, SEARCH), '2025-11-25', SESSION), ...heads(2), ...cutAt(1_000))
    expect(rig.journal.call(rig.run(...post(2_000, body(1, SEARCH), '2025-11-25', ['Mcp-Session-Id', 's2'])))).toMatchObject({
      retryOf: first,
      violations: [],
    })
  })
  test('under its old id breaks a rule where it is surely the same client', () => {
    const reissue = (connection: number, beginsAnew: boolean): unknown => {
      const { rig } = rigOf()
      rig.run(...post(0, body(1, SEARCH), '2026-07-28', [], 5), ...heads(2), ...cutAt(1_000))
      if (beginsAnew) rig.run(...post(1_050, '{"id":"server-discover-probe-1","method":"server/discover"}', '2026-07-28', [], 5))
      const { violations, notices } = rig.journal.call(rig.run(...post(1_100, body(1, SEARCH), '2026-07-28', [], connection))) ?? {}
      return [violations, notices?.[0]]
    }
    expect(reissue(5, false)).toEqual([['request-id-reused'], 'c1, which was lost, had the same id'])
    expect(reissue(6, false)).toEqual([[], 'request-id-reused'])
    expect(reissue(5, true)).toEqual([[], 'request-id-reused'])
  })
  test('a result that was there and never arrived is told [mcp.undelivered]', () => {
    const { rig } = rigOf()
    rig.run(...post(0, body(1, SEARCH)), ...heads(2, JSON_HEAD), json(900, resultText(1)), closed(901, clientAbort), finished(901))
    const again = rig.run(...post(1_000, body(2, SEARCH)))
    expect(rig.journal.call(again)?.notices).toEqual([
      'the server had finished c1; its result never reached the client, and is asked for again',
    ])
  })
  test('five times in a minute is a storm, with its rate [mcp.storms]', () => {
    const { rig } = rigOf()
    const ids = Array.from({ length: STORM_MIN + 2 }, (_, n) =>
      rig.run(...post(n * 1_000, body(n, SEARCH)), ...heads(n * 1_000 + 1), ...cutAt(n * 1_000 + 500)),
    )
    const stormy = ids.filter((id) => rig.journal.call(id)?.notices.includes('retry-storm'))
    expect(stormy).toEqual(ids.slice(STORM_MIN))
    expect(rig.journal.call(stormy[0] ?? '')?.notices).toContain('issued 6 times in 5.0 s')
  })
})

describe('duplicate work', () => {
  const overlap = (annotations: string | null, endMs: number | null): { count: number; notices: readonly string[] } => {
    const { rig, told } = rigOf()
    if (annotations !== null) rig.run(...tools(annotations))
    const first = rig.run(...post(10, body(1, SEARCH)), ...heads(12), ...cutAt(1_000))
    rig.run(...post(2_000, body(2, SEARCH)))
    rig.until(5_000)
    if (endMs !== null) rig.journal.reportWork(first, report('end', endMs))
    rig.until(100_000)
    return { count: told('duplicate_work').length, notices: rig.settled.find(({ id }) => id === first)?.notices ?? [] }
  }
  test('is work that went on when the call came again; what nobody reported is not guessed [mcp.duplicate-work]', () => {
    expect(overlap(null, 4_000)).toMatchObject({ count: 1, notices: ['duplicate-work', expect.stringContaining('in no list seen here')] })
    expect(overlap(null, 1_900)).toEqual({ count: 0, notices: [] })
    expect(overlap(null, null)).toEqual({ count: 0, notices: [] })
  })
  test('its harm is what the tools list says', () => {
    expect(overlap('', 4_000).notices[1]).toContain('its effects may happen twice')
    expect(overlap('"idempotentHint":true', 4_000).notices[1]).toContain('idempotent: only its effort')
    expect(overlap('"readOnlyHint":true', 4_000).notices[1]).toContain('read-only: only its effort')
  })
})

describe('GET streams', () => {
  const idEvent = (id: string): ReturnType<typeof mark> => mark(`id: ${id}\ndata: \n\n`)
  test('a resumption takes the abandonment back, and brings the result [mcp.resumption]', () => {
    const { rig, told } = rigOf()
    const first = rig.run(
      ...post(0, toolCall(7), '2025-11-25', SESSION),
      ...heads(2),
      ...passed(3, idEvent('a')),
      ...passed(4, idEvent('b')),
      ...cutAt(1_000),
    )
    expect(rig.journal.call(first)).toMatchObject({ abandonedMs: 1_000, abandonedBy: 'close' })
    // The client got `a` only.
    const resumed = rig.run(...get(2_000, [...SESSION, 'Last-Event-ID', 'a', 'MCP-Protocol-Version', '2025-11-25']), ...heads(2_001))
    expect(rig.journal.call(first)).toMatchObject({ abandonedMs: null, toldMs: null, closedMs: 1_000 })
    rig.tellTo(resumed, ...passed(70_000, resultEvent(7)), ...done(70_001))
    expect(rig.settled.find(({ id }) => id === first)).toMatchObject({
      result: 'sent',
      cause: 'idle_timeout',
      abandonedMs: null,
      violations: [],
      work: { outcome: 'finished', endedMs: 70_000 },
    })
    expect(rig.journal.call(resumed)).toMatchObject({ retryOf: first, violations: [], notices: [] })
    expect(told('retry')).toEqual([{ is: 'retry', how: 'resumed' }])
  })
  test('what the server says again, because the client had not got it, is no progress that went back [mcp.resumption]', () => {
    const progress = (value: number): ReturnType<typeof mark> =>
      mark(`id: p${value}\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":${value}}}\n\n`)
    const ruleOf = (...values: readonly number[]): readonly string[] | undefined => {
      const { rig } = rigOf()
      const first = rig.run(
        ...post(0, body(7, SEARCH), '2025-11-25', SESSION),
        ...heads(2),
        ...passed(3, progress(1)),
        { kind: 'event', atMs: at(4), at: 'server', mark: progress(2) }, // cut off before it was sent on
        ...cutAt(1_000),
      )
      const resumed = rig.run(...get(2_000, [...SESSION, 'Last-Event-ID', 'p1', 'MCP-Protocol-Version', '2025-11-25']), ...heads(2_001))
      for (const [n, value] of values.entries()) rig.tellTo(resumed, ...passed(2_100 + n, progress(value)))
      rig.tellTo(resumed, ...passed(2_200, resultEvent(7)), ...done(2_201))
      return rig.settled.find(({ id }) => id === first)?.violations
    }
    expect(ruleOf(2, 3, 4)).toEqual([])
    expect(ruleOf(2, 3, 2)).toEqual(['progress-not-increasing'])
    expect(ruleOf(3, 3)).toEqual(['progress-not-increasing'])
  })
  test('a resumed stream that is lost gives the call up there', () => {
    const { rig } = rigOf()
    const first = rig.run(...post(0, toolCall(7), '2025-11-25', SESSION), ...heads(2), ...passed(3, idEvent('a')), ...cutAt(1_000))
    rig.run(...get(2_000, [...SESSION, 'Last-Event-ID', 'a']), ...heads(2_001), ...cutAt(5_000))
    expect(rig.journal.call(first)).toMatchObject({ abandonedMs: 5_000, abandonedBy: 'close', result: 'none' })
  })
  test('an answer to nobody on a session’s stream breaks a rule; a server’s own words do not', () => {
    const { rig } = rigOf()
    const stream = rig.run(
      ...get(0, [...SESSION, 'MCP-Protocol-Version', '2025-11-25']),
      ...heads(1),
      ...passed(2, mark('data: {"method":"notifications/message"}\n\n')),
    )
    expect(rig.journal.call(stream)?.violations).toEqual([])
    rig.tellTo(stream, ...passed(3, resultEvent(99)))
    expect(rig.journal.call(stream)?.violations).toEqual(['result-to-wrong-id'])
  })
  test('endless reconnects are named, with their reason [mcp.storms]', () => {
    const { rig, told } = rigOf()
    const ids = Array.from({ length: ENDLESS_MIN + 2 }, (_, n) => {
      const ms = n * 1_300
      return rig.run(
        ...get(ms, [...SESSION, 'MCP-Protocol-Version', '2025-11-25']),
        ...heads(ms + 1, JSON_HEAD),
        json(ms + 2, '{}'),
        ...done(ms + 2),
      )
    })
    const named = ids.filter((id) => rig.journal.call(id)?.notices.includes('endless-reconnect'))
    expect(named).toEqual(ids.slice(ENDLESS_MIN))
    expect(
      rig.journal.call(named[0] ?? '')?.notices.some((text) => text.includes('the last was answered 200 without an event stream')),
    ).toBe(true)
    expect(told('retry')).toHaveLength(ids.length - 1)
  })
  test('the stream of 2024-11-05, its address with or without a session id [mcp.http-sse]', () => {
    for (const address of ['/messages?sessionId=s9', 'http://host:1/messages/s9']) {
      const { rig } = rigOf()
      const stream = rig.run(...get(0, [], '/sse'), ...heads(1), ...passed(2, mark(`event: endpoint\ndata: ${address}\n\n`)))
      const target = address.replace('http://host:1', '')
      const to = (ms: number, text: string): Fact[] =>
        post(ms, text, null).map((fact) =>
          fact.kind === 'opened'
            ? { ...fact, target }
            : fact.kind === 'understood'
              ? { ...fact, ask: readAsk({ method: 'POST', target, rawHeaders: [] }, text) }
              : fact,
        )
      const initialize = rig.run(
        ...to(10, '{"id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}'),
        ...heads(11, [], 202),
        ...done(12),
      )
      rig.tellTo(stream, ...passed(13, mark('data: {"id":0,"result":{"protocolVersion":"2024-11-05"}}\n\n')))
      expect(rig.journal.call(initialize)).toMatchObject({ result: 'sent', violations: [] })
      const id = rig.run(...to(20, toolCall(7)), ...heads(21, [], 202), ...done(22))
      rig.until(200_000) // far beyond the wait for a report: its answer is still awaited
      expect(rig.journal.call(id)).toMatchObject({
        revision: '2024-11-05',
        result: 'none',
        abandonedMs: null,
        work: { outcome: 'pending' },
      })
      rig.tellTo(stream, ...passed(200_100, resultEvent(7)))
      expect(rig.settled.find((record) => record.id === id)).toMatchObject({
        result: 'sent',
        closedMs: 2,
        work: { outcome: 'finished', endedMs: 200_080 },
      })
      const lost = rig.run(...to(200_200, toolCall(8)), ...heads(200_201, [], 202), ...done(200_202))
      rig.tellTo(stream, ...cutAt(200_300))
      expect(rig.journal.call(lost)).toMatchObject({ abandonedMs: 100, abandonedBy: 'close', result: 'none' })
      expect(rig.journal.call(stream)?.violations).toEqual([])
    }
  })
})

test('what a cut could not destroy: a task whose wait was cut lives on [mcp.tasks]', () => {
  const { rig } = rigOf()
  const handed = rig.run(...call(), ...passed(9, resultEvent(7, ',"resultType":"task","taskId":"t1","status":"working"')), ...done(10))
  expect(rig.settled.find(({ id }) => id === handed)?.work.outcome).toBe('delegated')
  const ask = (ms: number, id: number, method: string): Fact[] => [
    ...post(ms, `{"id":${id},"method":"${method}","params":{"taskId":"t1"}}`),
    ...heads(ms + 1),
  ]
  const cut = rig.run(...ask(100, 8, 'tasks/get'), ...cutAt(200))
  expect(rig.journal.call(cut)).toMatchObject({ notices: ['task-survives-cut', 'the task of c1 lives on'], retryOf: null })
  const cancel = rig.run(
    ...ask(300, 9, 'tasks/cancel'),
    ...passed(310, resultEvent(9, ',"taskId":"t1","status":"cancelled"')),
    ...done(311),
  )
  expect(rig.journal.call(cancel)?.notices).toEqual([
    'asks to cancel the task of c1',
    'the task of c1 is over: it is cancelled, 0.3 s after it was handed out',
  ])
})

describe('what is kept', () => {
  test('many exchanges of many sessions leave it flat [mcp.bounded]', () => {
    const rig = journalRig({ waitMs: 100 })
    let peak = 0
    for (let n = 0; n < 20_000; n += 1) {
      const ms = n * 10
      const more: RawHeaders = n % 3 === 0 ? [] : ['Mcp-Session-Id', `s${n % 8_000}`]
      const revision = n % 3 === 0 ? '2026-07-28' : '2025-11-25'
      const ends = n % 2 === 0 ? [...passed(ms + 2, resultEvent(n)), ...done(ms + 3)] : cutAt(ms + 3)
      rig.run(...post(ms, body(n, `"name":"t${n}"`), revision, more), ...heads(ms + 1), ...ends)
      if (n % 1_000 === 999) peak = Math.max(peak, ...Object.values(rig.journal.sizes()))
    }
    expect(peak).toBeLessThanOrEqual(10_100)
    rig.until(20_000 * 10 + 1_000)
    const { peers, exchanges, moments } = rig.journal.sizes()
    expect(peers).toBeLessThanOrEqual(PEERS_MAX + 1)
    expect([exchanges, moments]).toEqual([0, 0])
  })
  test('a session that is quiet for long is forgotten, but not while its stream is open', () => {
    const rig = journalRig()
    const stream = rig.run(...get(0, SESSION), ...heads(1))
    for (let n = 0; n < 10; n += 1)
      rig.run(...post(n, toolCall(n), '2025-11-25', ['Mcp-Session-Id', `q${n}`]), ...heads(n), ...passed(n, resultEvent(n)), ...done(n))
    const before = rig.journal.sizes().peers
    rig.run(...post(QUIET_MS_MAX + 100, toolCall(1), '2025-11-25', ['Mcp-Session-Id', 'new']))
    expect([before > 10, rig.journal.sizes().peers]).toEqual([true, 3])
    rig.tellTo(stream, { kind: 'closed', atMs: at(QUIET_MS_MAX + 200), cause: complete, ending: 'clean' }, finished(QUIET_MS_MAX + 200))
    expect(rig.journal.call(stream)?.violations).toEqual([])
  })
  test('DELETE ends a session at once', () => {
    const rig = journalRig()
    rig.run(...post(0, toolCall(1), '2025-11-25', SESSION), ...heads(1), ...passed(2, resultEvent(1)), ...done(3))
    const before = rig.journal.sizes().peers
    const ask = readAsk({ method: 'DELETE', target: '/mcp', rawHeaders: SESSION }, null)
    rig.run({ ...opened(10, SESSION), method: 'DELETE' } as Fact, { kind: 'understood', atMs: at(10), ask }, ...heads(11, []), ...done(12))
    expect(rig.journal.sizes().peers).toBe(before - 1)
  })
})
