/** A path of hops: what each makes of silence, loss, leaving and traffic. Time is a number. */
import { expect, test } from 'vitest'
import { compileLine } from '../../src/hops/compile.ts'
import type { Hop } from '../../src/hops/hop.ts'
import {
  answer,
  buffering,
  done,
  event,
  gone,
  half,
  hop,
  idle,
  json,
  left,
  limit,
  pieces,
  progress,
  raw,
  rig,
  sse,
  total,
} from '../support/line-rig.ts'

const path = (...hops: Hop[]) => rig(compileLine(hops, []))

test('idle covers the wait for the headers: the hop answers 504 and the server is told by a loss [hops.idle-covers-wait]', () => {
  const r = path(hop('nginx', { idle: idle(60_000) }))
    .ask()
    .until(60_000)
  expect(r.toClient()).toEqual(['+60000 head 504', '+60000 oh 504', '+60000 end idle_timeout'])
  expect(r.toServer()).toEqual(['+0 request', '+0 asked', '+60000 lost fin idle_timeout'])
  expect(r.closings).toEqual([{ cause: 'idle_timeout', seat: 'nginx', ending: 'clean', atMs: 60_000 }])
  expect(r.line.wakeAtMs()).toBeNull()
})
test('limits arm when the request has passed whole, and a keep-alive holds idle off', () => {
  const r = path(hop('nginx', { idle: idle(1_000) }))
    .ask(5_000)
    .server(5_900, sse)
    .server(6_800, raw(': ping\n\n'))
    .until(7_799)
  expect(r.closings).toEqual([])
  expect(r.until(7_800).toClient().at(-1)).toBe('+7800 lost fin idle_timeout')
})
test('where a hop has `headers`, that governs the wait; `none` leaves it without limit', () => {
  const both = path(hop('envoy', { headers: limit(5_000), idle: idle(1_000) })).ask()
  expect(both.until(4_999).closings).toEqual([])
  expect(both.until(5_000).closings[0]).toMatchObject({ cause: 'header_timeout' })
  const none = path(hop('haproxy', { headers: 'none', idle: idle(1_000) }))
    .ask()
    .until(99_000)
    .server(99_000, sse)
    .until(100_000)
  expect(none.closings).toEqual([{ cause: 'idle_timeout', seat: 'haproxy', ending: 'fin', atMs: 100_000 }])
})
test('an inner full buffer starves an outer idle [hops.order]', () => {
  const r = path(hop('outer', { idle: idle(1_000) }), hop('inner', { buffering: buffering('full') }))
    .ask()
    .server(10, sse)
  for (let atMs = 300; atMs <= 1_800; atMs += 300) r.server(atMs, event('x'))
  expect(r.toClient()).toEqual(['+10 head 200', '+1010 lost fin idle_timeout'])
  expect(r.toServer().at(-1)).toBe('+1010 lost fin idle_timeout')
})
test('inside one hop the limit is before the buffer, and sees the traffic', () => {
  const r = path(hop('one', { idle: idle(1_000), buffering: buffering('full') }))
    .ask()
    .server(10, sse)
  for (let atMs = 300; atMs <= 1_800; atMs += 300) r.server(atMs, event('x'))
  expect(r.closings).toEqual([])
  expect(r.server(2_000, done).toClient().slice(1)).toEqual([...Array<string>(6).fill('+2000 data: x⏎⏎'), '+2000 end complete'])
})
test('an outer `headers: 900ms → 502` in front of an inner hop that holds the headers', () => {
  const r = path(
    hop('outer', { headers: limit(900, { answer: answer(502) }) }),
    hop('inner', { buffering: buffering('full', { holdHeaders: true }) }),
  )
  r.ask().server(5, sse, event('a')).server(800, event('b')).until(900).server(950, event('c'), done)
  expect(r.toClient()).toEqual(['+900 head 502', '+900 oh 502', '+900 end header_timeout'])
  expect(r.toServer().at(-1)).toBe('+900 lost fin header_timeout')
  expect(r.closings).toEqual([{ cause: 'header_timeout', seat: 'outer', ending: 'clean', atMs: 900 }])
})
test.each([
  ['flush', ['+100 head 200', '+100 data: a⏎⏎', '+100 data: b⏎⏎', '+100 lost fin idle_timeout']],
  ['headers', ['+100 head 200', '+100 lost fin idle_timeout']],
  ['answer', ['+100 head 502', '+100 oh 502', '+100 end idle_timeout']],
] as const)("an inner hop's cut with bytes held by an outer buffer: %s [hops.at-cut]", (atCut, expected) => {
  const r = path(hop('outer', { buffering: buffering('full', { holdHeaders: true, atCut }) }), hop('inner', { idle: idle(90) })).ask()
  r.server(5, sse, event('a')).server(10, event('b')).until(100)
  expect(r.toClient()).toEqual(expected)
  expect(r.closings[0]).toMatchObject({ cause: 'idle_timeout', seat: 'inner' })
})
test("a hop's own limit answers with its own answer while its buffer still holds the head", () => {
  const r = path(
    hop('varnish', { idle: idle(90, { answer: answer(503) }), buffering: buffering('full', { holdHeaders: true, atCut: 'answer' }) }),
  ).ask()
  expect(r.server(5, sse, event('a')).until(95).toClient()).toEqual(['+95 head 503', '+95 oh 503', '+95 end idle_timeout'])
})
test('total cuts under constant traffic', () => {
  const r = path(hop('gateway', { total: total(29_000) }))
    .ask()
    .server(1, sse)
  for (let atMs = 100; atMs < 40_000; atMs += 100) r.server(atMs, event('tick'))
  expect(r.closings).toEqual([{ cause: 'max_duration', seat: 'gateway', ending: 'fin', atMs: 29_000 }])
  expect(r.toClient().at(-2)).toBe('+29000 data: tick⏎⏎') // on a tie, traffic beats the timer
  expect(r.toServer().at(-1)).toBe('+29000 lost fin max_duration')
})
test('idle that counts events is not held off by comments; one that counts progress only by progress [hops.counts]', () => {
  const events = path(hop('h', { idle: idle(1_000, { counts: 'events' }) }))
    .ask()
    .server(0, sse, event('a'))
    .server(900, ...pieces(': ping\n\n'))
    .until(1_000)
  expect(events.closings[0]).toMatchObject({ cause: 'idle_timeout', atMs: 1_000 })
  const only = path(hop('h', { idle: idle(1_000, { counts: 'progress' }) }))
    .ask()
    .server(0, sse, ...pieces(progress()))
    .server(500, ...pieces(progress()))
    .server(900, event('a'))
    .until(1_500)
  expect(only.closings[0]).toMatchObject({ atMs: 1_500 })
})
test('a FIN from the client with `afterWrites: 2`: the server is told at the second write [hops.client-abort]', () => {
  const r = path(
    hop('apache', { clientAbort: { midStream: { afterWrites: 2 }, beforeHeaders: 'never', halfClose: 'abort', upstream: 'fin' } }),
  ).ask()
  r.server(10, sse).server(20, event('a')).client(1_000, half).server(1_046, event('b'))
  expect(r.closings).toEqual([{ cause: 'client_abort', seat: null, ending: 'fin', atMs: 1_000 }])
  expect(r.toServer()).toEqual(['+0 request', '+0 asked'])
  expect(r.server(1_246, event('c')).toServer().at(-1)).toBe('+1246 lost fin client_abort')
})
test('tolerated half-close: a FIN alone is not leaving; the reset that a write provokes is', () => {
  const r = path(
    hop('apache', { clientAbort: { midStream: { afterWrites: 1 }, beforeHeaders: 'never', halfClose: 'tolerate', upstream: 'rst' } }),
  ).ask()
  r.server(10, sse).client(1_000, half).server(1_046, event('b'))
  expect(r.closings).toEqual([])
  r.client(1_047, left('rst')).server(1_246, event('c'))
  expect(r.toServer().at(-1)).toBe('+1246 lost rst client_reset')
  expect(r.closings).toEqual([{ cause: 'client_reset', seat: null, ending: 'rst', atMs: 1_047 }])
})
test('`never`: the server is not told, works on into nothing, and its end passes unseen', () => {
  const r = path(hop('varnish', { clientAbort: { midStream: 'never', beforeHeaders: 'never', halfClose: 'abort', upstream: 'fin' } })).ask()
  r.client(50, left('rst')).server(60, sse, event('a'), done)
  expect(r.toServer()).toEqual(['+0 request', '+0 asked'])
  expect(r.toClient()).toEqual([])
})
test('upstream loss: 502 before the headers, truncated after them, and a reset is never passed on', () => {
  expect(path(hop('nginx')).ask().server(5, gone('rst')).toClient()).toEqual(['+5 head 502', '+5 oh 502', '+5 end server_reset'])
  expect(path(hop('nginx')).ask().server(5, sse, gone('rst')).toClient()).toEqual(['+5 head 200', '+5 lost fin server_reset'])
})
test('upstream loss made clean: a stream ends, a body of promised length cannot', () => {
  const caddy = hop('caddy', { upstreamLoss: { beforeHeaders: answer(502), midStream: { fin: 'clean', rst: 'clean' } } })
  expect(path(caddy).ask().server(5, sse, event('a'), gone('rst')).closings).toEqual([
    { cause: 'server_reset', seat: null, ending: 'clean', atMs: 5 },
  ])
  expect(path(caddy).ask().server(5, json, raw('{"a'), gone('fin')).closings[0]).toMatchObject({ ending: 'fin' })
})
test("an inner hop's 504 is to an outer hop a response like any other [hops.inner-answer]", () => {
  const r = path(hop('outer', { headers: limit(2_000, { answer: answer(599) }) }), hop('inner', { headers: limit(1_000) }))
    .ask()
    .until(5_000)
  expect(r.toClient()).toEqual(['+1000 head 504', '+1000 oh 504', '+1000 end header_timeout'])
})
test('buffering by bytes, by time, one behind, and switched off by a header', () => {
  const bytes = path(hop('h', { buffering: buffering({ bytes: 20 }, { holdHeaders: true }) }))
    .ask()
    .server(1, sse, event('a'))
    .server(2, event('b'))
    .server(3, event('c'), done)
  expect(bytes.toClient()).toEqual(['+3 head 200', '+3 data: a⏎⏎', '+3 data: b⏎⏎', '+3 da', '+3 ta: c⏎⏎', '+3 end complete'])
  const time = path(hop('h', { buffering: buffering({ everyMs: 200 }) }))
    .ask()
    .server(1, sse, event('a'))
    .server(100, event('b'))
    .until(201)
  expect(time.toClient()).toEqual(['+1 head 200', '+201 data: a⏎⏎', '+201 data: b⏎⏎'])
  const behind = path(hop('h', { buffering: buffering('one-behind') }))
    .ask()
    .server(1, sse, ...pieces('data: a\n\ndata: b', '\n\n'))
    .server(9, done)
  expect(behind.toClient()).toEqual(['+1 head 200', '+1 data: a⏎⏎', '+9 data: b', '+9 ⏎⏎', '+9 end complete'])
  const off = path(hop('h', { buffering: buffering('full', { honours: ['x-accel-buffering'] }) })).ask()
  expect(off.server(1, { ...sse, rawHeaders: [...sse.rawHeaders, 'X-Accel-Buffering', 'no'] }, event('a')).toClient()).toHaveLength(2)
})
test('a client that does not read: the server is held, the clock of the limits stands still', () => {
  const r = path(hop('h', { idle: idle(1_000) }))
    .ask()
    .server(0, sse)
  r.line.pressed('client', true, 500)
  r.until(5_000).line.pressed('client', false, 5_000)
  expect(r.holds()).toEqual(['+500 hold server', '+5000 resume server'])
  expect(r.until(5_499).closings).toEqual([])
  expect(r.until(5_500).closings[0]).toMatchObject({ cause: 'idle_timeout' })
})
test('a buffering hop reads on while the client does not', () => {
  const r = path(hop('h', { buffering: buffering('none', { holdHeaders: true }) }))
    .ask()
    .server(0, sse, event('x'))
  r.line.pressed('client', true, 1)
  r.server(2, event('a'), event('b'))
  expect([r.holds(), r.toClient().length, r.line.heldBytes()]).toEqual([[], 2, 18])
  r.line.pressed('client', false, 3)
  expect(r.toClient().slice(2)).toEqual(['+3 data: a⏎⏎', '+3 data: b⏎⏎'])
})
