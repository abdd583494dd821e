/** Which call a report is about, on numbers: ancestors, narrowing, order of arrival, links, limits. */
import { describe, expect, test } from 'vitest'
import { createCallIndex } from '../../src/work/call-index.ts'
import { globMatches } from '../../src/work/span.ts'
import { call, httpSpan, mcpSpan, parentOf, span, spanIdOf, TRACE, workRig } from '../support/otlp-spans.ts'

const OTHER = 'b'.repeat(32)

describe('ancestors', () => {
  test('a span under ours is the call’s; start and end are told on the exchange clock [work.ancestor]', () => {
    const r = workRig()
    r.register(call('c1'))
    r.at(4_000)
    r.spans(mcpSpan({ id: 2, startMs: 5, endMs: 3_900 }))
    expect(r.told).toEqual(['c1#7 otlp start 5', 'c1#7 otlp end 3900 ok'])
    expect(r.counted).toEqual(['otlp matched'])
  })
  test('the same trace is not enough', () => {
    const r = workRig()
    r.register(call('c1'))
    r.spans(mcpSpan({ id: 2, parent: null }))
    expect(r.told).toEqual([])
    expect(r.counted).toEqual(['otlp unmatched'])
  })
  test('the same span id in another trace is a stranger', () => {
    const r = workRig()
    r.register(call('c1'))
    r.spans(mcpSpan({ id: 2, trace: OTHER }))
    r.at(61_000)
    expect(r.counted).toEqual(['otlp unmatched'])
  })
  test('an HTTP server span links and never counts, whatever else it says [work.http-span-links]', () => {
    const r = workRig({ matchers: [{ name: '*' }] })
    r.register(call('c1'))
    r.spans(httpSpan({ id: 2, endMs: 319, attributes: { 'mcp.method.name': 'tools/call' } }), mcpSpan({ id: 3, parent: 2, endMs: 1_202 }))
    expect(r.told).toEqual(['c1#7 otlp start 0', 'c1#7 otlp end 1202 ok'])
  })
  test('children come first: they wait for the parent that links them [work.children-first]', () => {
    const r = workRig()
    r.register(call('c1'))
    r.spans(span({ id: 5, parent: 4, endMs: 900 }), mcpSpan({ id: 4, parent: 3, endMs: 1_000 }))
    expect([r.told, r.waiting()]).toEqual([[], 2])
    r.spans(span({ id: 3, parent: 2, kind: 1 }))
    expect(r.told).toEqual([])
    r.spans(httpSpan({ id: 2 }))
    expect(r.told).toContain('c1#7 otlp end 1000 ok')
    expect(r.waiting()).toBe(0)
    expect(r.counted).toEqual(['otlp matched'])
  })
  test('who waits in vain is unmatched after the wait, and forgotten', () => {
    const r = workRig()
    r.register(call('c1'))
    r.spans(mcpSpan({ id: 3, parent: 2 }))
    r.at(59_000)
    expect(r.counted).toEqual([])
    r.at(60_500)
    expect([r.counted, r.waiting()]).toEqual([['otlp unmatched'], 0])
    r.spans(httpSpan({ id: 2 }))
    expect(r.told).toEqual([])
  })
  test('a report may come before its call is understood', () => {
    const r = workRig()
    r.probe({ event: 'start', traceparent: parentOf(1), requestId: 7 })
    r.register(call('c1'))
    r.at(300)
    expect(r.told).toEqual(['c1#7 probe start 0'])
  })
  test('the nearest known span decides: a call inside a call is its own', () => {
    const r = workRig()
    r.register(call('outer'), call('inner', { spanIds: [spanIdOf(9), spanIdOf(3)], requestId: '0' }))
    r.spans(
      mcpSpan({ id: 2, parent: 1, endMs: 900 }),
      span({ id: 3, parent: 2, kind: 3, endMs: 800 }),
      mcpSpan({ id: 10, parent: 9, endMs: 700 }),
    )
    expect(r.told.filter((line) => line.includes('end'))).toEqual(['outer#7 otlp end 900 ok', 'inner#0 otlp end 700 ok'])
  })
  test('a ring of parents ends', () => {
    const r = workRig()
    r.spans(mcpSpan({ id: 2, parent: 3 }), mcpSpan({ id: 3, parent: 2 }))
    expect(r.counted).toEqual(['otlp unmatched', 'otlp unmatched'])
  })
})

describe('narrowing', () => {
  const shared = { spanIds: [spanIdOf(1)] }
  test('a thousand calls of one trace and one parent are told apart by id [work.thousand-share-a-trace]', () => {
    const r = workRig()
    for (let n = 0; n < 1_000; n += 1) r.register(call(`c${n}`, { ...shared, requestId: String(n) }))
    for (let n = 999; n >= 0; n -= 1) r.spans(mcpSpan({ id: 10 + n, endMs: n, attributes: { 'jsonrpc.request.id': String(n) } }))
    const endings = r.told.filter((line) => line.includes(' end '))
    expect(endings).toHaveLength(1_000)
    expect(endings.every((line) => /^c(\d+)#\1 otlp end \1 ok$/.test(line))).toBe(true)
  })
  test('one JSON-RPC id on two exchanges: by our own spans, else tool, else session, else ambiguous [work.never-guessed]', () => {
    const r = workRig()
    const [a, b] = [{ spanIds: [spanIdOf(2), spanIdOf(1)] }, { spanIds: [spanIdOf(3), spanIdOf(1)] }]
    r.register(call('a', { ...a, session: 's1' }), call('b', { ...b, session: 's2' }), call('c', { ...shared, tool: 'draw' }))
    const id = { 'jsonrpc.request.id': '7' }
    r.spans(mcpSpan({ id: 10, parent: 2, endMs: 1, attributes: id }), mcpSpan({ id: 11, parent: 3, endMs: 2, attributes: id }))
    r.spans(mcpSpan({ id: 12, endMs: 3, attributes: { ...id, 'gen_ai.tool.name': 'draw' } }))
    r.spans(mcpSpan({ id: 13, endMs: 4, attributes: { ...id, 'gen_ai.tool.name': 'render', 'mcp.session.id': 's2' } }))
    expect(r.told.filter((line) => line.includes(' end '))).toEqual([
      ...['a#7 otlp end 1 ok', 'b#7 otlp end 2 ok', 'c#7 otlp end 3 ok', 'b#7 otlp end 4 ok'],
    ])
    r.spans(mcpSpan({ id: 14, attributes: { ...id, 'gen_ai.tool.name': 'render' } }), mcpSpan({ id: 15, attributes: id }))
    expect(r.counted.slice(-2)).toEqual(['otlp ambiguous', 'otlp ambiguous'])
    expect(r.told.filter((line) => line.includes(' end '))).toHaveLength(4)
  })
  test('the calls of a batch are told apart [work.batch-told-apart]', () => {
    const r = workRig()
    r.register(
      call('c1', { requestId: '1' }),
      call('c1', { requestId: '"1x"' }),
      call('c1', { requestId: '3', method: 'tools/list', tool: null }),
    )
    r.spans(mcpSpan({ id: 2, endMs: 10, attributes: { 'jsonrpc.request.id': '1x' } }))
    r.spans(mcpSpan({ id: 3, endMs: 20, attributes: { 'mcp.method.name': 'tools/list' } }))
    r.probe({ event: 'end', traceparent: parentOf(1), requestId: 1, outcome: 'error' })
    expect(r.told.filter((line) => line.includes(' end '))).toEqual([
      'c1#"1x" otlp end 10 ok',
      'c1#3 otlp end 20 ok',
      'c1#1 probe end 0 error',
    ])
  })
  test('an id or method that contradicts is no match, even of the only call', () => {
    const r = workRig()
    r.register(call('c1'))
    r.spans(
      mcpSpan({ id: 2, attributes: { 'jsonrpc.request.id': '8' } }),
      mcpSpan({ id: 3, attributes: { 'mcp.method.name': 'tools/list' } }),
    )
    expect(r.counted).toEqual(['otlp unmatched', 'otlp unmatched'])
  })
  test('a call whose request was not understood is still found by its span', () => {
    const r = workRig()
    r.register(call('c1', { requestId: null, method: null, tool: null }))
    r.spans(mcpSpan({ id: 2, attributes: { 'jsonrpc.request.id': '8' } }))
    expect(r.told).toContain('c1#null otlp end 1000 ok')
  })
})

describe('descendants and links', () => {
  test('a descendant that ends later extends the work; one that ends earlier adds nothing [work.descendants-extend]', () => {
    const r = workRig()
    r.register(call('c1'))
    r.at(5_000)
    r.spans(
      span({ id: 4, parent: 3, kind: 1, endMs: 4_000 }),
      span({ id: 3, parent: 2, kind: 3, endMs: 30 }),
      mcpSpan({ id: 2, endMs: 3_040 }),
    )
    expect(r.told).toEqual(['c1#7 otlp start 0', 'c1#7 otlp end 3040 ok', 'c1#7 otlp end 4000 ok'])
  })
  test('a span of a linked trace, and its children, extend the work [work.linked-trace]', () => {
    const r = workRig()
    r.register(call('c1'))
    r.at(9_000)
    r.spans(span({ id: 6, parent: 5, trace: OTHER, endMs: 8_000, kind: 1 }))
    r.spans(mcpSpan({ id: 2, endMs: 10 }))
    r.spans(span({ id: 5, parent: null, trace: OTHER, endMs: 7_000, kind: 1, links: [{ trace: TRACE, id: 2 }] }))
    expect(r.told.slice(1)).toEqual(['c1#7 otlp end 10 ok', 'c1#7 otlp end 7000 ok', 'c1#7 otlp end 8000 ok'])
  })
  test('nested server spans (FastMCP) are one work', () => {
    const r = workRig()
    r.register(call('c1'))
    r.spans(
      mcpSpan({ id: 3, parent: 2, endMs: 990, attributes: { 'gen_ai.tool.name': 'mounted_render' } }),
      mcpSpan({ id: 2, endMs: 1_000 }),
    )
    expect(r.told).toEqual(['c1#7 otlp start 0', 'c1#7 otlp end 1000 ok'])
    expect(r.counted).toEqual(['otlp matched', 'otlp matched'])
  })
  test('descendants of an ambiguous span are not counted again', () => {
    const r = workRig()
    r.register(call('a'), call('b'))
    r.spans(mcpSpan({ id: 2 }), mcpSpan({ id: 3, parent: 2 }), span({ id: 4, parent: 3 }))
    expect(r.counted).toEqual(['otlp ambiguous'])
  })
  test('configured matchers count spans without MCP attributes [work.matchers]', () => {
    const r = workRig({ matchers: [{ attribute: 'rpc.job', equals: 'tool' }, { name: 'tool:*' }] })
    r.register(call('c1'))
    r.spans(
      span({ id: 2, name: 'other', endMs: 1 }),
      span({ id: 3, name: 'tool:render', endMs: 2 }),
      span({ id: 4, attributes: { 'rpc.job': 'tool' }, endMs: 3 }),
    )
    expect(r.told.filter((line) => line.includes('end'))).toEqual(['c1#7 otlp end 2 ok', 'c1#7 otlp end 3 ok'])
  })
})

describe('limits', () => {
  test('calls beyond the limit push out the oldest, and it is counted', () => {
    const index = createCallIndex({ callsMax: 2 })
    for (const id of ['a', 'b', 'c']) index.register(call(id, { spanIds: [spanIdOf(id.charCodeAt(0))] }))
    expect([index.liveCount(), index.evictedCount()]).toEqual([2, 1])
    expect(index.find(TRACE, spanIdOf(97), { requestId: '7', method: null, tool: null, session: null })).toMatchObject({
      is: 'one',
      isSettled: true,
    })
  })
  test('settled calls are remembered in bounded number', () => {
    const index = createCallIndex({ callsMax: 5 })
    for (let n = 1; n <= 10_010; n += 1) {
      index.register(call(`c${n}`, { spanIds: [spanIdOf(n)] }))
      index.forget(`c${n}`)
    }
    expect([index.isKnown(TRACE, spanIdOf(10)), index.isKnown(TRACE, spanIdOf(11)), index.liveCount()]).toEqual([false, true, 0])
  })
  test('spans and waiters are bounded; who is pushed out is told', () => {
    const r = workRig({ spansMax: 100 })
    for (let n = 0; n < 10_100; n += 1) r.spans(mcpSpan({ id: 1_000 + n, parent: 500_000 + n, kind: 1 }))
    expect(r.waiting()).toBe(10_000)
    expect(r.counted).toHaveLength(100)
  })
})

test.each([
  ['a*c', 'abc', true],
  ['a*c', 'ac', true],
  ['a*c', 'acb', false],
  ['*', '', true],
  ['ab*ba', 'aba', false],
  ['a*b*c', 'a-b-b-c', true],
  ['plain', 'plainer', false],
])('the pattern %s on %s: %s', (pattern, text, expected) => {
  expect(globMatches(pattern, text)).toBe(expected)
})
