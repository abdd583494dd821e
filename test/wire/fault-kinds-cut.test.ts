/** Faults that end an exchange, over real sockets: what both sides see, who is told, and what the record says. */
import { expect, test } from 'vitest'
import { controlRig } from '../support/control-rig.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, resultEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'

const jsonHead = (body: string, more: readonly (readonly [string, string])[] = []) =>
  headText(200, [['Content-Type', 'application/json'], ['Content-Length', String(Buffer.byteLength(body, 'latin1'))], ...more])
const RESULT = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [] } })

/** One call under these faults; the test plays the server. */
async function called(faults: readonly object[], { client: options = {} as { answersFin?: boolean } } = {}) {
  const clock = fakeClock()
  const upstream = await rawServer(() => undefined)
  const rig = await controlRig(upstream.url, { faults, clock })
  const client = await rawClient(rig.port, options)
  client.send(callText())
  const server = async () => {
    const connection = await upstream.connection(0)
    await connection.until('tools/call')
    return connection
  }
  return { clock, upstream, rig, client, server }
}

test.each([
  ['idle-timeout', 'idle_timeout', 'fin', 'fin'],
  ['idle-timeout', 'idle_timeout', 'rst', 'rst'],
  ['max-duration', 'max_duration', 'fin', 'fin'],
  ['max-duration', 'max_duration', 'rst', 'rst'],
] as const)('%s cuts mid-stream by %s: client %s, server %s [faults2.wire-timers]', async (kind, cause, ending, upstreamEnding) => {
  const { clock, rig, client, server } = await called([{ do: { [kind]: { after: '60s', ending, upstream: upstreamEnding } } }])
  const connection = await server()
  connection.send(sseHead + chunk(progressEvent(1)))
  await client.until('"progress":1')
  clock.advance(59_999)
  expect(client.ended()).toBeNull()
  clock.advance(1)
  expect((await client.untilEnded()).how).toBe(ending)
  expect((await connection.untilEnded()).how).toBe(upstreamEnding)
  await rig.fact('finished')
  expect(client.text()).not.toContain(lastChunk)
  expect(rig.record()).toMatchObject({
    cause,
    fault: 'f',
    hop: null,
    closedBy: 'sidecar',
    ending,
    result: 'none',
    closedMs: 60_000,
    toldMs: 60_000,
  })
  expect([rig.notes(), rig.tally('f')]).toMatchObject([['f fired'], { matched: 1, fired: 1 }])
})

test('idle-timeout counts what it is told to: comments are bytes, not events [faults2.wire-timers]', async () => {
  for (const [counts, isCut] of [
    ['bytes', false],
    ['events', true],
    ['progress', true],
  ] as const) {
    const { clock, rig, client, server } = await called([{ do: { 'idle-timeout': { after: '10s', counts } } }])
    const connection = await server()
    connection.send(sseHead)
    await client.until('\r\n\r\n')
    clock.advance(9_000)
    connection.send(chunk(': still here\n\n'))
    await client.until('still here')
    clock.advance(9_000)
    if (isCut) await rig.fact('closed')
    expect([counts, rig.record().cause]).toEqual([counts, isCut ? 'idle_timeout' : null])
  }
})

test('a timer whose upstream is none leaves the server untold, and it is read on [faults2.wire-timers]', async () => {
  const { clock, rig, client, server } = await called([{ do: { 'max-duration': { after: '5s', upstream: 'none' } } }])
  const connection = await server()
  connection.send(sseHead)
  await client.until('\r\n\r\n')
  clock.advance(5_000)
  expect((await client.untilEnded()).how).toBe('fin')
  connection.send(chunk(progressEvent(1)) + chunk(resultEvent()) + lastChunk)
  await rig.fact('server_over')
  expect([connection.ended(), rig.record().toldMs, rig.record().cause]).toEqual([null, null, 'max_duration'])
})

test('header-timeout answers in place of a server that sends no head; the server is hung up on [faults2.wire-timers]', async () => {
  const { clock, rig, client, server } = await called([
    { do: { 'header-timeout': { after: '30s', answer: { status: 504, reason: 'Too Slow', contentType: 'text/html', body: '<p>slow' } } } },
  ])
  const connection = await server()
  await rig.fact('asked')
  clock.advance(30_000)
  const answer = await client.response()
  expect([answer.startLine, answer.header('content-type'), answer.text]).toEqual(['HTTP/1.1 504 Too Slow', 'text/html', '<p>slow'])
  expect((await connection.untilEnded()).how).toBe('fin')
  await rig.fact('finished')
  expect(rig.record()).toMatchObject({ cause: 'header_timeout', fault: 'f', status: 504, seenStatus: null, closedBeforeHeaders: true })
  const bare = await called([{ do: { 'header-timeout': { after: '1s', answer: 'none' } } }])
  await bare.server()
  await bare.rig.fact('asked')
  bare.clock.advance(1_000)
  expect([(await bare.client.untilEnded()).how, bare.client.text()]).toEqual(['fin', ''])
})

test.each(['fin', 'rst', 'clean'] as const)(
  'cut after 2 events by %s: exactly those arrive; the server hears of it [faults2.wire-cut]',
  async (ending) => {
    const { rig, client, server } = await called([{ do: { cut: { after: { events: 2 }, ending } } }])
    const connection = await server()
    connection.send(sseHead + chunk(progressEvent(1)))
    await client.until('"progress":1')
    connection.send(chunk(progressEvent(2) + progressEvent(3)))
    const told = await connection.untilEnded()
    const ended = ending === 'clean' ? await client.until(lastChunk).then(() => 'clean') : (await client.untilEnded()).how
    expect([ended, told.how]).toEqual([ending, 'fin'])
    await rig.fact('finished')
    const body = client.text().slice(client.text().indexOf('\r\n\r\n') + 4)
    // A reset may lose what the kernel had not sent yet: at most that much, never more.
    const whole = chunk(progressEvent(1)) + chunk(progressEvent(2))
    if (ending === 'rst') expect(whole.startsWith(body)).toBe(true)
    else expect(body).toBe(ending === 'clean' ? whole + lastChunk : whole)
    expect(rig.record()).toMatchObject({ cause: 'fault', fault: 'f', ending, closedBy: 'sidecar', result: 'none', progress: { sent: 2 } })
  },
)

test.each(['fin', 'rst'] as const)(
  'cut after bytes by %s: that many body bytes and no more, at any chunking [faults2.wire-cut]',
  async (ending) => {
    const { rig, client, server } = await called([{ do: { cut: { after: { bytes: 100 }, ending, upstream: 'rst' } } }])
    const connection = await server()
    connection.send(sseHead)
    await client.until('\r\n\r\n')
    for (let n = 0; n < 30; n += 1) connection.send(chunk('data: x'))
    expect((await client.untilEnded()).how).toBe(ending)
    expect((await connection.untilEnded()).how).toBe('rst')
    await rig.fact('finished')
    expect(rig.record()).toMatchObject({ bytes: { sent: 100 }, cause: 'fault' })
    if (ending === 'fin') expect((await client.response()).text).toBe('data: x'.repeat(15).slice(0, 100))
  },
)

test('cut after a time; a sized body cannot end cleanly, so it becomes fin and the record says so [faults2.wire-cut]', async () => {
  const { clock, rig, client, server } = await called([{ do: { cut: { after: { time: '2s' }, ending: 'clean' } } }])
  const connection = await server()
  connection.send(jsonHead(RESULT) + RESULT.slice(0, 10))
  await client.until('{"jsonrpc"')
  clock.advance(2_000)
  expect((await client.untilEnded()).how).toBe('fin')
  expect((await client.response()).isWhole).toBe(false)
  const closed = await rig.fact('closed')
  expect([closed.ending, closed.cause.kind, closed.cause.detail]).toEqual(['fin', 'fault', expect.stringMatching(/clean end was asked/)])
})

test('cut before the result: the server finished, its result is withheld [faults2.wire-cut]', async () => {
  const sse = await called([{ do: { cut: { before: 'result', ending: 'rst' } } }])
  const connection = await sse.server()
  connection.send(sseHead + chunk(progressEvent(1)))
  await sse.client.until('"progress":1')
  const answer = resultEvent()
  for (const part of [answer.slice(0, 20), answer.slice(20)]) connection.send(chunk(part))
  expect((await sse.client.untilEnded()).how).toBe('rst')
  await sse.rig.fact('finished')
  expect(sse.client.text()).not.toContain('"result"')
  expect(sse.rig.record()).toMatchObject({ result: 'seen', cause: 'fault', progress: { sent: 1 } })
  const json = await called([{ do: { cut: { before: 'result' } } }])
  const other = await json.server()
  other.send(jsonHead(RESULT) + RESULT)
  expect((await json.client.untilEnded()).how).toBe('fin')
  expect(json.client.text()).not.toContain('jsonrpc')
})

test('cut before the request: the server never sees it [faults2.wire-cut]', async () => {
  const { upstream, rig, client } = await called([{ do: { cut: { before: 'request', ending: 'rst' } } }])
  expect([(await client.untilEnded()).how, client.text()]).toEqual(['rst', ''])
  await rig.fact('finished')
  expect([upstream.connections.length, rig.record().toldMs, rig.record().cause]).toEqual([0, null, 'fault'])
})

test('cut inside the second event, and inside a character: half of it arrives [faults2.wire-cut]', async () => {
  const event = await called([{ do: { cut: { inside: 'event', nth: 2 } } }])
  const [first, second] = [progressEvent(1), progressEvent(2)]
  const connection = await event.server()
  connection.send(sseHead)
  for (const byte of first + second) connection.send(chunk(byte))
  expect((await event.client.untilEnded()).how).toBe('fin')
  expect((await event.client.response()).text).toBe(first + second.slice(0, Math.floor(second.length / 2)))
  const character = await called([{ do: { cut: { inside: 'character', nth: 2 } } }])
  const other = await character.server()
  other.send(sseHead + chunk('data: \xc3\xa9\xe2\x82\xac!\n\n'))
  expect((await character.client.untilEnded()).how).toBe('fin')
  expect((await character.client.response()).body.toString('latin1')).toBe('data: \xc3\xa9\xe2')
})

test("respond answers in the server's place, which is never asked [faults2.wire-respond]", async () => {
  for (const [body, type, text] of [
    ['html', 'text/html', /<h1>503</],
    ['json', 'application/json', /"error"/],
    ['none', null, /^$/],
    ['away', 'text/plain; charset=utf-8', /^away$/],
  ] as const) {
    const { upstream, rig, client } = await called([{ do: { respond: { status: 503, headers: { 'Retry-After': '7' }, body } } }])
    const answer = await client.response()
    expect([answer.status, answer.header('retry-after'), answer.header('content-type'), answer.isWhole]).toEqual([503, '7', type, true])
    expect(answer.text).toMatch(text)
    await rig.fact('finished')
    expect([upstream.connections.length, rig.record().status, rig.record().seenStatus, rig.record().fault]).toEqual([0, 503, null, 'f'])
    client.send(callText()) // the connection lives on
    expect((await client.response()).status).toBe(503)
  }
})

test.each(['rst', 'fin'] as const)(
  'refuse by %s: the connection of that number is closed unread, others are served [faults2.wire-accept]',
  async (ending) => {
    const upstream = await rawServer(async (connection) => {
      for (;;) {
        await connection.request()
        connection.send(jsonHead(RESULT) + RESULT)
      }
    })
    const rig = await controlRig(upstream.url, { faults: [{ when: { connection: 2 }, do: { refuse: { ending } } }] })
    const first = await rawClient(rig.port)
    // A reset may come before the client's own connect was told of: that is how it sees it then.
    const second = await rawClient(rig.port).catch((error: NodeJS.ErrnoException) => error.code)
    const third = await rawClient(rig.port)
    if (typeof second === 'object') {
      second.send(callText())
      expect([(await second.untilEnded()).how, second.text()]).toEqual([ending, ''])
    } else expect([ending, second]).toEqual(['rst', 'ECONNRESET'])
    for (const client of [first, third]) {
      client.send(callText())
      expect((await client.response()).status).toBe(200)
    }
    expect([rig.exchangeCount(), rig.tally('f')]).toMatchObject([2, { matched: 1, fired: 1 }])
  },
)
