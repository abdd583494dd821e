/** Faults at either end of a path, the order they meet traffic in, and their being taken away. */
import { expect, test } from 'vitest'
import type { SeatPlan } from '../../src/core/seat.ts'
import type { CutAsked } from '../../src/faults/cut.ts'
import { cut } from '../../src/faults/cut.ts'
import { drop } from '../../src/faults/drop.ts'
import { halfOpen } from '../../src/faults/half-open.ts'
import { hideDisconnect } from '../../src/faults/hide-disconnect.ts'
import { latency } from '../../src/faults/latency.ts'
import { respond } from '../../src/faults/respond.ts'
import { stall } from '../../src/faults/stall.ts'
import { compileLine } from '../../src/hops/compile.ts'
import {
  answer,
  buffering,
  bytesOf,
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
  recorder,
  result,
  rig,
  sse,
} from '../support/line-rig.ts'

const cutting = (when: CutAsked['when'], more: Partial<CutAsked> = {}) => cut('cut', { when, ending: 'rst', upstream: 'fin', ...more })
const atClient = (...plans: SeatPlan[]) => plans.map((plan) => ({ at: 'client' as const, plan }))
const atServer = (...plans: SeatPlan[]) => plans.map((plan) => ({ at: 'server' as const, plan }))

test('cut after a time, by a seat that no chunk passes through', () => {
  const r = rig([cutting({ afterMs: 2_000 })])
    .ask()
    .server(5, sse)
    .until(2_000)
  expect(r.toClient().at(-1)).toBe('+2000 lost rst fault')
  expect(r.toServer().at(-1)).toBe('+2000 lost fin fault')
  expect(Object.keys(cutting({ afterMs: 1 }).sit(recorder().out, () => 0))).not.toContain('fromServer')
})
test('cut after exactly so many bytes, and after so many events', () => {
  expect(
    rig([cutting({ afterBytes: 12 })])
      .ask()
      .server(1, sse, event('a'), event('b'))
      .bytesToClient(),
  ).toBe('data: a\n\ndat')
  const r = rig([cutting({ afterEvents: 2 })])
    .ask()
    .server(1, sse, ...pieces(': ping\n\n', 'data: 1\n', '\ndata: 2\n\ndata: 3\n\n'))
  expect(r.bytesToClient()).toBe(': ping\n\ndata: 1\n\ndata: 2\n\n')
})
test('cut before the result: none of its bytes passes, however it was split', () => {
  const r = rig([cutting({ before: 'result' })])
    .ask()
    .server(1, sse, ...pieces(progress(), result().slice(0, 9), result().slice(9)))
  expect(r.bytesToClient()).toBe(progress())
  expect(r.closings).toEqual([{ cause: 'fault', seat: 'cut', ending: 'rst', atMs: 1 }])
  expect(
    rig([cutting({ before: 'result' })])
      .ask()
      .server(1, json, raw('{"id":1,"result":{}}'))
      .toClient(),
  ).toEqual(['+1 head 200', '+1 lost rst fault'])
})
test('cut before the request: the server is never asked', () => {
  const r = rig([cutting({ before: 'request' })]).ask()
  expect(r.toServer()).toEqual(['+0 lost fin fault'])
  expect(r.toClient()).toEqual(['+0 lost rst fault'])
})
test('a clean cut is an end: an outer hop takes it for one. Of a promised length it becomes fin', () => {
  const r = rig(
    compileLine(
      [hop('outer', { idle: idle(5_000), buffering: buffering('full') })],
      atServer(cutting({ afterEvents: 1 }, { ending: 'clean' })),
    ),
  )
    .ask()
    .server(5, sse, event('a'), event('b'))
  expect(r.toClient()).toEqual(['+5 head 200', '+5 data: a⏎⏎', '+5 end fault'])
  expect(r.line.wakeAtMs()).toBeNull()
  expect(
    rig([cutting({ afterBytes: 3 }, { ending: 'clean' })])
      .ask()
      .server(5, json, raw('{"id":1}')).closings[0],
  ).toMatchObject({ ending: 'fin' })
})
test("first cause: the server's end, a tick after the cut, changes nothing", () => {
  const r = rig(compileLine([hop('h')], atClient(cutting({ afterEvents: 1 }))))
    .ask()
    .server(5, sse, event('a'))
  const after = r.effects.length
  r.server(6, event('b'), done).client(7, left('fin')).until(99)
  expect(r.effects).toHaveLength(after)
  expect(r.closings).toEqual([{ cause: 'fault', seat: 'cut', ending: 'rst', atMs: 5 }])
})
test('a cause goes with its ending through a seat that holds it', () => {
  const r = rig(compileLine([], atServer(cutting({ afterEvents: 1 }), latency('slow', { delayMs: 100, jitterMs: 0, on: 'event' }))))
    .ask()
    .server(5, sse, event('a'))
    .until(105)
  expect(r.closings).toEqual([{ cause: 'fault', seat: 'cut', ending: 'rst', atMs: 105 }])
  expect(r.toServer().at(-1)).toBe('+5 lost fin fault')
})
test('at the client the ending asked for is what the client sees; at the server the hops feel it', () => {
  const seen = (faults: Parameters<typeof compileLine>[1]) =>
    rig(compileLine([hop('nginx')], faults))
      .ask()
      .server(5, sse, event('a')).closings[0]?.ending
  expect(seen(atClient(cutting({ afterEvents: 1 })))).toBe('rst')
  expect(seen(atServer(cutting({ afterEvents: 1 })))).toBe('fin')
})
test('a response meets faults in list order, then hops inside out; a request meets all in reverse', () => {
  const met: string[] = []
  const note = (name: string): SeatPlan => ({
    name,
    sit: (out) => ({
      fromServer(signal) {
        met.push(`<${name}`)
        out.toClient(signal)
      },
      fromClient(signal) {
        met.push(`>${name}`)
        out.toServer(signal)
      },
    }),
  })
  rig([...compileLine([], []), note('path0'), note('path1'), ...compileLine([], atServer(note('fault1'), note('fault2')))])
    .client(0, left())
    .server(1, sse)
  expect(met).toEqual(['>path0', '>path1', '>fault2', '>fault1'])
  met.length = 0
  rig([note('path0'), note('path1'), ...compileLine([], atServer(note('fault1'), note('fault2')))]).server(1, sse)
  expect(met).toEqual(['<fault1', '<fault2', '<path1', '<path0'])
})
test('respond: head, body and end to the client; the server is never asked', () => {
  const r = rig(compileLine([hop('h', { idle: idle(100) })], atServer(respond('busy', answer(503))))).ask()
  expect(r.toClient()).toEqual(['+0 head 503', '+0 oh 503', '+0 end fault'])
  expect(r.toServer()).toEqual(['+0 lost fin fault'])
})
test('latency on headers: the body waits behind; a leaving does not', () => {
  const slow = latency('slow', { delayMs: 200, jitterMs: 0, on: 'headers' })
  const r = rig([slow]).ask().server(10, sse, event('a')).server(100, event('b')).until(210).server(220, event('c'))
  expect(r.toClient()).toEqual(['+210 head 200', '+210 data: a⏎⏎', '+210 data: b⏎⏎', '+220 data: c⏎⏎'])
  expect(rig([slow]).ask().server(10, sse).client(20, left()).toServer().at(-1)).toBe('+20 lost rst client_reset')
})
test('jitter never overtakes, and an outer `headers` limit feels the wait', () => {
  let turn = 1
  const plan = latency('slow', { delayMs: 100, jitterMs: 90, on: 'event' })
  const r = rig([{ name: 'slow', sit: (out) => plan.sit(out, () => turn++ % 2) }])
    .ask()
    .server(0, sse, event('a'), event('b'), done)
    .until(500)
  expect(r.toClient()).toEqual(['+0 head 200', '+190 data: a⏎⏎', '+190 data: b⏎⏎', '+190 end complete'])
  const hopFeels = rig(
    compileLine(
      [hop('h', { headers: limit(900, { answer: answer(504) }) })],
      atServer(latency('slow', { delayMs: 1_000, jitterMs: 0, on: 'headers' })),
    ),
  )
    .ask()
    .server(5, sse)
    .until(2_000)
  expect(hopFeels.toClient()[0]).toBe('+900 head 504')
})
test('a released latency lets go in order, and costs nothing afterwards', () => {
  const r = rig([latency('slow', { delayMs: 1_000, jitterMs: 0, on: 'event' })])
    .ask()
    .server(0, sse, event('a'))
    .server(100, event('b'))
  expect(r.line.heldBytes()).toBe(18)
  r.line.release(new Set(['slow']), 150)
  r.server(160, event('c'), done)
  expect(r.toClient()).toEqual(['+0 head 200', '+150 data: a⏎⏎', '+150 data: b⏎⏎', '+160 data: c⏎⏎', '+160 end complete'])
  expect(r.line.isEmpty()).toBe(true)
})
test('two latencies released together keep order; a pending cut lapses; what is cut stays cut', () => {
  const plans = compileLine(
    [],
    atServer(latency('inner', { delayMs: 50, jitterMs: 0, on: 'event' }), latency('outer', { delayMs: 500, jitterMs: 0, on: 'event' })),
  )
  const r = rig([cutting({ afterMs: 300 }), ...plans])
    .ask()
    .server(0, sse, event('a'))
    .server(60, event('b'))
  r.line.release(new Set(['cut', 'inner', 'outer']), 90)
  expect(r.until(400).toClient()).toEqual(['+0 head 200', '+90 data: a⏎⏎', '+90 data: b⏎⏎'])
  const over = rig([cutting({ afterMs: 300 })])
    .ask()
    .server(0, sse)
    .until(300)
  over.line.release(new Set(['cut']), 310)
  expect(over.server(320, event('a')).toClient()).toEqual(['+0 head 200', '+300 lost rst fault'])
})
test('stall: neither side is read; with `for` it goes on in order', () => {
  const r = rig(compileLine([], atClient(stall('stall', { from: 'body', forMs: 30_000 }))))
    .ask()
    .server(1, sse, event('a'))
    .server(2, event('b'), done)
    .client(3, half)
  expect([r.holds(), r.toClient()]).toEqual([['+1 hold server', '+1 hold client'], ['+1 head 200']])
  r.until(30_001)
  expect(r.toClient().slice(1)).toEqual(['+30001 data: a⏎⏎', '+30001 data: b⏎⏎', '+30001 end complete'])
  expect(r.toServer()).toEqual(['+0 request', '+0 asked'])
  expect(r.holds().slice(2)).toEqual(['+30001 resume server', '+30001 resume client'])
})
test('drop progress: whole events, split or not; encoded bodies pass untouched', () => {
  const silent = () => drop('drop', { what: 'progress', nth: null })
  const stream = [progress(1), 'data: x\n\n', progress(2), result()].join('')
  for (const at of [3, 40, 90])
    expect(
      rig([silent()])
        .ask()
        .server(1, sse, ...pieces(stream.slice(0, at), stream.slice(at)), done)
        .bytesToClient(),
    ).toBe(`data: x\n\n${result()}`)
  const zipped = rig([silent()])
    .ask()
    .server(1, { ...sse, rawHeaders: [...sse.rawHeaders, 'content-encoding', 'gzip'] }, raw('\x1f\x8b'), done)
  expect(zipped.bytesToClient()).toBe('\x1f\x8b')
  expect(
    rig([drop('drop', { what: 'progress', nth: 2 })])
      .ask()
      .server(1, sse, ...pieces(stream), done)
      .bytesToClient(),
  ).toBe(`${progress(1)}data: x\n\n${result()}`)
})
test('hide-disconnect: the exchange closes, the server is not told until the fault is taken away', () => {
  const r = rig(compileLine([hop('h')], atServer(hideDisconnect('hide'))))
    .ask()
    .server(5, sse)
    .client(10, half)
    .server(20, event('a'))
  expect(r.closings).toEqual([{ cause: 'client_abort', seat: null, ending: 'fin', atMs: 10 }])
  expect(r.toServer()).toEqual(['+0 request', '+0 asked'])
  r.line.release(new Set(['hide']), 500)
  expect(r.toServer().at(-1)).toBe('+500 lost fin client_abort')
})
test('half-open: the upstream is kept for a time, and read', () => {
  const r = rig([halfOpen('open', { forMs: 30_000 })])
    .ask()
    .server(5, sse)
    .client(10, left())
    .server(20, event('a'))
  expect(r.holds()).toEqual([])
  expect(r.until(30_010).toServer().at(-1)).toBe('+30010 lost fin client_reset')
  expect(r.line.wakeAtMs()).toBeNull()
})
test("an operator's cut leaves at the client's edge; a hop may hide it from the server", () => {
  const deaf = hop('deaf', { clientAbort: { midStream: 'never', beforeHeaders: 'never', halfClose: 'abort', upstream: 'fin' } })
  const r = rig(compileLine([deaf], []))
    .ask()
    .server(5, sse)
  r.line.order('rst', { kind: 'operator', seat: null }, 9)
  expect([r.toClient().at(-1), r.toServer().at(-1)]).toEqual(['+9 lost rst operator', '+0 asked'])
})
test('request-side signals: a slow body passes hops outside in, and an early answer beats it', () => {
  const r = rig(compileLine([hop('h', { idle: idle(100, { direction: 'both' }) })], []))
  r.client(0, { is: 'request', method: 'POST', target: '/', rawHeaders: [] }).client(50, raw('{')).client(140, raw('}')).until(240)
  expect(r.toClient().at(-1)).toBe('+240 end idle_timeout')
  expect(r.client(250, raw(' ')).toServer()).toEqual(['+0 request', '+50 {', '+140 }', '+240 lost fin idle_timeout'])
})
test("no seats: a client's FIN reaches the server as a loss; the chunk is handed on as it is", () => {
  const r = rig([]).ask()
  const piece = { is: 'piece', bytes: bytesOf('x'), mark: null } as const
  r.server(1, sse, piece)
  expect(r.effects.at(-1)).toEqual({ do: 'toClient', signal: piece, atMs: 1 })
  expect(r.client(2, half).toServer().at(-1)).toBe('+2 lost fin client_abort')
  expect(r.closings).toEqual([{ cause: 'client_abort', seat: null, ending: 'fin', atMs: 2 }])
  expect(rig([]).ask().server(1, gone('rst')).closings[0]).toMatchObject({ cause: 'server_reset', ending: 'rst' })
})
test('a seat alone, with an `out` that only writes down', () => {
  const { out, said, wakes } = recorder()
  const seat = latency('slow', { delayMs: 50, jitterMs: 0, on: 'event' }).sit(out, () => 0)
  seat.fromServer?.(event('a'), 100)
  seat.wake?.(150)
  expect([said, wakes]).toEqual([['< data: a⏎⏎'], [150, null]])
})
test('what a hop hid, and a cut nobody told of, is told when they are taken away', () => {
  const deaf = hop('deaf', { clientAbort: { midStream: 'never', beforeHeaders: 'never', halfClose: 'abort', upstream: 'fin' } })
  const r = rig(compileLine([deaf], []))
    .ask()
    .server(5, sse)
    .client(10, half)
  r.line.release(new Set(['deaf']), 50)
  expect(r.toServer().at(-1)).toBe('+50 lost fin client_abort')
  const quiet = rig([cutting({ afterMs: 20 }, { upstream: 'none' })])
    .ask()
    .server(5, sse)
    .until(20)
  expect(quiet.toServer().at(-1)).toBe('+0 asked')
  quiet.line.release(new Set(['cut']), 50)
  expect(quiet.toServer().at(-1)).toBe('+50 lost fin fault')
})
test('after a clean cut a half-open still tells the server in time', () => {
  const r = rig([cutting({ afterEvents: 1 }, { ending: 'clean' }), halfOpen('open', { forMs: 100 })])
    .ask()
    .server(5, sse, event('a'))
  expect(r.closings[0]).toMatchObject({ ending: 'clean' })
  expect(r.until(200).toServer().at(-1)).toBe('+105 lost fin fault')
})
test('a cut provoked by what a stall lets go still reaches the server, though the stall has left', () => {
  const r = rig([cutting({ afterEvents: 1 }), stall('stall', { from: 'body', forMs: 30 })])
    .ask()
    .server(5, sse, event('a'), event('b'))
    .until(35)
  expect(r.toClient()).toEqual(['+5 head 200', '+35 data: a⏎⏎', '+35 lost rst fault'])
  expect(r.toServer().at(-1)).toBe('+35 lost fin fault')
})
test("a response ended whole: the client's leaving afterwards is not told to a server that is done", () => {
  const r = rig(compileLine([hop('h', { buffering: buffering({ everyMs: 500 }) })], atServer()))
    .ask()
    .server(5, sse, event('a'), done)
    .client(6, left())
  expect(r.toServer()).toEqual(['+0 request', '+0 asked'])
  const slow = rig([latency('slow', { delayMs: 100, jitterMs: 0, on: 'event' })])
    .ask()
    .server(5, sse, event('a'), done)
    .client(6, left())
  expect(slow.toServer()).toEqual(['+0 request', '+0 asked'])
  expect(slow.closings).toEqual([{ cause: 'client_reset', seat: null, ending: 'rst', atMs: 6 }])
})
