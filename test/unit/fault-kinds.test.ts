/** Each kind of fault on numbers: what both sides get, and when, at several chunkings. */
import { expect, test } from 'vitest'
import type { Out } from '../../src/core/seat.ts'
import type { Lost, Reply } from '../../src/core/signal.ts'
import { everyWay, faulty, gzipped, openJson, planOf } from '../support/fault-rig.ts'
import type { Rig } from '../support/line-rig.ts'
import { asked, done, event, gone, json, left, pieces, progress, raw, request, result, rig, sse } from '../support/line-rig.ts'

const lastLoss = (r: Rig): Lost => {
  const effect = r.effects.find((one) => one.do === 'toClient' && one.signal.is === 'lost')
  if (effect?.do !== 'toClient' || effect.signal.is !== 'lost') throw new Error('nothing was lost')
  return effect.signal
}
const text = '{"jsonrpc":"2.0","id":1,"result":{}}'

test('timers: a 504 before the head, the ending asked for after it, their own cause and the name [faults.timers]', () => {
  const idle = faulty({ 'idle-timeout': { after: '1s', ending: 'rst', upstream: 'rst' } })
    .ask()
    .until(1_000)
  expect(idle.toClient()).toEqual(['+1000 head 504', '+1000 Gateway Timeout⏎', '+1000 end idle_timeout'])
  expect(idle.toServer().at(-1)).toBe('+1000 lost rst idle_timeout')
  const mid = faulty({ 'idle-timeout': { after: '1s', ending: 'rst' } })
    .ask()
    .server(500, sse)
    .server(1_400, raw(': ping\n\n'))
    .until(2_400)
  expect(mid.toClient().at(-1)).toBe('+2400 lost rst idle_timeout')
  expect(lastLoss(mid).cause).toEqual({ kind: 'idle_timeout', seat: 'f', fault: 'f' })
  expect(mid.toServer().at(-1)).toBe('+2400 lost fin idle_timeout')
  expect(mid.notes).toEqual(['+2400 f decided fired'])
  const total = faulty({ 'max-duration': { after: '3s', ending: 'clean' } })
    .ask()
    .server(5, sse)
  for (let atMs = 100; atMs <= 3_100; atMs += 100) total.server(atMs, event('x'))
  expect(total.toClient().at(-1)).toBe('+3000 end max_duration')
  const headers = faulty({ 'header-timeout': { after: '30s', answer: { status: 503, body: 'late', headers: { 'Retry-After': 1 } } } })
    .ask()
    .until(30_000)
  expect(headers.toClient()).toEqual(['+30000 head 503', '+30000 late', '+30000 end header_timeout'])
  const bare = faulty({ 'header-timeout': { after: '30s', answer: 'none', ending: 'rst' } })
    .ask()
    .until(30_000)
  expect(bare.toClient()).toEqual(['+30000 lost rst header_timeout'])
})
test('timers: idle may count progress only, and upstream may never be told [faults.timers]', () => {
  const r = faulty({ 'idle-timeout': { after: '1s', counts: 'progress', upstream: 'none' } })
    .ask()
    .server(10, sse)
  r.server(900, ...pieces(progress()))
    .server(1_800, event('x'))
    .until(1_900)
  expect(r.toClient().at(-1)).toBe('+1900 lost fin idle_timeout')
  expect(r.toServer().at(-1)).toBe('+0 asked')
})
test('buffer: full, pages, time, one behind, gzip; held heads [faults.buffer]', () => {
  const stream: Reply[] = [sse, event('a'), event('b')]
  const seen = (form: object) =>
    faulty({ buffer: form })
      .ask()
      .server(10, ...stream)
      .until(2_009)
      .server(3_000, done)
      .toClient()
  expect(seen({ mode: 'full' })).toEqual(['+10 head 200', '+3000 data: a⏎⏎', '+3000 data: b⏎⏎', '+3000 end complete'])
  expect(seen({ mode: 'full', holdHeaders: true })[0]).toBe('+3000 head 200')
  expect(seen({ mode: 'bytes', size: 10 })).toEqual(['+10 head 200', '+10 data: a⏎⏎', '+10 d', '+3000 ata: b⏎⏎', '+3000 end complete'])
  expect(seen({ mode: 'time', every: '2s' })).toEqual(['+10 head 200', '+2010 data: a⏎⏎', '+2010 data: b⏎⏎', '+3000 end complete'])
  expect(seen({ mode: 'one-behind' })).toEqual(['+10 head 200', '+10 data: a⏎⏎', '+3000 data: b⏎⏎', '+3000 end complete'])
  expect(seen({ mode: 'gzip' })).toEqual(['+10 head 200', '+3000 data: a⏎⏎', '+3000 data: b⏎⏎', '+3000 end complete'])
})
test('cut inside an event: half its bytes, at any chunking [faults.cut-places] [faults.events]', () => {
  const stream = `: ping\n\n${progress()}data: 0123456789\n\n${result()}`
  const cut = (chunks: readonly string[]) =>
    faulty({ cut: { inside: 'event', nth: 2, ending: 'rst' } })
      .ask()
      .server(1, sse, ...pieces(...chunks), done)
  expect(everyWay(stream, (chunks) => cut(chunks).bytesToClient())).toEqual([`: ping\n\n${progress()}data: 012`])
  expect(cut([stream]).closings).toEqual([{ cause: 'fault', seat: 'f', ending: 'rst', atMs: 1 }])
  const whole = (nth: number) =>
    everyWay(text, (chunks) =>
      faulty({ cut: { inside: 'event', nth } })
        .ask()
        .server(1, openJson, ...chunks.map(raw), done)
        .bytesToClient(),
    )
  expect(whole(1)).toEqual([text.slice(0, text.length / 2)])
  expect(whole(2)).toEqual([text])
})
test('cut inside a character: its first byte passes and no more [faults.cut-places]', () => {
  const utf8 = Buffer.from('data: aé — b\n\n').toString('latin1')
  const cut = (nth: number) =>
    everyWay(utf8, (chunks) =>
      faulty({ cut: { inside: 'character', nth } })
        .ask()
        .server(1, sse, ...pieces(...chunks), done)
        .bytesToClient(),
    )
  expect(cut(1)).toEqual(['data: a\xc3'])
  expect(cut(2)).toEqual(['data: a\xc3\xa9 \xe2'])
  expect(cut(3)).toEqual([utf8])
  expect(
    faulty({ cut: { inside: 'character' } })
      .ask()
      .server(1, openJson, raw('{"a":"\xc3'), raw('\xa9"}'), done)
      .bytesToClient(),
  ).toBe('{"a":"\xc3')
})
test('cut: where a clean end is impossible it is a fin, and the cause says so [faults.cut-clean]', () => {
  const sized = faulty({ cut: { after: { bytes: 3 }, ending: 'clean' } })
    .ask()
    .server(1, json, raw(text))
  expect(sized.closings).toEqual([{ cause: 'fault', seat: 'f', ending: 'fin', atMs: 1 }])
  expect(lastLoss(sized).cause.detail).toMatch(/clean end was asked for/)
  const open = faulty({ cut: { after: { bytes: 3 }, ending: 'clean' } })
    .ask()
    .server(1, openJson, raw(text))
  expect(open.closings).toEqual([{ cause: 'fault', seat: 'f', ending: 'clean', atMs: 1 }])
})
test('stall on the next request: the server is never asked, both are held; then it goes on [faults.stall]', () => {
  const r = faulty({ stall: { from: 'next-request', for: '30s' } }).ask()
  expect([r.toServer(), r.holds()]).toEqual([[], ['+0 hold server', '+0 hold client']])
  r.until(30_000)
  expect(r.toServer()).toEqual(['+30000 request', '+30000 asked'])
  const forGood = faulty({ stall: { from: 'headers' } })
    .ask()
    .server(5, sse, event('a'))
    .client(9, left())
  expect([forGood.toClient(), forGood.line.wakeAtMs(), forGood.line.heldBytes()]).toEqual([[], null, 9])
  expect(forGood.closings).toEqual([{ cause: 'client_reset', seat: null, ending: 'rst', atMs: 9 }])
  expect(forGood.toServer()).toEqual(['+0 request', '+0 asked']) // a leaving goes unseen …
  forGood.line.release(new Set(['f']), 50)
  expect(forGood.toServer().at(-1)).toBe('+50 lost rst client_reset') // … until the stall is taken away
})
test('half-open and hide-disconnect fire when somebody leaves [faults.half-open]', () => {
  const open = faulty({ 'half-open': { for: '2s' } })
    .ask()
    .server(5, sse)
    .client(10, left())
  expect(open.until(2_009).toServer().at(-1)).toBe('+0 asked')
  expect(open.until(2_010).toServer().at(-1)).toBe('+2010 lost fin client_reset')
  expect(open.notes).toEqual(['+10 f decided fired'])
  const hidden = faulty({ 'hide-disconnect': {} }).ask().server(5, sse).client(10, left()).until(9_999_999)
  expect(hidden.toServer().at(-1)).toBe('+0 asked')
})
test('latency on the request, the headers, events and the result [faults.latency]', () => {
  const on = (where: string) => ({ latency: { delay: '200ms', on: where } })
  const asking = faulty(on('request')).client(0, request, raw('{}')).client(50, asked)
  expect(asking.until(200).toServer()).toEqual(['+200 request', '+200 {}', '+200 asked'])
  const gaveUp = faulty(on('request')).client(0, request, raw('{}'), asked).client(50, left())
  expect([gaveUp.until(500).toServer(), gaveUp.line.heldBytes()]).toEqual([['+50 lost rst client_reset'], 0])
  expect(
    faulty({ latency: { delay: '200ms' } })
      .ask()
      .server(10, sse, event('a'))
      .until(300)
      .toClient(),
  ).toEqual(['+210 head 200', '+210 data: a⏎⏎'])
  const results = faulty(on('result'))
    .ask()
    .server(10, sse, ...pieces(progress()), ...pieces(result().slice(0, 9), result().slice(9)), done)
  expect(results.toClient()).toHaveLength(2)
  expect(results.until(210).toClient().slice(2)).toEqual(['+210 data: {"i', '+210 d":1,"result":{}}⏎⏎', '+210 end complete'])
  const whole = faulty(on('result'))
    .ask()
    .server(10, json, raw(text.slice(0, 9)))
    .server(100, raw(text.slice(9)), done)
    .until(300)
  expect(whole.toClient()).toEqual(['+10 head 200', `+210 ${text.slice(0, 9)}`, `+210 ${text.slice(9)}`, '+210 end complete'])
})
test('latency draws once an event, however it was split; distributions stay in their bounds [faults.latency]', () => {
  const events = 'data: one\n\ndata: two\n\n'
  const times = everyWay(events, (chunks) => {
    let draws = 0
    const plan = planOf({ latency: { delay: '100ms', jitter: '100ms', on: 'event' } })
    const counting = { name: 'f', sit: (out: Out) => plan.sit(out, () => [0.5, 0][draws++] ?? 1) }
    const r = rig([counting])
      .ask()
      .server(0, sse, ...pieces(...chunks), done)
      .until(999)
    return JSON.stringify([r.bytesToClient(), r.toClient().at(-1), draws])
  })
  // The second is drawn for 0 ms, and waits behind the first.
  expect(times).toEqual([JSON.stringify([events, '+100 end complete', 2])])
  const due = (distribution: string, seed: number): number => {
    const r = faulty({ latency: { delay: '100ms', jitter: '20ms', distribution, on: 'headers' } }, { seed })
      .ask()
      .server(0, sse)
      .until(99_999)
    return Number(/^\+([\d.]+) head/.exec(r.toClient()[0] ?? '')?.[1])
  }
  expect([due('uniform', 0), due('uniform', 0.5), due('uniform', 0.999)].map(Math.round)).toEqual([80, 100, 120])
  expect(due('pareto', 0)).toBe(100)
  expect(due('pareto', 0.99)).toBeGreaterThan(400) // the long tail
  expect(due('pareto', 1 - 1e-12)).toBeLessThanOrEqual(2_100) // … has an end
  expect(due('normal', 0)).toBe(100)
  expect(due('normal', 0.9)).not.toBe(100)
})
test('delay: the result by a fixed time, what follows behind it [faults.events]', () => {
  const r = faulty({ delay: { what: 'result', by: '5s' } })
    .ask()
    .server(10, sse, ...pieces(progress() + result()), done)
    .until(9_000)
  expect(r.toClient().map((line) => line.slice(0, 12))).toEqual(['+10 head 200', '+10 data: {"', '+5010 data: ', '+5010 end co'])
  const second = faulty({ delay: { what: 'progress', by: '1s', nth: 2 } })
    .ask()
    .server(0, sse, ...pieces(progress(1), progress(2), progress(3)))
    .until(5_000)
  expect(second.toClient().map((line) => line.split(' ')[0])).toEqual(['+0', '+0', '+1000', '+1000'])
})
test('bandwidth: never more than the rate, none lost, any chunking; the end comes last [faults.bandwidth]', () => {
  const stream = 'x'.repeat(1_000)
  const ends = everyWay(stream, (chunks) => {
    const r = faulty({ bandwidth: { bytesPerSecond: 500 } })
      .ask()
      .server(100, sse, ...chunks.map(raw), done)
      .until(9_999)
    let passed = 0
    for (const effect of r.effects) {
      if (effect.do !== 'toClient' || effect.signal.is !== 'piece') continue
      passed += effect.signal.bytes.length
      expect(passed).toBeLessThanOrEqual(((effect.atMs - 100) * 500) / 1_000 + 1e-6)
    }
    return JSON.stringify([passed, r.toClient().at(-1)])
  })
  expect(ends).toEqual([JSON.stringify([1_000, '+2100 end complete'])])
  const upload = faulty({ bandwidth: { bytesPerSecond: 10, on: 'request' } })
    .client(0, request, raw('abcdefghij'), asked)
    .until(5_000)
  expect([upload.toServer()[0], upload.toServer().at(-1)]).toEqual(['+0 request', '+1000 asked'])
  const gaveUp = faulty({ bandwidth: { bytesPerSecond: 10, on: 'request' } })
    .client(0, request, raw('abc'), asked)
    .client(50, left())
  expect([gaveUp.until(5_000).toServer(), gaveUp.line.heldBytes()]).toEqual([['+0 request', '+50 lost rst client_reset'], 0])
})
test('slice: parts of a size with pauses; released, the rest goes at once [faults.bandwidth]', () => {
  const r = faulty({ slice: { size: 4, every: '5ms' } })
    .ask()
    .server(10, sse, event('a'), event('b'), done)
  expect(r.until(20).toClient()).toEqual(['+10 head 200', '+10 data', '+15 : a⏎', '+20 ⏎'])
  r.line.release(new Set(['f']), 22)
  expect(r.toClient().slice(4)).toEqual(['+22 data: b⏎⏎', '+22 end complete'])
})
test('respond: status, headers and each body; the server is never asked [faults.respond]', () => {
  const answer = (form: object) => {
    const r = faulty({ respond: form }).ask()
    expect(r.toServer()).toEqual(['+0 lost fin fault'])
    const head = r.effects.find((effect) => effect.do === 'toClient' && effect.signal.is === 'head')
    return head?.do === 'toClient' && head.signal.is === 'head' ? [head.signal.status, head.signal.rawHeaders, r.bytesToClient()] : null
  }
  expect(answer({ status: 429, headers: { 'Retry-After': 7 }, body: 'slow' })).toEqual([
    429,
    ['Retry-After', '7', 'Content-Type', 'text/plain; charset=utf-8', 'Content-Length', '4'],
    'slow',
  ])
  expect(answer({ status: 503, body: 'none' })).toEqual([503, ['Content-Length', '0'], ''])
  expect(answer({ status: 503, body: 'html' })?.[2]).toMatch(/^<html>/)
  expect(JSON.parse(String(answer({ status: 503, body: 'json' })?.[2]))).toMatchObject({ jsonrpc: '2.0', id: null })
  expect(answer({ status: 503, headers: { 'content-type': 'text/x' }, body: 'json' })?.[1]).toEqual([
    'content-type',
    'text/x',
    'Content-Length',
    expect.any(String),
  ])
})
test('drop, duplicate and malform: whole events, byte for byte, at any chunking [faults.events]', () => {
  const stream = `id: 7\r\n${progress(1)}: ping\n\ndata: {"x":1}\r\n\r\n${progress(2)}${result()}`
  const seen = (form: object) => {
    const ways = everyWay(stream, (chunks) =>
      faulty(form)
        .ask()
        .server(1, sse, ...pieces(...chunks), done)
        .bytesToClient(),
    )
    expect(ways).toHaveLength(1)
    return ways[0]
  }
  const [p1, ping, x, p2, r] = [`id: 7\r\n${progress(1)}`, ': ping\n\n', 'data: {"x":1}\r\n\r\n', progress(2), result()]
  expect(seen({ drop: { what: 'progress' } })).toBe(ping + x + r)
  expect(seen({ drop: { what: 'comments' } })).toBe(p1 + x + p2 + r)
  expect(seen({ drop: { what: 'result' } })).toBe(p1 + ping + x + p2)
  expect(seen({ drop: { what: 'event', nth: 2 } })).toBe(p1 + ping + p2 + r)
  expect(seen({ duplicate: { what: 'progress', nth: 2 } })).toBe(p1 + ping + x + p2 + p2 + r)
  expect(seen({ duplicate: { what: 'result' } })).toBe(p1 + ping + x + p2 + r + r)
  expect(seen({ malform: { what: 'json', nth: 2 } })).toBe(p1 + ping + x.replace('{', '[') + p2 + r)
  expect(seen({ malform: { what: 'field', nth: 2 } })).toBe(p1 + ping + x.replace('data', 'dat_') + p2 + r)
  expect(seen({ malform: { what: 'field' } })?.length).toBe(stream.length)
  expect(seen({ drop: { what: 'event', nth: 99 } })).toBe(stream)
})
test('the unfinished last event of a stream passes as it is [faults.events]', () => {
  for (const form of [{ drop: { what: 'event' } }, { duplicate: { what: 'event' } }, { malform: { what: 'json' } }]) {
    const r = faulty(form)
      .ask()
      .server(1, sse, ...pieces('data: half'), gone())
    expect([r.bytesToClient(), r.toClient().at(-1)]).toEqual(['data: half', '+1 lost fin server_close'])
  }
})
test('encoded bodies pass untouched, and the fault says that it cannot see events [faults.encoded]', () => {
  const forms = [
    { drop: { what: 'event' } },
    { duplicate: { what: 'event' } },
    { malform: { what: 'json' } },
    { malform: { what: 'field' } },
    { delay: { what: 'result', by: '5s' } },
    { latency: { delay: '1s', on: 'event' } },
    { latency: { delay: '1s', on: 'result' } },
    { cut: { after: { events: 1 } } },
    { cut: { before: 'result' } },
    { cut: { inside: 'event' } },
    { cut: { inside: 'character' } },
  ]
  for (const form of forms) {
    const r = faulty(form)
    r.ask().server(1, gzipped, raw('\x1f\x8b\xc3\n\n'), done)
    expect([form, r.bytesToClient(), r.toClient().at(-1), r.notes]).toEqual([
      form,
      '\x1f\x8b\xc3\n\n',
      '+1 end complete',
      ['+1 f decided skipped'],
    ])
    expect(r.whys[0]).toMatch(/^the body is encoded/)
  }
})
test('JSON bodies: one message where that makes sense, left alone with a reason where not [faults.json-bodies]', () => {
  const seen = (form: object) => {
    const r = faulty(form)
    r.ask().server(1, openJson, raw(text.slice(0, 5)), raw(text.slice(5)), done)
    return r
  }
  for (const form of [
    { drop: { what: 'result' } },
    { duplicate: { what: 'event' } },
    { malform: { what: 'field' } },
    { malform: { what: 'json', nth: 2 } },
    { latency: { delay: '1s', on: 'event' } },
    { cut: { after: { events: 1 } } },
  ]) {
    const r = seen(form)
    expect([form, r.bytesToClient(), r.notes, r.whys]).toEqual([form, text, ['+1 f decided skipped'], ['the body is no event stream']])
  }
  expect(seen({ malform: { what: 'json' } }).bytesToClient()).toBe(`[${text.slice(1)}`)
  expect(
    seen({ malform: { what: 'json' } })
      .toClient()
      .at(-1),
  ).toBe('+1 end complete')
  expect(seen({ cut: { before: 'result' } }).toClient()).toEqual(['+1 head 200', '+1 lost fin fault'])
})
test('headers: set in place, removed, the rest raw and in order [faults.headers]', () => {
  const form = {
    headers: { request: { set: { Host: 'other', 'X-New': 'n' }, remove: ['ACCEPT'] }, response: { set: { 'x-a': '1' }, remove: ['x-b'] } },
  }
  const r = faulty(form).client(0, {
    is: 'request',
    method: 'POST',
    target: '/',
    rawHeaders: ['hOST', 'a', 'Accept', 'b', 'X-Dup', '1', 'host', 'c', 'X-Dup', '2'],
  })
  r.server(1, { ...sse, rawHeaders: ['X-B', '0', 'Date', 'd', 'X-B', '2'] })
  const heads = r.effects.flatMap((effect) => (effect.do !== 'hold' && 'rawHeaders' in effect.signal ? [effect.signal.rawHeaders] : []))
  expect(heads).toEqual([
    ['Host', 'other', 'X-Dup', '1', 'X-Dup', '2', 'X-New', 'n'],
    ['Date', 'd', 'x-a', '1'],
  ])
})
test('a veto on cuts: the response goes on whole, and that is said [faults.caps]', () => {
  const forms = [
    { cut: { after: { bytes: 3 } } },
    { cut: { after: { events: 1 } } },
    { cut: { before: 'result' } },
    { cut: { inside: 'event' } },
    { cut: { inside: 'character' } },
    { cut: { before: 'request' } },
    { cut: { after: { time: '1ms' } } },
    { respond: { status: 503 } },
    { 'max-duration': { after: '1ms' } },
  ]
  const stream = `data: \xc3\xa9\n\n${result()}`
  for (const form of forms) {
    const r = faulty(form, { mayCut: () => false })
      .ask()
      .until(5)
      .server(5, sse, ...pieces(stream), done)
    expect([form, r.bytesToClient(), r.toClient().at(-1), r.toServer().at(-1)]).toEqual([form, stream, '+5 end complete', '+0 asked'])
    expect([form, r.notes.map((note) => note.replace(/^\+\d+ /, ''))]).toEqual([form, ['f decided capped']])
  }
})
test('a cut asks for its leave once, however much still comes [faults.caps]', () => {
  const places = [{ after: { bytes: 3 } }, { after: { events: 1 } }, { before: 'result' }, { inside: 'event' }, { inside: 'character' }]
  for (const place of places) {
    let asked = 0
    const mayCut = (): boolean => {
      asked += 1
      return true
    }
    const r = faulty({ cut: { ...place, upstream: 'none' } }, { mayCut })
      .ask()
      .server(1, sse)
    for (let atMs = 2; atMs < 9; atMs += 1) r.server(atMs, ...pieces(`data: {"id":1,"result":"\xc3\xa9"}\n\n`))
    expect([place, asked, r.notes.length]).toEqual([place, 1, 1])
  }
})
test('queues are bounded: a full one holds its source until it has room [faults.bounded]', () => {
  const r = faulty({ bandwidth: { bytesPerSecond: 1_048_576 } })
    .ask()
    .server(0, sse, raw('x'.repeat(1_100_000)))
  expect(r.holds()).toEqual(['+0 hold server'])
  expect(r.line.heldBytes()).toBe(1_100_000)
  expect(r.until(500).holds()).toEqual(['+0 hold server', expect.stringMatching(/resume server$/)])
  const many = faulty({ latency: { delay: '1s', on: 'event' } })
    .ask()
    .server(0, sse)
  for (let n = 0; n < 5_000; n += 1) many.server(0, event('x'))
  expect(many.holds()).toEqual(['+0 hold server'])
  expect(many.until(1_000).toClient()).toHaveLength(5_001)
  expect(many.holds().at(-1)).toBe('+1000 resume server')
})
test('an over-long event passes unjudged at any chunking, and the next is judged [faults.bounded]', () => {
  const long = `data: ${'x'.repeat(1_100_000)}\n\n`
  const stream = `${long}data: next\n\n`
  for (const size of [stream.length, 65_536, 700_000]) {
    const chunks = Array.from({ length: Math.ceil(stream.length / size) }, (_, n) => stream.slice(n * size, (n + 1) * size))
    const r = faulty({ drop: { what: 'event' } })
      .ask()
      .server(1, sse, ...pieces(...chunks), done)
    expect(r.bytesToClient() === long).toBe(true)
    expect(r.line.heldBytes()).toBe(0)
  }
})
