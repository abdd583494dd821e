/** A hop's timers: when each arms, what moves it, how the server is told, and what a cut may not do. Time is a number. */
import { expect, test } from 'vitest'
import { compileHop, compileLine } from '../../src/hops/compile.ts'
import type { Hop } from '../../src/hops/hop.ts'
import { asked, buffering, done, event, hop, idle, left, limit, raw, request, rig, sse, total } from '../support/line-rig.ts'

const path = (...hops: Hop[]) => rig(compileLine(hops, []))

test('every cut of a hop names its unique seat and its preset [hops.cause-names-hop]', () => {
  const causes: unknown[] = []
  const plans = compileHop(hop('path[1]:nginx', { preset: 'nginx', idle: idle(50) }))
  rig(plans, { mayCut: (cause) => causes.push(cause) > 0 })
    .ask()
    .until(50)
  expect(causes).toEqual([{ kind: 'idle_timeout', seat: 'path[1]:nginx', hop: 'nginx', silenceMs: 50 }])
})
test('rearm: traffic sooner than it after the last arming does not move the timer [hops.rearm]', () => {
  const cutAfter = (atMs: number): number | undefined =>
    path(hop('nginx', { idle: idle(2_000, { rearmMs: 300 }) }))
      .ask()
      .server(2, sse, event('a'))
      .server(atMs, event('b'))
      .until(9_000).closings[0]?.atMs
  expect(cutAfter(200)).toBe(2_000) // as nginx: up to 300 ms early
  expect(cutAfter(299)).toBe(2_000)
  expect(cutAfter(300)).toBe(2_300)
})
test('rearm counts from the last arming, not from the last traffic', () => {
  const r = path(hop('nginx', { idle: idle(2_000, { rearmMs: 300 }) }))
    .ask()
    .server(1, sse)
  for (let atMs = 200; atMs <= 800; atMs += 200) r.server(atMs, event('x'))
  // Armed at 0, 400 and 800.
  expect(r.until(9_000).closings).toMatchObject([{ cause: 'idle_timeout', atMs: 2_800 }])
})
test('total from the headers does not run before them [hops.total-from-headers]', () => {
  const r = path(hop('varnish', { total: total(4_000, { from: 'headers' }) }))
    .ask()
    .until(9_000)
    .server(9_000, sse)
  for (let atMs = 9_500; atMs < 14_000; atMs += 500) r.server(atMs, event('x'))
  expect(r.closings).toMatchObject([{ cause: 'max_duration', atMs: 13_000 }])
})
test('total at the next write: due, it waits for the server, and that write is not passed on [hops.total-next-write]', () => {
  const r = path(hop('varnish', { total: total(4_000, { from: 'headers', at: 'next-write', upstream: { afterWrites: 1 } }) }))
    .ask()
    .server(13, sse, event('a'))
    .until(4_500)
  expect(r.closings).toEqual([])
  r.server(5_605, event('late'))
  expect(r.toClient().at(-1)).toBe('+5605 lost fin max_duration')
  expect(r.bytesToClient()).not.toContain('late')
  expect(r.toServer()).toHaveLength(2) // not told yet
  expect(r.server(5_805, event('later')).toServer().at(-1)).toBe('+5805 lost fin max_duration')
})
test('total at the next write lets a response that is over be', () => {
  const r = path(hop('go', { total: total(2_000, { at: 'next-write' }) }))
    .ask()
    .server(10, sse, event('a'))
    .server(4_500, done)
  expect(r.closings).toMatchObject([{ cause: 'complete', ending: 'clean' }])
  const late = path(hop('go', { total: total(2_000, { at: 'next-write', answer: null }) }))
    .ask()
    .server(4_500, sse)
  expect(late.toClient()).toEqual(['+4500 lost fin max_duration']) // before the head: no answer at all
})
test('a maximum duration fires while bytes flow without pause, and while the client does not read [hops.total-runs-on]', () => {
  const r = path(hop('h', { total: total(10_000), idle: idle(5_000) }))
    .ask()
    .server(0, sse)
  r.line.pressed('client', true, 500)
  expect(r.until(9_999).closings).toEqual([]) // idle stands still
  expect(r.until(10_000).closings).toMatchObject([{ cause: 'max_duration', atMs: 10_000 }])
})
test.each([
  ['fin', '+1000 lost fin idle_timeout'],
  ['rst', '+1000 lost rst idle_timeout'],
  ['none', '+0 asked'],
] as const)('the server is told of a cut by %s [hops.upstream-manner]', (upstream, last) => {
  const r = path(hop('h', { idle: idle(1_000, { upstream }) }))
    .ask()
    .until(1_000)
    .server(2_000, sse, event('x'), done)
  expect(r.toServer().at(-1)).toBe(last)
  expect(r.closings).toHaveLength(1)
})
test('the server is told after so many of its writes: the head is one, what comes in one instant is one', () => {
  const r = path(hop('h', { headers: limit(100, { upstream: { afterWrites: 3 } }) }))
    .ask()
    .until(100)
    .server(200, sse)
    .server(300, event('a'), event('b'), event('c'))
  expect(r.toServer()).toHaveLength(2)
  expect(r.server(400, event('d')).toServer().at(-1)).toBe('+400 lost fin header_timeout')
})
test('idle in both directions: armed at the head of the request, moved by its bytes and by early bytes of the answer [hops.idle-both]', () => {
  const slow = path(hop('alb', { idle: idle(1_000, { direction: 'both' }) })).client(0, request)
  slow.client(900, raw('part')).client(1_800, raw('part'))
  expect(slow.closings).toEqual([])
  expect(slow.until(2_800).toClient()[0]).toBe('+2800 head 504')
  const early = path(hop('alb', { idle: idle(1_000, { direction: 'both' }) }))
    .client(0, request)
    .server(500, sse)
    .server(1_400, event('early'))
    .client(2_300, asked)
  expect(early.closings).toEqual([])
  expect(early.until(3_300).closings).toMatchObject([{ cause: 'idle_timeout', atMs: 3_300 }])
})
test('idle of the response does not run while the request still comes [hops.arm-when-asked]', () => {
  const r = path(hop('nginx', { idle: idle(1_000), total: total(1_500) })).client(0, request)
  r.client(5_000, raw('part')).client(9_000, asked)
  expect(r.closings).toEqual([])
  expect(r.until(10_000).closings).toMatchObject([{ cause: 'idle_timeout', atMs: 10_000 }])
})
test("the response's end disarms everything, and so does a client that left [hops.end-disarms]", () => {
  const limits = {
    headers: limit(50),
    idle: idle(60),
    total: total(70),
    clientSend: { afterMs: 30, ending: 'fin', upstream: 'fin' },
  } as const
  expect(path(hop('h', limits)).ask().server(1, sse, done).line.wakeAtMs()).toBeNull()
  expect(path(hop('h', limits)).ask().client(1, left()).line.wakeAtMs()).toBeNull()
})
test('a limit that may not cut lets this exchange be for good, and says so [hops.may-cut]', () => {
  const asks: string[] = []
  const plans = compileHop(hop('h', { idle: idle(100), total: total(250) }))
  const r = rig(plans, {
    mayCut: ({ kind }) => {
      asks.push(kind)
      return kind !== 'idle_timeout'
    },
  })
    .ask()
    .server(0, sse)
    .until(1_000)
  expect(asks).toEqual(['idle_timeout', 'max_duration'])
  expect(r.notes).toEqual(['+100 h decided capped'])
  expect(r.closings).toMatchObject([{ cause: 'max_duration', atMs: 250 }])
})
test('a client that does not read is cut, by its own limit, and the server hears [hops.client-send]', () => {
  const r = path(hop('nginx', { idle: idle(1_000), clientSend: { afterMs: 2_000, ending: 'fin', upstream: 'rst' } }))
    .ask()
    .server(0, sse, event('a'))
  r.line.pressed('client', true, 500)
  expect(r.holds()).toEqual(['+500 hold server'])
  expect(r.until(2_499).closings).toEqual([])
  r.until(2_500)
  expect(r.closings).toEqual([{ cause: 'client_send', seat: 'nginx', ending: 'fin', atMs: 2_500 }])
  expect(r.toServer().at(-1)).toBe('+2500 lost rst client_send')
  expect(r.line.wakeAtMs()).toBeNull()
})
test('a client that reads in between starts that time anew', () => {
  const r = path(hop('nginx', { clientSend: { afterMs: 2_000, ending: 'rst', upstream: 'none' } }))
    .ask()
    .server(0, sse)
  r.line.pressed('client', true, 500)
  r.line.pressed('client', false, 2_000)
  r.line.pressed('client', true, 2_100)
  expect(r.until(4_099).closings).toEqual([])
  expect(r.until(4_100).closings).toMatchObject([{ cause: 'client_send', ending: 'rst' }])
  expect(r.toServer()).toHaveLength(2)
})
test('behind a buffer that reads on, an unreading client is still cut, though the server has finished', () => {
  const r = path(
    hop('nginx', {
      buffering: buffering('none', { holdHeaders: true }),
      clientSend: { afterMs: 2_000, ending: 'fin', upstream: 'rst' },
    }),
  ).ask()
  r.server(0, sse, event('a')).line.pressed('client', true, 10)
  r.server(142, event('b'), done)
  expect([r.holds(), r.closings]).toEqual([[], []])
  expect(r.until(2_010).closings).toMatchObject([{ cause: 'client_send', ending: 'fin', atMs: 2_010 }])
  expect(r.toClient().at(-1)).toBe('+2010 lost fin client_send')
})
test('a client that has left is not cut for not reading', () => {
  const asks: string[] = []
  const clientAbort = { midStream: 'never', beforeHeaders: 'never', halfClose: 'abort', upstream: 'fin' } as const
  const plans = compileHop(hop('varnish', { clientAbort, clientSend: { afterMs: 100, ending: 'fin', upstream: 'fin' } }))
  const r = rig(plans, { mayCut: ({ kind }) => asks.push(kind) > 0 })
    .ask()
    .server(0, sse)
  r.line.pressed('client', true, 10)
  r.client(50, left()).until(9_000)
  expect([asks, r.toServer().length]).toEqual([[], 2])
})
test('the time a client does not read counts for neither idle nor its rearm', () => {
  const r = path(hop('nginx', { idle: idle(2_000, { rearmMs: 300 }) }))
    .ask()
    .server(0, sse)
  r.line.pressed('client', true, 100)
  r.line.pressed('client', false, 1_100) // armed at 0 is now armed at 1000
  expect(r.server(1_200, event('a')).until(9_000).closings).toMatchObject([{ atMs: 3_000 }])
})

test('two limits that are due in one millisecond, and none of them may cut: both lapse in the same wake', () => {
  const r = rig(compileHop(hop('h', { idle: idle(500), total: total(500) })), { mayCut: () => false })
    .ask()
    .until(2_000)
  expect(r.closings).toEqual([])
  expect(r.notes.filter((note) => note.includes('capped'))).toEqual(['+500 h decided capped', '+500 h decided capped'])
  expect(r.server(2_001, sse, done).closings).toMatchObject([{ cause: 'complete' }])
})
test('a wait that begins anew leaves the other limit of its millisecond its say', () => {
  const retry = { on: ['timeout' as const], tries: 2, backoffMs: 0 }
  const plans = compileHop(
    hop('h', {
      headers: limit(500),
      total: total(500),
      request: { buffer: false, bodyMaxBytes: null, retry } as unknown as NonNullable<Hop['request']>,
    }),
  )
  const r = rig(plans, { again: () => true })
    .ask()
    .until(2_000)
  expect(r.closings).toMatchObject([{ cause: 'max_duration', atMs: 500 }])
})
