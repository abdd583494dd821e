/** A hop's client side: leavings it passes on, hides or tolerates, losses it answers, ends or passes on. */
import { expect, test } from 'vitest'
import type { Cause } from '../../src/core/signal.ts'
import { lost } from '../../src/core/signal.ts'
import { compileHop, compileLine, connectLimit } from '../../src/hops/compile.ts'
import type { Hop } from '../../src/hops/hop.ts'
import { answer, buffering, done, event, gone, half, hop, idle, left, limit, raw, rig, sse, total } from '../support/line-rig.ts'

const path = (...hops: Hop[]) => rig(compileLine(hops, []))
const custom = (more: Partial<Hop> = {}): Hop => ({ name: 'path[0]:custom', preset: 'custom', ...more })
const truncate = { fin: 'truncate', rst: 'truncate' } as const
const unreachable: Cause = { kind: 'unreachable', seat: null, detail: 'connect ECONNREFUSED 127.0.0.1:1' }

test('a custom hop without limits is no seat at all; with one it hands on what it does not decide [hops.custom-transparent]', () => {
  expect(compileHop(custom())).toEqual([])
  const bare = path(custom({ idle: idle(1_000) }))
    .ask()
    .server(5, gone('rst'))
  expect(bare.toClient()).toEqual(['+5 lost rst server_reset']) // no answer of its own: the client's edge makes one
  const halves = path(custom({ idle: idle(1_000) }))
    .ask()
    .client(5, half)
  expect(halves.toServer().at(-1)).toBe('+5 lost fin client_abort')
})
test('without a head the answer of the limit, with `none` a bare close that nobody answers for [hops.answer-none]', () => {
  const r = path(hop('tcp', { idle: idle(90, { answer: null }) })).ask()
  r.until(90)
  expect(r.effects.at(-2)).toMatchObject({ do: 'toClient', signal: { is: 'lost', ending: 'fin', isBare: true } })
  const rst = path(hop('tcp', { idle: idle(90, { answer: null, ending: 'rst' }) })).ask()
  expect(rst.until(90).toClient()).toEqual(['+90 lost rst idle_timeout'])
})
test.each(['fin', 'rst'] as const)('mid-stream the ending asked for: %s [hops.ending]', (ending) => {
  const r = path(hop('h', { idle: idle(90, { ending }) }))
    .ask()
    .server(10, sse, event('a'))
  expect(r.until(100).closings).toMatchObject([{ cause: 'idle_timeout', ending, atMs: 100 }])
})
test('a clean ending is an end with the cause of the cut, and no loss', () => {
  const r = path(hop('caddy', { idle: idle(90, { ending: 'clean' }) }))
    .ask()
    .server(10, sse, event('a'))
  expect(r.until(100).toClient().at(-1)).toBe('+100 end idle_timeout')
})
test('silent: dropped without a word; the server meets a reset at its next write [hops.silent]', () => {
  const nlb = hop('nlb', { idle: idle(350_000, { ending: 'silent', answer: null, upstream: { afterWrites: 1 }, direction: 'both' }) })
  const r = path(nlb).ask().server(10, sse, event('a')).until(350_010)
  expect(r.toClient().at(-1)).toBe('+350010 lost silent idle_timeout')
  expect(r.toServer()).toHaveLength(2)
  expect(r.server(400_000, event('b')).toServer().at(-1)).toBe('+400000 lost rst idle_timeout')
})
test('what an inner hop dropped without a word is silence to an outer one, whose own limit then cuts [hops.silent-is-silence]', () => {
  const nlb = hop('nlb', { idle: idle(1_000, { ending: 'silent', answer: null, upstream: 'none' }) })
  const r = path(hop('nginx', { idle: idle(3_000) }), hop('plain'), nlb).ask()
  expect(r.until(2_999).closings).toEqual([])
  expect(r.until(3_000).toClient()[0]).toBe('+3000 head 504')
  expect(r.closings).toMatchObject([{ cause: 'idle_timeout', seat: 'nginx' }])
  const nobody = path(hop('plain'), nlb).ask().until(1_000)
  expect(nobody.toClient()).toEqual(['+1000 lost silent idle_timeout'])
})
test('silence outlives an outer hop only as long as something there may still cut', () => {
  const nlb = hop('nlb', { idle: idle(1_000, { ending: 'silent', answer: null, upstream: 'none' }) })
  const r = rig(compileLine([hop('nginx', { idle: idle(3_000) }), nlb], []), { mayCut: ({ seat }) => seat !== 'nginx' }).ask()
  expect(r.until(3_000).closings).toMatchObject([{ seat: 'nlb', atMs: 3_000 }])
})
test('an answer of the gateway to a refused connection is the innermost hop’s; outer ones see a response [hops.refused]', () => {
  const refusing = (name: string, status: number) =>
    hop(name, { upstreamLoss: { refused: answer(status), beforeHeaders: answer(502), midStream: truncate } })
  const r = path(refusing('outer', 521), refusing('inner', 503)).ask().server(1, lost('fin', unreachable))
  expect(r.toClient()).toEqual(['+1 head 503', '+1 oh 503', '+1 end unreachable'])
  const bare = hop('inner', { upstreamLoss: { refused: null, beforeHeaders: answer(502), midStream: truncate } })
  expect(path(refusing('outer', 521), bare).ask().server(1, lost('fin', unreachable)).toClient()[0]).toBe('+1 head 502')
  expect(path(hop('plain')).ask().server(1, lost('fin', unreachable)).toClient()[0]).toBe('+1 head 502')
})
test('a connection that takes too long gets the `connect` answer of the hop next to the server [hops.connect]', () => {
  const hops = [
    hop('outer', { connect: { afterMs: 1, answer: answer(599) } }),
    hop('alb', { connect: { afterMs: 10_000, answer: answer(504) } }),
  ]
  const limited = connectLimit(hops)
  expect(limited).toMatchObject({ afterMs: 10_000, cause: { kind: 'unreachable', seat: 'alb', hop: 'alb' } })
  if (limited === null) return
  expect(
    path(...hops)
      .ask()
      .server(10_000, lost('fin', limited.cause))
      .toClient()[0],
  ).toBe('+10000 head 504')
  expect(connectLimit([hop('h')])).toBeNull()
  expect(connectLimit([])).toBeNull()
})
test('a FIN of the upstream may be its end while a reset is not; what is held goes with it [hops.loss-by-break]', () => {
  const http10 = hop('nginx-http10', {
    buffering: buffering({ bytes: 4_096 }, { holdHeaders: true, atCut: 'headers' }),
    upstreamLoss: { beforeHeaders: answer(502), midStream: { fin: 'clean', rst: 'truncate' } },
  })
  const fin = path(http10).ask().server(1, sse, event('a')).server(600, gone('fin'))
  expect(fin.toClient()).toEqual(['+600 head 200', '+600 data: a⏎⏎', '+600 end server_close'])
  const rst = path(http10).ask().server(1, sse, event('a')).server(600, gone('rst'))
  expect(rst.toClient()).toEqual(['+600 head 200', '+600 lost fin server_reset'])
  expect(rst.notes).toEqual(['+600 nginx-http10 dropped event', '+600 nginx-http10 held 599ms 0B'])
})
test("a hop's own limit is no upstream loss: its buffer throws away what is held although a FIN would have been the end", () => {
  const http10 = hop('nginx-http10', {
    idle: idle(2_000),
    buffering: buffering({ bytes: 4_096 }, { holdHeaders: true, atCut: 'headers' }),
    upstreamLoss: { beforeHeaders: answer(502), midStream: { fin: 'clean', rst: 'truncate' } },
  })
  const r = path(http10).ask().server(1, sse, event('a')).until(2_001)
  expect(r.toClient()).toEqual(['+2001 head 200', '+2001 lost fin idle_timeout'])
})
test.each([
  ['beforeHeaders', { midStream: 'never', beforeHeaders: 'at-once' }, true],
  ['midStream', { midStream: 'at-once', beforeHeaders: 'never' }, false],
] as const)('a leaving is taken by its moment: %s', (_moment, manners, isToldBefore) => {
  const abort = { ...manners, halfClose: 'abort', upstream: 'rst' } as const
  const told = (r: ReturnType<typeof path>) => r.toServer().at(-1) === '+50 lost rst client_reset'
  expect(
    told(
      path(hop('h', { clientAbort: abort }))
        .ask()
        .client(50, left()),
    ),
  ).toBe(isToldBefore)
  expect(
    told(
      path(hop('h', { clientAbort: abort }))
        .ask()
        .server(10, sse)
        .client(50, left()),
    ),
  ).toBe(!isToldBefore)
})
test('a half-close forwarded reaches the next hop as one, and the server’s edge as a leaving [hops.half-close]', () => {
  const manners = (halfClose: 'forward' | 'tolerate' | 'abort') =>
    hop(halfClose, { clientAbort: { midStream: 'at-once', beforeHeaders: 'at-once', halfClose, upstream: 'rst' } })
  expect(path(manners('forward'), manners('tolerate')).ask().client(5, half).server(9, sse).toClient()).toEqual(['+9 head 200'])
  expect(path(manners('forward')).ask().client(5, half).toServer().at(-1)).toBe('+5 lost fin client_abort')
  expect(path(manners('forward'), manners('abort')).ask().client(5, half).toServer().at(-1)).toBe('+5 lost rst client_abort')
})
test('an abandoned server is told at the release of the hop that hid the leaving [hops.release-tells]', () => {
  const r = path(hop('varnish', { clientAbort: { midStream: 'never', beforeHeaders: 'never', halfClose: 'abort', upstream: 'fin' } })).ask()
  r.client(50, left())
  r.line.release(new Set(['varnish']), 900)
  expect(r.toServer().at(-1)).toBe('+900 lost fin client_reset')
})
test('the door answers once, whatever comes behind', () => {
  const r = path(hop('h', { headers: limit(100), total: total(200) }))
    .ask()
    .until(500)
    .server(600, sse, event('x'), done)
  expect(r.toClient()).toEqual(['+100 head 504', '+100 oh 504', '+100 end header_timeout'])
})
test('silence passes a hop in which nothing is left to cut', () => {
  const nlb = hop('nlb', { idle: idle(1_000, { ending: 'silent', answer: null, upstream: 'none' }) })
  const r = path(hop('gateway', { headers: limit(500) }), nlb)
    .ask()
    .server(10, sse)
  expect(r.until(9_000).closings).toMatchObject([{ seat: 'nlb', atMs: 1_010 }])
})
test('a loss before the headers that nobody answers is a bare close, told to the client’s edge', () => {
  const r = path(hop('tcp', { upstreamLoss: { beforeHeaders: null, midStream: truncate } })).ask()
  r.server(5, gone('rst'))
  expect(r.effects.at(-1)).toMatchObject({ signal: { is: 'lost', ending: 'fin', isBare: true } })
})
test('the write in which a hop is told of a leaving is one write, however it is split [hops.one-write-an-instant]', () => {
  const outer = hop('outer', { idle: idle(1, { upstream: { afterWrites: 1 } }) })
  const inner = hop('inner', {
    clientAbort: { midStream: { afterWrites: 1 }, beforeHeaders: 'at-once', halfClose: 'abort', upstream: 'fin' },
  })
  const toldAfter = (...parts: string[]) =>
    path(outer, inner)
      .ask()
      .server(0, sse)
      .server(2, ...parts.map(raw))
      .toServer()
  expect(toldAfter('data: a')).toEqual(['+0 request', '+0 asked'])
  expect(toldAfter('d', 'ata: a')).toEqual(['+0 request', '+0 asked'])
})
