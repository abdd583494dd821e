/** Faults that hold, delay, change or hide, over real sockets: what arrives, when, in which order, and what the server learns. */
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { controlRig } from '../support/control-rig.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'

const RESULT = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [] } })
const jsonHead = headText(200, [
  ['Content-Type', 'application/json'],
  ['Content-Length', String(RESULT.length)],
])

async function called(faults: readonly object[], request = callText()) {
  const clock = fakeClock()
  const upstream = await rawServer(() => undefined)
  const rig = await controlRig(upstream.url, { faults, clock })
  const client = await rawClient(rig.port)
  client.send(request)
  const server = async () => {
    const connection = await upstream.connection(0)
    await connection.until('tools/call')
    return connection
  }
  return { clock, upstream, rig, client, server }
}
type Called = Awaited<ReturnType<typeof called>>
const seen = ({ rig }: Called, events: number) =>
  expect.poll(() => rig.facts().filter((fact) => fact.kind === 'event' && fact.at === 'server').length, { timeout: 10_000 }).toBe(events)
/** What a client reads of a whole event stream of these events under that fault. */
async function streamed(faults: readonly object[], events: readonly string[]) {
  const at = await called(faults)
  const connection = await at.server()
  connection.send(sseHead)
  for (const event of events) for (const part of event.match(/.{1,17}/gs) ?? []) connection.send(chunk(part))
  connection.send(lastChunk)
  const answer = await at.client.response()
  await at.rig.fact('finished')
  return { ...at, answer }
}
const three = [progressEvent(1), ': note\n\n', resultEvent()]

test('buffer full: nothing until the end, then all of it; with holdHeaders the head as well [faults2.wire-hold]', async () => {
  for (const holdHeaders of [false, true]) {
    const at = await called([{ do: { buffer: { mode: 'full', holdHeaders } } }])
    const connection = await at.server()
    connection.send(sseHead + chunk(progressEvent(1)))
    await seen(at, 1)
    connection.send(chunk(resultEvent()))
    await seen(at, 2)
    if (holdHeaders) expect(at.client.text()).toBe('')
    else await at.client.until(/\r\n\r\n$/)
    connection.send(lastChunk)
    const answer = await at.client.response()
    expect([answer.text, answer.isWhole]).toEqual([progressEvent(1) + resultEvent(), true])
  }
})

test('buffer bytes, time and one-behind release page by page, by the clock, one event late [faults2.wire-hold]', async () => {
  const bytes = await called([{ do: { buffer: { mode: 'bytes', size: 10 } } }])
  const pages = await bytes.server()
  pages.send(sseHead + chunk('data: 5\n\ndata: 678'))
  await expect.poll(() => bytes.rig.record().bytes).toMatchObject({ seen: 18, sent: 10 })
  pages.send(lastChunk)
  expect((await bytes.client.response()).text).toBe('data: 5\n\ndata: 678')
  const time = await called([{ do: { buffer: { mode: 'time', every: '2s' } } }])
  const timed = await time.server()
  timed.send(sseHead + chunk(progressEvent(1)))
  await seen(time, 1)
  time.clock.advance(1_999)
  expect(time.client.text()).not.toContain('progress')
  time.clock.advance(1)
  await time.client.until('"progress":1')
  const behind = await called([{ do: { buffer: { mode: 'one-behind' } } }])
  const late = await behind.server()
  late.send(sseHead + chunk(progressEvent(1)))
  await seen(behind, 1)
  expect(behind.client.text()).not.toContain('progress')
  late.send(chunk(progressEvent(2)))
  await behind.client.until('"progress":1')
  expect(behind.client.text()).not.toContain('"progress":2')
})

test.each(['headers', 'body'] as const)(
  'stall from %s: neither side is read, both stay open; then all goes on in order [faults2.wire-stall]',
  async (from) => {
    const at = await called([{ do: { stall: { from, for: '30s' } } }])
    const connection = await at.server()
    connection.send(sseHead + chunk(progressEvent(1)))
    await expect.poll(at.rig.notes).toContain('f fired')
    connection.send(chunk(progressEvent(2)))
    at.client.fin() // goes unseen
    at.clock.advance(29_999)
    expect([connection.ended(), at.client.ended(), at.client.text().includes('progress')]).toEqual([null, null, false])
    if (from === 'headers') expect(at.client.text()).toBe('')
    at.clock.advance(1)
    connection.send(chunk(resultEvent()) + lastChunk)
    const text = await at.client.until('"progress":1')
    expect(text).toContain('text/event-stream')
  },
)

test('stall for good ends only by who leaves; a reset shows all the same [faults2.wire-stall]', async () => {
  const at = await called([{ do: { stall: { from: 'headers' } } }])
  const connection = await at.server()
  connection.send(sseHead + chunk(progressEvent(1)))
  await expect.poll(at.rig.notes).toContain('f fired')
  at.clock.advance(86_400_000)
  expect([connection.ended(), at.client.ended()]).toEqual([null, null])
  at.rig.control.remove('f')
  await at.client.until('"progress":1')
})

test('stall: accept leaves the connection unread until its time, or the fault is taken away [faults2.wire-accept]', async () => {
  for (const how of ['time', 'removal', 'stop'] as const) {
    const at = await called([{ do: { stall: { from: 'accept', for: '30s' } } }])
    await expect.poll(() => at.rig.tally('f').fired).toBe(1)
    at.clock.advance(29_999)
    expect([at.rig.exchangeCount(), at.upstream.connections.length, at.client.ended()]).toEqual([0, 0, null])
    if (how === 'time') at.clock.advance(1)
    else if (how === 'removal') at.rig.control.remove('f')
    else at.rig.control.stop()
    ;(await at.server()).send(jsonHead + RESULT)
    expect((await at.client.response()).text).toBe(RESULT)
  }
})

test('stall: accept lets go of every connection, in real time too, by its time and by stop [faults2.wire-accept]', async () => {
  for (const how of ['time', 'stop', 'time', 'stop']) {
    const upstream = await rawServer(async (connection) => {
      // The pool may give two of the five the same connection, one after the other.
      for (;;) {
        await connection.request()
        connection.send(jsonHead + RESULT)
      }
    })
    const rig = await controlRig(upstream.url, {
      faults: [{ do: { stall: { from: 'accept', ...(how === 'time' ? { for: '30ms' } : {}) } } }],
    })
    const clients = await Promise.all(
      Array.from({ length: 5 }, async (_, n) => {
        const client = await rawClient(rig.port)
        client.send(callText(`t${n}`))
        return client
      }),
    )
    await expect.poll(() => rig.tally('f').fired, { timeout: 10_000 }).toBe(5)
    if (how === 'stop') setTimeout(() => rig.control.stop(), 30) // what was sent has long been in the kernel
    for (const client of clients) expect((await client.response()).text).toBe(RESULT)
  }
})

test('stall: next-request lets one through and stalls the next on that connection [faults2.wire-stall]', async () => {
  const at = await called([{ when: { nth: 1 }, do: { stall: { from: 'next-request', for: '5s' } } }])
  ;(await at.server()).send(jsonHead + RESULT)
  expect((await at.client.response()).status).toBe(200)
  at.client.send(callText('second', { id: 2 }))
  await expect.poll(() => at.rig.notes(1)).toContain('f fired')
  expect((await at.upstream.connection(0)).text()).not.toContain('second')
  at.clock.advance(5_000)
  await expect.poll(() => at.upstream.connections.map((one) => one.text()).join('')).toContain('second')
})

test('half-open tells the server late, hide-disconnect never; both read it meanwhile [faults2.wire-hide]', async () => {
  for (const leaves of ['fin', 'rst'] as const) {
    const half = await called([{ do: { 'half-open': { for: '30s' } } }])
    const connection = await half.server()
    connection.send(sseHead)
    await half.client.until('\r\n\r\n')
    half.client[leaves]()
    await half.rig.fact('closed')
    connection.send(chunk(progressEvent(1)))
    await seen(half, 1)
    half.clock.advance(29_999)
    expect([leaves, connection.ended()]).toEqual([leaves, null])
    half.clock.advance(1)
    expect((await connection.untilEnded()).how).toBe('fin')
    await half.rig.fact('finished')
    expect(half.rig.record()).toMatchObject({ cause: leaves === 'fin' ? 'client_abort' : 'client_reset', closedBy: 'client' })
    expect(half.rig.record().toldMs).toBeGreaterThanOrEqual(30_000)
    const hidden = await called([{ do: { 'hide-disconnect': {} } }])
    const other = await hidden.server()
    other.send(sseHead)
    await hidden.client.until('\r\n\r\n')
    hidden.client[leaves]()
    await hidden.rig.fact('closed')
    hidden.clock.advance(50_000) // less than the wait for a work report
    other.send(chunk(resultEvent()) + lastChunk)
    await hidden.rig.fact('finished')
    expect([other.ended(), hidden.rig.record().toldMs, hidden.rig.record().result]).toEqual([null, null, 'seen'])
  }
})

test.each([
  ['request', 'tools/call'],
  ['headers', 'text/event-stream'],
  ['event', '"progress":1'],
  ['result', '"result"'],
] as const)('latency on the %s: it comes that much later, and nothing overtakes it [faults2.wire-latency]', async (on, what) => {
  const at = await called([{ do: { latency: { delay: '5s', jitter: '0ms', distribution: 'normal', on } } }])
  if (on === 'request') {
    await at.rig.fact('asked')
    await expect.poll(at.rig.notes).toContain('f fired')
    expect(at.upstream.connections.length).toBe(0)
    at.clock.advance(4_999)
    expect(at.upstream.connections.length).toBe(0)
    at.clock.advance(1)
    await (await at.upstream.connection(0)).until(what)
    return
  }
  const connection = await at.server()
  connection.send(sseHead + chunk(progressEvent(1) + resultEvent()) + lastChunk)
  await at.rig.fact('server_over')
  at.clock.advance(4_999)
  expect(at.client.text()).not.toContain(what)
  if (on === 'result') await at.client.until('"progress":1')
  at.clock.advance(1)
  at.clock.advance(5_000)
  const answer = await at.client.response()
  expect([answer.text, answer.isWhole]).toEqual([progressEvent(1) + resultEvent(), true])
})

test('bandwidth and slice: all bytes, no faster than said, in parts of the size said [faults2.wire-pace]', async () => {
  const slow = await called([{ do: { bandwidth: { bytesPerSecond: 100 } } }])
  const connection = await slow.server()
  const text = `data: ${'x'.repeat(292)}\n\n`
  connection.send(sseHead + chunk(text) + lastChunk)
  await expect.poll(slow.rig.notes).toContain('f fired')
  for (let n = 0; n < 10; n += 1) slow.clock.advance(100)
  expect(slow.rig.record().bytes.sent).toBeLessThanOrEqual(100)
  expect(slow.rig.record().bytes.sent).toBeGreaterThanOrEqual(90)
  for (let n = 0; n < 30; n += 1) slow.clock.advance(100)
  expect((await slow.client.response()).text).toBe(text)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x'.repeat(400), arguments: {} } })
  const upload = await called(
    [{ do: { bandwidth: { bytesPerSecond: 200, on: 'request' } } }],
    requestText(
      'POST',
      '/mcp',
      [
        ['Mcp-Method', 'tools/call'],
        ['MCP-Protocol-Version', '2026-07-28'],
        ['Mcp-Name', 'x'],
      ],
      body,
    ),
  )
  await upload.rig.fact('asked')
  upload.clock.advance(1_000)
  const early = (await upload.upstream.connection(0)).text()
  expect(early).not.toContain(body)
  for (let n = 0; n < 40; n += 1) upload.clock.advance(100)
  await (await upload.upstream.connection(0)).until(body)
  const sliced = await called([{ do: { slice: { size: 3, every: '5ms' } } }])
  const other = await sliced.server()
  other.send(sseHead + chunk('data: 0123456789\n\n') + lastChunk)
  await sliced.rig.fact('server_over')
  for (let n = 0; n < 20; n += 1) sliced.clock.advance(5)
  const answer = await sliced.client.response()
  expect([answer.text, Math.max(...answer.chunks)]).toEqual(['data: 0123456789\n\n', 3])
})

test.each([
  [{ drop: { what: 'progress' } }, [': note\n\n', resultEvent()]],
  [{ drop: { what: 'comments' } }, [progressEvent(1), resultEvent()]],
  [{ drop: { what: 'result' } }, [progressEvent(1), ': note\n\n']],
  [{ drop: { what: 'event', nth: 1 } }, [': note\n\n', resultEvent()]],
  [{ duplicate: { what: 'event', nth: 2 } }, [...three, resultEvent()]],
  [{ malform: { what: 'json', nth: 1 } }, [progressEvent(1).replace('data: {', 'data: ['), ': note\n\n', resultEvent()]],
  [{ malform: { what: 'field', nth: 2 } }, [progressEvent(1), ': note\n\n', resultEvent().replace('data:', 'dat_:')]],
] as const)('%j: whole events, byte for byte, at any chunking [faults2.wire-events]', async (form, expected) => {
  const { answer, rig } = await streamed([{ do: form }], three)
  expect([answer.text, answer.isWhole, rig.tally('f').fired]).toEqual([expected.join(''), true, 1])
  expect(rig.record().cause).toBe('complete')
})

test('delay holds the result by so much; what came before is already there [faults2.wire-events]', async () => {
  const at = await called([{ do: { delay: { what: 'result', by: '5s' } } }])
  const connection = await at.server()
  connection.send(sseHead + chunk(progressEvent(1) + resultEvent()) + lastChunk)
  await at.rig.fact('server_over')
  await at.client.until('"progress":1')
  at.clock.advance(4_999)
  expect(at.client.text()).not.toContain('"result"')
  at.clock.advance(1)
  expect((await at.client.response()).text).toBe(progressEvent(1) + resultEvent())
  expect(at.rig.record().result).toBe('sent')
})

test('headers are set and removed on request and response; the rest stays as it came [faults2.wire-headers]', async () => {
  const at = await called([
    {
      do: {
        headers: {
          request: { set: { Accept: '*/*', 'X-New': 'a' }, remove: ['mcp-name'] },
          response: { set: { 'Content-Type': 'text/html' }, remove: ['X-Gone'] },
        },
      },
    },
  ])
  const connection = await at.server()
  const request = await connection.request()
  expect([request.headers('accept'), request.header('x-new'), request.header('mcp-name'), request.header('mcp-method')]).toEqual([
    ['*/*'],
    'a',
    null,
    'tools/call',
  ])
  connection.send(
    headText(200, [
      ['Content-Type', 'application/json'],
      ['X-Gone', '1'],
      ['X-Stay', '1'],
      ['Content-Length', '2'],
    ]) + '{}',
  )
  const answer = await at.client.response()
  expect([answer.header('content-type'), answer.header('x-gone'), answer.header('x-stay'), answer.text]).toEqual([
    'text/html',
    null,
    '1',
    '{}',
  ])
})

test.each([
  { cut: { after: { events: 1 } } },
  { cut: { before: 'result' } },
  { cut: { inside: 'event' } },
  { cut: { inside: 'character' } },
  { drop: { what: 'event' } },
  { duplicate: { what: 'event' } },
  { delay: { what: 'result', by: '60s' } },
  { malform: { what: 'json' } },
  { malform: { what: 'field' } },
  { latency: { delay: '60s', on: 'event' } },
])('%j leaves an encoded body alone, and says why [faults2.wire-encoded]', async (form) => {
  const at = await called([{ do: form }])
  const connection = await at.server()
  const zipped = gzipSync(progressEvent(1) + resultEvent())
  connection.send(
    headText(200, [
      ['Content-Type', 'text/event-stream'],
      ['Content-Encoding', 'gzip'],
      ['Content-Length', String(zipped.length)],
    ]),
  )
  connection.send(zipped.subarray(0, 9))
  connection.send(zipped.subarray(9))
  const answer = await at.client.response()
  expect(answer.body.equals(zipped)).toBe(true)
  await at.rig.fact('finished')
  expect(at.rig.notes()).toEqual([expect.stringMatching(/^f skipped: the body is encoded: its (events|characters) cannot be seen$/)])
  expect([at.rig.record().cause, at.rig.tally('f').fired]).toEqual(['complete', 0])
})

test.each([
  [{ drop: { what: 'result' } }, 'skipped'],
  [{ cut: { after: { events: 1 } } }, 'skipped'],
  [{ malform: { what: 'json' } }, 'fired'],
  [{ delay: { what: 'result', by: '1s' } }, 'fired'],
] as const)('%j on a JSON body: %s [faults2.wire-encoded]', async (form, what) => {
  const at = await called([{ do: form }])
  ;(await at.server()).send(jsonHead + RESULT)
  await at.rig.fact('server_over')
  at.clock.advance(1_000)
  const answer = await at.client.response()
  expect(answer.text).toBe('malform' in form ? `[${RESULT.slice(1)}` : RESULT)
  expect(at.rig.notes()).toEqual([what === 'fired' ? 'f fired' : 'f skipped: the body is no event stream'])
})
