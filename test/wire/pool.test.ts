/** The connections kept to the server: used again while fresh, never a second time for one request. */
import { describe, expect, test } from 'vitest'
import { freshMs } from '../../src/wire/pool.ts'
import type { RawSocket } from '../support/raw-client.ts'
import { rawClient } from '../support/raw-client.ts'
import type { HeaderList } from '../support/raw-http.ts'
import { callText, chunk, headText, lastChunk, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection, RawServer } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { turn } from '../support/relay.ts'
import type { WireRig } from '../support/wire-rig.ts'
import { wireRig } from '../support/wire-rig.ts'

const ok = (body: string, headers: HeaderList = []): string => headText(200, [...headers, ['Content-Length', String(body.length)]]) + body

/** Answers each request with its connection's and its own number, as `answer` says. */
async function countingServer(answer: (connection: number, request: number) => string): Promise<RawServer> {
  return rawServer(async (connection) => {
    for (let request = 0; ; request += 1) {
      await connection.request(60_000)
      await connection.send(answer(connection.index, request))
    }
  })
}
async function ask(client: RawSocket, text = callText()): Promise<string> {
  void client.send(text)
  const { status, text: body } = await client.response()
  return `${status} ${body}`
}
const requestsAt = (server: RawServer): number[] =>
  server.connections.map((connection) => connection.text().split(/^POST |(?<=\})POST /).length - 1)
/** The sidecar has put its connection back: only then may the next request find it. */
async function settled(rig: WireRig): Promise<void> {
  await rig.fact('finished', rig.exchangeCount() - 1)
  for (let count = 0; count < 3; count += 1) await turn()
}

test.each([
  [undefined, 4_000],
  ['timeout=5', 4_000],
  ['timeout=60, max=100', 4_000],
  ['max=100, timeout=3', 2_000],
  ['timeout=2', 1_000],
  ['timeout=1', 0],
  ['timeout=0', -1_000],
  ['max=1', 4_000],
  ['timeout=x', 4_000],
])('Keep-Alive: %s is fresh for %d ms [pool.reuse]', (hint, ms) => {
  expect(freshMs(hint)).toBe(ms)
})

describe('used again', () => {
  test('one after another take one connection, whichever client asks, and leave no trace on it [pool.reuse]', async () => {
    const server = await countingServer((connection, request) => ok(`${connection}.${request}`))
    const rig = await wireRig(server.url)
    const warnings: Error[] = []
    const warned = (warning: Error): number => warnings.push(warning)
    process.on('warning', warned)
    for (let count = 0; count < 30; count += 1) {
      const client = await rawClient(rig.port)
      expect(await ask(client)).toBe(`200 0.${count}`)
      await settled(rig)
    }
    process.off('warning', warned)
    expect(server.connections).toHaveLength(1)
    expect(warnings).toEqual([])
  })
  test('requests at one time take one each [pool.reuse]', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request()
      await server.connection(19) // all came before one is answered
      await connection.send(ok(String(connection.index)))
    })
    const rig = await wireRig(server.url)
    const clients = await Promise.all(Array.from({ length: 20 }, () => rawClient(rig.port)))
    const got = await Promise.all(clients.map((client) => ask(client)))
    expect(new Set(got).size).toBe(20)
  })
  test("a server's hint is kept to: 1 s less, then closed and not used again [pool.reuse]", async () => {
    const server = await countingServer((connection, request) => ok(`${connection}.${request}`, [['Keep-Alive', 'timeout=2']]))
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    expect(await ask(client)).toBe('200 0.0')
    const first = await server.connection(0)
    const answeredAtMs = performance.now()
    const closed = await first.untilEnded()
    expect(closed.how).toBe('fin')
    expect(closed.atMs - answeredAtMs).toBeGreaterThan(900)
    expect(await ask(client)).toBe('200 1.0')
  })
  test('a hint of 1 s, and an answer that says close, are not used again [pool.reuse]', async () => {
    for (const header of [['Keep-Alive', 'timeout=1'] as const, ['Connection', 'close'] as const]) {
      const server = await countingServer((connection, request) => ok(`${connection}.${request}`, [header]))
      const rig = await wireRig(server.url)
      const client = await rawClient(rig.port)
      expect(await ask(client)).toBe('200 0.0')
      await settled(rig)
      expect(await ask(client)).toBe('200 1.0')
    }
  })
  test('a connection that the server closed meanwhile is not used [pool.reuse]', async () => {
    const server = await countingServer((connection, request) => ok(`${connection}.${request}`))
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    expect(await ask(client)).toBe('200 0.0')
    await settled(rig)
    server.connections[0]?.fin()
    await server.connections[0]?.untilEnded()
    expect(await ask(client)).toBe('200 1.0')
  })
  test('an abandoned answer takes its connection with it [pool.reuse]', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request()
      if (connection.index > 0) await connection.send(ok('next'))
      else await connection.send(sseHead + chunk(': hi\n\n'))
    })
    const rig = await wireRig(server.url)
    const leaving = await rawClient(rig.port)
    void leaving.send(callText())
    await leaving.until(': hi')
    leaving.rst()
    await server.connections[0]?.untilEnded()
    expect(await ask(await rawClient(rig.port))).toBe('200 next')
    expect(server.connections).toHaveLength(2)
  })
})

describe('nothing is sent twice', () => {
  /** The first request of a connection is answered; at the next, `dies` does what it does. */
  async function dyingServer(dies: (connection: RawConnection) => unknown): Promise<RawServer> {
    return rawServer(async (connection) => {
      await connection.request()
      await connection.send(ok('first'))
      await connection.request()
      await dies(connection)
    })
  }
  test.each([
    ['FIN', (connection: RawConnection) => connection.fin(), 'closed'],
    ['RST', (connection: RawConnection) => connection.rst(), 'reset'],
  ])('a reused connection that dies by %s is a 502 that says so [pool.no-retry]', async (_, dies, did) => {
    const server = await dyingServer(dies)
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    expect(await ask(client)).toBe('200 first')
    await settled(rig)
    const got = await ask(client)
    expect(got).toMatch(new RegExp(`^502 impatient-hop: a reused keep-alive connection was ${did} by the server before any byte`))
    expect(got).toContain('nothing is retried')
    await settled(rig)
    expect(requestsAt(server)).toEqual([2]) // no further connection, no further request
    expect(await rig.fact('closed', 1)).toMatchObject({
      cause: { kind: did === 'closed' ? 'server_close' : 'server_reset' },
      ending: 'clean',
    })
    expect(await ask(client)).toBe('200 first') // and the sidecar goes on
  })
  test('nor where part of an answer came [pool.no-retry]', async () => {
    const server = await dyingServer(async (connection) => {
      await connection.send('HTTP/1.1 200 O')
      connection.fin()
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    expect(await ask(client)).toBe('200 first')
    await settled(rig)
    const got = await ask(client)
    expect(got).toMatch(/^502 /)
    expect(got).not.toContain('reused') // bytes came: the server had it
    expect(requestsAt(server)).toEqual([2])
  })
  test('nor on a fresh connection [pool.no-retry]', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request()
      connection.rst()
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    expect(await ask(client)).toMatch(/^502 impatient-hop: the server reset the connection before its answer/)
    await settled(rig)
    expect(requestsAt(server)).toEqual([1])
  })
})

test('an earlier Keep-Alive: timeout=2 does not end a slow answer on the same connection [pool.no-stale-timer]', async () => {
  const server = await rawServer(async (connection) => {
    await connection.request()
    await connection.send(ok('first', [['Keep-Alive', 'timeout=2']]))
    await connection.request()
    await new Promise((resolve) => setTimeout(resolve, 2_600)) // longer than the hint, before the head …
    await connection.send(sseHead + chunk(': hi\n\n'))
    await new Promise((resolve) => setTimeout(resolve, 2_600)) // … and in mid-stream
    await connection.send(chunk(resultEvent()) + lastChunk)
  })
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  expect(await ask(client)).toBe('200 first')
  await settled(rig)
  expect(await ask(client)).toBe(`200 : hi\n\n${resultEvent()}`)
  expect(server.connections).toHaveLength(1)
})

describe('bytes nobody asked for', () => {
  const STRAY = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray'
  test.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['a second answer', STRAY],
  ])('%s with the answer: it is whole, and the connection is not used again [pool.no-mixing]', async (_, extra) => {
    const server = await countingServer((connection, request) => ok(`${connection}.${request}`) + extra)
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    expect(await ask(client)).toBe('200 0.0')
    await settled(rig)
    expect(await ask(client)).toBe('200 1.0')
  })
  test.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['a second answer', STRAY],
  ])('%s while the connection is idle never answers the next request [pool.no-mixing]', async (_, extra) => {
    const server = await countingServer((connection, request) => ok(`${connection}.${request}`))
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    expect(await ask(client)).toBe('200 0.0')
    await settled(rig)
    const first = await server.connection(0)
    await first.send(extra)
    for (let count = 0; count < 5; count += 1) await turn() // it has arrived
    expect(await ask(client)).toBe('200 1.0')
    await first.untilEnded(1_500) // given up at once, long before it would have been stale
  })
})

test('POST, GET and DELETE are each sent once [pool.no-retry]', async () => {
  const server = await rawServer(async (connection) => {
    await connection.request()
    connection.rst()
  })
  const rig = await wireRig(server.url)
  for (const method of ['POST', 'GET', 'DELETE', 'PUT']) {
    const client = await rawClient(rig.port)
    expect(await ask(client, requestText(method, '/'))).toMatch(/^502 /)
  }
  await settled(rig)
  expect(server.connections.map((connection) => connection.text().split(' HTTP/1.1').length - 1)).toEqual([1, 1, 1, 1])
})
