/** A hop's buffer: what each mode holds and lets go, when, and what becomes of it at a cut, a release, a blocked client. */
import { expect, test } from 'vitest'
import { compileHop, compileLine } from '../../src/hops/compile.ts'
import type { Buffering, Hop } from '../../src/hops/hop.ts'
import {
  asked,
  buffering,
  bytesOf,
  done,
  event,
  gone,
  hop,
  json,
  left,
  pieces,
  progress,
  raw,
  request,
  rig,
  sse,
} from '../support/line-rig.ts'

const path = (...hops: Hop[]) => rig(compileLine(hops, []))
const held = (mode: Buffering['mode'], more: Partial<Buffering> = {}) => path(hop('h', { buffering: buffering(mode, more) })).ask()

test('gzip held: head and body together, at the end [hops.buffer-gzip]', () => {
  const r = held({ gzip: 'held' }, { holdHeaders: true }).server(1, sse, event('a')).server(200, event('b'))
  expect(r.toClient()).toEqual([])
  expect(r.server(400, done).toClient()).toEqual(['+400 head 200', '+400 data: a⏎⏎', '+400 data: b⏎⏎', '+400 end complete'])
})
test('gzip flushed: every event at once; head-then-held: the head with the first byte, the body at the end', () => {
  expect(held({ gzip: 'flushed' }).server(1, sse, event('a')).toClient()).toHaveLength(2)
  const r = held({ gzip: 'head-then-held' }, { holdHeaders: true }).server(1, sse)
  expect(r.toClient()).toEqual([])
  expect(r.server(5, event('a')).toClient()).toEqual(['+5 head 200'])
  expect(r.server(9, done).toClient().slice(1)).toEqual(['+9 data: a⏎⏎', '+9 end complete'])
})
test('sized: a body of a promised length goes in pages, whatever the mode; a FIN behind lets the rest go, a reset or a cut loses it [hops.buffer-sized]', () => {
  const sized = { ...json, rawHeaders: ['Content-Type', 'application/json', 'Content-Length', '9000'] }
  const paged = { holdHeaders: true, atCut: 'flush', sized: { bytes: 4_096, atCut: 'headers' } } as const
  const begun = () => held('none', paged).server(1, sized, raw('x'.repeat(5_000)))
  expect(begun().bytesToClient()).toHaveLength(4_096)
  expect(begun().server(9, gone('fin')).bytesToClient()).toHaveLength(5_000)
  expect(begun().server(9, gone('rst')).bytesToClient()).toHaveLength(4_096)
  expect(held('none', paged).server(1, sse, event('a')).toClient()).toHaveLength(2)
  const small = held('none', paged).server(1, sized, raw('x')).server(9, gone('rst'))
  expect(small.toClient()).toEqual(['+9 head 200', '+9 lost fin server_reset'])
})
test("an event's end that comes without bytes, behind a page that took them all, is not held", () => {
  const r = held({ bytes: 9 }).server(1, sse, raw('data: a\r\r')) // only the next byte tells whether that was its last
  r.server(2, { ...event('a'), bytes: new Uint8Array(0) })
  const marks = r.effects.flatMap((effect) =>
    effect.do === 'toClient' && effect.signal.is === 'piece' ? [effect.signal.mark !== null] : [],
  )
  expect(marks).toEqual([false, true])
})
test('what is encoded already is not compressed again, and so not held', () => {
  const encoded = { ...sse, rawHeaders: [...sse.rawHeaders, 'Content-Encoding', 'br'] }
  expect(held({ gzip: 'held' }).server(1, encoded, raw('x')).toClient()).toHaveLength(2)
})
test('sized: only a head with a Content-Length waits for its body [hops.hold-sized]', () => {
  expect(held('none', { holdHeaders: 'sized' }).server(1, sse).toClient()).toEqual(['+1 head 200'])
  const r = held('none', { holdHeaders: 'sized', atCut: 'headers' }).server(1, json)
  expect(r.toClient()).toEqual([])
  expect(r.server(2_000, gone()).toClient()).toEqual(['+2000 head 200', '+2000 lost fin server_close'])
})
test('by time: released that long after the first held thing, the head too; the end lets go at once [hops.buffer-time]', () => {
  const r = held({ everyMs: 200 }, { holdHeaders: true }).server(7, sse).server(100, event('a')).until(207)
  expect(r.toClient()).toEqual(['+207 head 200', '+207 data: a⏎⏎'])
  r.server(300, event('b')).server(400, event('c')).until(500)
  expect(r.toClient().slice(2)).toEqual(['+500 data: b⏎⏎', '+500 data: c⏎⏎'])
  expect(r.server(510, event('d')).server(520, done).toClient().slice(4)).toEqual(['+520 data: d⏎⏎', '+520 end complete'])
  expect(r.notes).toEqual(['+207 h held 200ms 9B', '+500 h held 200ms 18B', '+520 h held 10ms 9B'])
})
test('by bytes: whole pages, the rest at the end; passing at once is no holding [hops.buffer-bytes]', () => {
  const r = held({ bytes: 10 }).server(1, json, raw('0123456789')).server(5, raw('abcdefghijklm')).server(9, raw('n'))
  expect(r.toClient()).toEqual(['+1 head 200', '+1 0123456789', '+5 abcdefghij'])
  expect(r.notes).toEqual([])
  expect(r.line.heldBytes()).toBe(4)
  expect(r.server(20, done).toClient().slice(3)).toEqual(['+20 klm', '+20 n', '+20 end complete'])
  expect(r.notes).toEqual(['+20 h held 15ms 4B'])
})
test('one behind: one event, or one read where the body shows none [hops.buffer-one-behind]', () => {
  expect(held('one-behind').server(1, json, raw('one')).server(2, raw('two')).toClient()).toEqual(['+1 head 200', '+2 one'])
  const r = held('one-behind')
    .server(1, sse, event('a'))
    .server(2, ...pieces('data: b'))
    .server(3, ...pieces('data: c\n\n'))
  expect(r.toClient()).toEqual(['+1 head 200', '+2 data: a⏎⏎'])
})
test('a header of that name with the value no switches it off, and is not passed on [hops.honours]', () => {
  const off = { ...sse, rawHeaders: ['X-Accel-Buffering', 'no', ...sse.rawHeaders] }
  const on = { ...sse, rawHeaders: ['X-Accel-Buffering', 'yes', ...sse.rawHeaders] }
  const r = held('full', { holdHeaders: true, honours: ['x-accel-buffering'] }).server(1, off, event('a'))
  expect(r.toClient()).toEqual(['+1 head 200', '+1 data: a⏎⏎'])
  expect(r.effects.find((effect) => effect.do === 'toClient')).toMatchObject({ signal: { rawHeaders: sse.rawHeaders } })
  expect(
    held('full', { holdHeaders: true, honours: ['x-accel-buffering'] })
      .server(1, on, event('a'))
      .toClient(),
  ).toEqual([])
})
test('a hop that honours it takes it from the hop further out', () => {
  const honouring = (name: string) => hop(name, { buffering: buffering('full', { honours: ['x-accel-buffering'] }) })
  const off = { ...sse, rawHeaders: [...sse.rawHeaders, 'X-Accel-Buffering', 'no'] }
  expect(path(honouring('outer'), honouring('inner')).ask().server(1, off, event('a')).toClient()).toEqual(['+1 head 200'])
})
test('a head alone, with nothing behind it, goes at the end', () => {
  expect(held('none', { holdHeaders: true }).server(1, json, done).toClient()).toEqual(['+1 head 200', '+1 end complete'])
})
test.each(['full', 'one-behind', { bytes: 1 }, { everyMs: 50 }, { gzip: 'held' }] as const)(
  'released, %j lets go in order, the client reading or not',
  (mode) => {
    const r = held(mode, { holdHeaders: true }).server(1, sse, event('a'), event('b'))
    r.line.pressed('client', true, 2)
    r.server(3, event('c'))
    r.line.release(new Set(['h']), 4)
    expect(r.bytesToClient()).toBe('data: a\n\ndata: b\n\ndata: c\n\n')
    expect(r.line.heldBytes()).toBe(0)
    expect(r.server(5, event('d')).bytesToClient()).toContain('d')
  },
)
test('the end waits behind what a client that does not read has yet to take [hops.end-waits]', () => {
  const r = held('full').server(1, sse, event('a'))
  r.line.pressed('client', true, 2)
  r.server(3, done)
  expect(r.closings).toEqual([])
  r.line.pressed('client', false, 9)
  expect(r.toClient().slice(1)).toEqual(['+9 data: a⏎⏎', '+9 end complete'])
})
test('a cut waits for nobody', () => {
  const r = held('full').server(1, sse, event('a'))
  r.line.pressed('client', true, 2)
  expect(r.server(3, gone()).toClient().slice(1)).toEqual(['+3 data: a⏎⏎', '+3 lost fin server_close'])
})
test.each([
  ['full', []],
  [{ bytes: 4_096 }, []],
  [{ everyMs: 200 }, ['+2 hold server']],
  ['one-behind', ['+2 hold server']],
] as const)('a client that does not read: whether %j reads on [hops.reads-on]', (mode, holds) => {
  const r = held(mode).server(1, sse)
  r.line.pressed('client', true, 2)
  expect(r.holds()).toEqual(holds)
})
test('what is thrown away at a cut is told, event by event [hops.dropped-told]', () => {
  const r = held('full', { atCut: 'answer', holdHeaders: true }).server(1, sse, ...pieces(progress(), 'data: x\n\n', ': hi\n\n'))
  expect(r.server(5, gone()).toClient()[0]).toBe('+5 head 502')
  expect(r.notes).toEqual(['+5 h dropped progress', '+5 h dropped event', '+5 h dropped comment'])
})
test('small pieces are copied when they are held: a view would keep its whole slab [hops.held-copies]', () => {
  const slab = new Uint8Array(65_536)
  slab.set(bytesOf('data: a\n\n'))
  const bytes = slab.subarray(0, 9)
  const mark = { earlier: null, bytes, isTooLong: false }
  const r = held('full').server(1, sse, { is: 'piece', bytes, mark }).server(2, done)
  const sent = r.effects.flatMap((effect) => (effect.do === 'toClient' && effect.signal.is === 'piece' ? [effect.signal] : []))
  expect(sent[0]?.bytes.buffer.byteLength).toBe(9)
  expect(sent[0]?.mark).toBe(mark)
  expect(mark.bytes.buffer.byteLength).toBe(9)
  const large = new Uint8Array(4_096).subarray(0, 2_048)
  const kept = held('full').server(1, sse, { is: 'piece', bytes: large, mark: null }).server(2, done)
  expect(kept.effects.some((effect) => effect.do === 'toClient' && effect.signal.is === 'piece' && effect.signal.bytes === large)).toBe(
    true,
  )
})

test('a request is collected whole before it is passed on [hops.request-buffer]', () => {
  const r = path(hop('nginx', { request: { buffer: true, bodyMaxBytes: null, retry: null } })).client(0, request, raw('a'))
  r.client(500, raw('b'))
  expect([r.toServer(), r.line.heldBytes()]).toEqual([[], 2])
  expect(r.client(900, asked).toServer()).toEqual(['+900 request', '+900 a', '+900 b', '+900 asked'])
  expect(r.line.heldBytes()).toBe(0)
  const gave = path(hop('nginx', { request: { buffer: true, bodyMaxBytes: null, retry: null } }))
    .client(0, request, raw('a'))
    .client(9, left())
  expect(gave.toServer()).toEqual(['+9 lost fin client_reset']) // never asked
})
test('a body over bodyMax is answered 413 at once and the connection closes: by its Content-Length, or when it grows over [hops.body-max]', () => {
  const small = hop('nginx', { request: { buffer: false, bodyMaxBytes: 1_024, retry: null } })
  const told = path(small).client(0, { ...request, rawHeaders: ['Content-Length', '4096'] } as typeof request)
  expect(told.toClient()[0]).toBe('+0 head 413')
  expect(told.toServer()).toEqual(['+0 lost fin limit'])
  expect(told.closings).toMatchObject([{ cause: 'limit', seat: 'nginx', ending: 'clean' }])
  expect(told.effects.find((effect) => effect.do === 'toClient')).toMatchObject({
    signal: { rawHeaders: expect.arrayContaining(['Connection', 'close']) },
  })
  const grown = path(small)
    .client(0, request, raw('x'.repeat(1_000)))
    .client(5, raw('y'.repeat(24)))
  expect(grown.toClient()).toEqual([])
  expect(grown.client(6, raw('z')).toClient()[0]).toBe('+6 head 413')
  expect(grown.toServer().at(-1)).toBe('+6 lost fin limit')
})
test('seats that would do nothing are left out', () => {
  expect(compileHop(hop('h', { buffering: buffering('none') }))).toHaveLength(1)
  expect(compileHop(hop('h', { request: { buffer: false, bodyMaxBytes: null, retry: null } }))).toHaveLength(1)
})
