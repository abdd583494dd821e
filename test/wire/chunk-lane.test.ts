/** Whole chunks that go past Node's parser on real connections: which do, and that nobody keeps what was only lent. */
import { expect, test } from 'vitest'
import type { CallRecord } from '../../src/core/record.ts'
import type { Request } from '../../src/core/signal.ts'
import { realClock } from '../../src/wire/real-clock.ts'
import { createUpstream } from '../../src/wire/upstream.ts'
import type { UpstreamEvents, UpstreamLeg } from '../../src/wire/upstream-port.ts'
import { appRig } from '../support/app-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, requestText } from '../support/raw-http.ts'
import type { RawConnection, RawHandler } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { whenTestEnds } from '../support/raw-socket.ts'
import { stalled, until } from '../support/relay.ts'
import { wireRig } from '../support/wire-rig.ts'

const HEADERS = [
  ['Content-Type', 'text/event-stream'],
  ['Transfer-Encoding', 'chunked'],
] as const
const event = (n: number, size = 20): string => `data: ${String(n).padStart(8, '0')}${String(n % 10).repeat(size)}\n\n`

interface Told {
  /** `l`: lent, `b`: by the parser. */
  how: string
  text: string
  isBegun: boolean
  isOver: boolean
}

const EVENTS: UpstreamEvents<Told> = {
  head(told) {
    told.isBegun = true
  },
  interim: () => undefined,
  bytes: (told, bytes) => void take(told, 'b', bytes),
  lent: (told, bytes) => void take(told, 'l', bytes),
  end(told) {
    told.isOver = true
  },
  lost(told) {
    told.isOver = true
  },
  drained: () => undefined,
}

function take(told: Told, how: string, bytes: Uint8Array): void {
  told.how += how
  told.text += Buffer.from(bytes).toString()
}

/** Sends a part whenever it is told to. */
function inParts(parts: readonly string[], heads = HEADERS): { readonly handler: RawHandler; next(): void } {
  const waiters: (() => void)[] = []
  let ready = 0
  const handler: RawHandler = async (connection) => {
    for (;;) {
      await connection.request()
      await connection.send(headText(200, heads))
      for (const part of parts) {
        if (ready === 0) await new Promise<void>((resolve) => waiters.push(resolve))
        ready -= 1
        await connection.send(part)
      }
    }
  }
  return {
    handler,
    next() {
      ready += 1
      waiters.shift()?.()
    },
  }
}

function dialled(url: URL, method = 'POST'): { port: ReturnType<typeof createUpstream>; dial(): { told: Told; leg: UpstreamLeg } } {
  const port = createUpstream(url, realClock)
  whenTestEnds(() => port.close())
  const request: Request = { is: 'request', method, target: '/', rawHeaders: ['Content-Length', '0'] }
  return {
    port,
    dial() {
      const told: Told = { how: '', text: '', isBegun: false, isOver: false }
      const leg = port.dial(request, false, EVENTS, told)
      leg.verbs.end(leg, [])
      return { told, leg }
    },
  }
}

test('whole chunks are lent, also on the connection’s next answer; what is split, odd or last is the parser’s [bench.chunk-lane]', async () => {
  const split = chunk(event(3))
  const parts = [
    ...[
      chunk(event(1)),
      chunk(event(2)) + split.slice(0, 9),
      split.slice(9) + chunk(event(4)),
      chunk(event(5)).replace('\r\n', ';a=b\r\n'),
    ],
    ...[chunk(event(6)), lastChunk],
  ]
  const { handler, next } = inParts(parts)
  const server = await rawServer(handler)
  const { dial } = dialled(server.url)
  for (const _ of [1, 2]) {
    const { told } = dial()
    await until('the head', () => told.isBegun)
    for (const count of [1, 3, 4, 5, 6]) {
      next()
      // In the second part 2 is whole, and the parser has begun with 3.
      await until('it is read', () => told.text.length >= (count === 3 ? 2 : count) * event(1).length)
    }
    expect(told.how.replace(/b+/g, 'b')).toBe('llblb')
    next()
    await until('it is over', () => told.isOver)
    expect(told.text).toBe([1, 2, 3, 4, 5, 6].map((n) => event(n)).join(''))
  }
  expect(server.connections).toHaveLength(1)
})

test('held back, nothing is lent; let go, all comes in order [bench.chunk-lane]', async () => {
  const { handler, next } = inParts([chunk(event(1)), chunk(event(2)), chunk(event(3)), chunk(event(4)) + lastChunk])
  const server = await rawServer(handler)
  const { told, leg } = dialled(server.url).dial()
  await until('the head', () => told.isBegun)
  next()
  await until('the first', () => told.how !== '')
  leg.verbs.pause(leg)
  next()
  next()
  await stalled(() => (server.connections[0]?.socket.bytesWritten ?? 0) + told.text.length, 200)
  expect(told.how).toBe('l')
  leg.verbs.resume(leg)
  await until('the third', () => told.text.length === 3 * event(1).length)
  next()
  await until('it is over', () => told.isOver)
  expect([told.how, told.text]).toEqual(['lbbl', [1, 2, 3, 4].map((n) => event(n)).join('')])
})

test.each([
  ['a client of HTTP/1.0, whose answer has no chunks', 'HTTP/1.0', 900],
  ['one of HTTP/1.1 and pieces that are not put together', 'HTTP/1.1', 5_000],
])(
  '%s: reading late, it gets what was lent as it was [bench.chunk-lane]',
  async (_, version, size) => {
    const COUNT = Math.ceil(9_000_000 / size)
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send(headText(200, HEADERS))
      for (let n = 0; n < COUNT; n += 1) if (!(await connection.send(chunk(event(n, size))))) return
      await connection.send(lastChunk)
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    void client.send(version === 'HTTP/1.0' ? requestText('GET', '/').replace('HTTP/1.1', version) : callText())
    await client.until('\r\n\r\n')
    client.pause()
    await stalled(() => server.connections.reduce((sum, { socket }) => sum + socket.bytesWritten, 0))
    client.resume()
    const { body } = await client.response({ method: 'POST', limitMs: 30_000 })
    expect(body.toString() === Array.from({ length: COUNT }, (_, n) => event(n, size)).join('')).toBe(true)
  },
  60_000,
)

test('of streams whose events come in the same moment, each record tells its own [bench.chunk-lane]', async () => {
  const COUNT = 40
  const STEPS = 5
  const message = (body: object): string => chunk(`data: ${JSON.stringify({ jsonrpc: '2.0', ...body })}\n\n`)
  const server = await rawServer(async (connection) => {
    await connection.request()
    await connection.send(headText(200, HEADERS))
  })
  const rig = await appRig(server.url)
  for (let id = 1; id <= COUNT; id += 1) {
    const client = await rawClient(rig.port)
    void client.send(callText('render', { id, progressToken: 1_000 + id }))
    await client.until('\r\n\r\n')
  }
  const idOf = (connection: RawConnection): number => Number(/"id":(\d+)/.exec(connection.text())?.[1])
  for (let step = 1; step <= STEPS; step += 1) {
    for (const connection of server.connections) {
      const params = { progressToken: 1_000 + idOf(connection), progress: step }
      void connection.send(message({ method: 'notifications/progress', params }))
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  for (const connection of server.connections) void connection.send(message({ id: idOf(connection), result: {} }) + lastChunk)
  const calls = (): Promise<readonly CallRecord[]> =>
    fetch(`http://127.0.0.1:${rig.adminPort}/api/v1/calls`).then(async (answer) => ((await answer.json()) as { calls: CallRecord[] }).calls)
  await expect.poll(async () => (await calls()).filter(({ result }) => result === 'sent').length, { timeout: 20_000 }).toBe(COUNT)
  const told = (await calls()).map(({ progress, violations, notices }) => [progress, violations, notices])
  expect(told).toEqual(Array.from({ length: COUNT }, () => [{ seen: STEPS, sent: STEPS }, [], []]))
}, 60_000)
