/** How a WebSocket session ends without a Close frame: who broke off, what the other side sees and when, and what stays open. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { MIB } from '../support/memory.ts'
import { rawClient } from '../support/raw-client.ts'
import type { RawConnection, RawServer } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { watchSockets } from '../support/socket-watch.ts'
import { acceptRaw, echo, handshakeText, rawFrame, rawSession, wsClient, wsServer } from '../support/websocket-rig.ts'
import { wireRig } from '../support/wire-rig.ts'

/** Both ends bare: nothing is answered or closed by itself. */
const pair = async (options: Parameters<typeof wireRig>[1] = {}) => {
  const server = await rawServer(acceptRaw, { answersFin: false })
  const rig = await wireRig(server.url, options)
  const client = await rawSession(rig.port)
  return { server, rig, client, session: await sessionOf(server) }
}
const sessionOf = async (server: RawServer): Promise<RawConnection> => server.connection(0)
/** The promise is 50 ms; a machine shared with others is given more. */
const AT_ONCE_MS = 500

describe('the client breaks off', () => {
  test.each([
    ['fin', 'client_abort'],
    ['rst', 'client_reset'],
  ] as const)('by %s: the server is told at once [websocket.abnormal]', async (how, kind) => {
    const { rig, client, session } = await pair()
    client.send(rawFrame(1, 'last words'))
    await session.until('\x81\x8a')
    const atMs = performance.now()
    client[how]()
    const ended = await session.untilEnded()
    expect(ended.how).toBe(how)
    expect(ended.atMs - atMs).toBeLessThan(AT_ONCE_MS)
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind }, ending: how })
    expect(await rig.fact('told')).toMatchObject({ ending: how })
    await rig.fact('finished')
    if (how === 'fin') expect((await client.untilEnded()).how).toBe('fin')
    expect(client.text()).not.toContain('\x88') // no Close frame was made up
  })

  test('while the handshake is under way: the server is told at once [websocket.abnormal]', async () => {
    const server = await rawServer((connection) => connection.request(), { answersFin: false })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    client.send(handshakeText())
    await (await server.connection(0)).request()
    client.fin()
    await (await server.connection(0)).untilEnded()
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'client_abort' } })
    await rig.fact('finished')
    expect(rig.facts().some(({ kind }) => kind === 'head')).toBe(false)
  })

  test('with a Close and a FIN at once: the server’s answer still arrives, and it is no abort [websocket.close]', async () => {
    const { rig, client, session } = await pair()
    client.send(rawFrame(8, Uint8Array.of(0x03, 0xe8)))
    client.fin()
    await session.until(/\x88\x82/)
    expect(session.ended()).toBeNull()
    session.send(Buffer.of(0x88, 2, 0x03, 0xe9))
    await client.until('\x88\x02\x03\xe9')
    await client.untilEnded()
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'complete' }, ending: 'clean' })
    await rig.fact('finished')
  })
})

describe('the server breaks off', () => {
  test.each([
    ['fin', 'server_close'],
    ['rst', 'server_reset'],
  ] as const)('by %s: the client sees just that, after all that was said [websocket.abnormal]', async (how, kind) => {
    const { rig, client, session } = await pair()
    await session.send(Buffer.concat([Buffer.of(0x81, 4), Buffer.from('last')]))
    await client.until('last')
    const atMs = performance.now()
    session[how]()
    const ended = await client.untilEnded()
    expect(ended.how).toBe(how)
    expect(ended.atMs - atMs).toBeLessThan(AT_ONCE_MS)
    const closed = await rig.fact('closed')
    expect(closed).toMatchObject({ cause: { kind, detail: expect.stringContaining('without a Close frame') }, ending: how })
    await rig.fact('finished')
    expect(client.text()).not.toContain('\x88')
  })

  test('in the middle of a message: what never was whole is not passed on [websocket.abnormal]', async () => {
    const { rig, client, session } = await pair()
    await session.send(Buffer.concat([Buffer.of(0x81, 9), Buffer.from('half')]))
    session.fin()
    await client.untilEnded()
    expect(client.text()).not.toContain('half')
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'server_close' }, ending: 'fin' })
  })

  test('a client of `ws` sees 1006, as it would without us [websocket.abnormal]', async () => {
    const server = await wsServer()
    const rig = await wireRig(server.url)
    for (const how of ['destroy', 'resetAndDestroy'] as const) {
      const n = rig.exchangeCount()
      const client = await wsClient(rig.port)
      ;(await server.session(n)).socket[how]()
      expect((await client.closed).code).toBe(1006)
      await rig.fact('finished', n)
    }
  })

  test('a server that says Close and vanishes: clean for the client, and nothing stays [websocket.close]', async () => {
    const watch = watchSockets()
    const { server, rig, client, session } = await pair()
    await session.send(Buffer.of(0x88, 0))
    session.rst()
    await client.until('\x88\x00')
    client.send(rawFrame(8))
    expect((await client.untilEnded()).how).toBe('fin')
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'complete' }, ending: 'clean' })
    await rig.fact('finished')
    await expect.poll(() => watch.connected(server.port).filter(({ destroyed }) => !destroyed).length).toBe(0)
  })
})

describe('what cannot be passed on', () => {
  test('a client’s frame against the protocol: 1002 for it, and the server sees it gone [websocket.survives]', async () => {
    for (const frame of [Buffer.of(0x81, 1, 0x41), Buffer.of(0xf1, 0x80, 0, 0, 0, 0), rawFrame(3, 'x'), rawFrame(8, Uint8Array.of(0, 1))]) {
      const { rig, client, session } = await pair()
      client.send(frame)
      await client.until('\x88\x02\x03\xea')
      await session.untilEnded()
      expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'client_abort' } })
      expect(await rig.fact('notice')).toMatchObject({ what: 'websocket-protocol-broken' })
      await rig.fact('finished')
    }
  })

  test('a server’s: 1002 for it, and the client sees a loss that says why [websocket.survives]', async () => {
    const { rig, client, session } = await pair()
    session.send(Buffer.of(0x83, 0))
    expect((await client.untilEnded()).how).toBe('fin')
    await session.untilEnded()
    expect(session.text()).toMatch(/\x88\x82.{6}$/s)
    expect(await rig.fact('closed')).toMatchObject({
      cause: { kind: 'server_close', detail: expect.stringContaining('broke the WebSocket protocol') },
      ending: 'fin',
    })
    await rig.fact('finished')
  })

  test('a message over 16 MiB: 1009 to both, cause limit; one of 16 MiB passes [websocket.too-long]', async () => {
    for (const from of ['client', 'server'] as const) {
      const server = await wsServer()
      const rig = await wireRig(server.url)
      const client = await wsClient(rig.port)
      const session = await server.session()
      const [one, other] = from === 'client' ? [client, session] : [session, client]
      const longest = randomBytes(16 * MIB)
      one.ws.send(longest)
      expect((await other.untilCame(1))[0]?.bytes.equals(longest)).toBe(true)
      one.ws.send(Buffer.alloc(16 * MIB + 1))
      expect((await other.closed).code).toBe(1009)
      expect([1009, 1006]).toContain((await one.closed).code) // its own upload may keep it from reading that
      expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'limit', detail: expect.stringContaining(from) }, ending: 'clean' })
      await rig.fact('finished')
    }
  })
})

describe('a side that does not read', () => {
  test('holds the other, and what waits is bounded [websocket.backpressure]', async () => {
    const message = Buffer.alloc(256 * 1_024, 7)
    for (const slow of ['client', 'server'] as const) {
      const watch = watchSockets()
      const server = await wsServer()
      const rig = await wireRig(server.url)
      const client = await wsClient(rig.port)
      const session = await server.session()
      const [fast, lazy] = slow === 'client' ? [session, client] : [client, session]
      lazy.socket.pause()
      const sent = { count: 0, isOver: false }
      const pump = (): void => {
        if (sent.isOver || fast.ws.readyState !== fast.ws.OPEN) return
        sent.count += 1
        fast.ws.send(message, pump)
      }
      pump()
      let last = -1
      await expect
        .poll(
          () => {
            const isStuck = sent.count === last
            last = sent.count
            return isStuck
          },
          { timeout: 20_000, interval: 250 },
        )
        .toBe(true)
      // Kernel buffers on four sockets take some MiB; more would come without end if nothing held it.
      expect(sent.count * message.length).toBeLessThan(64 * MIB)
      const own = slow === 'client' ? watch.accepted(rig.port)[0] : watch.connected(server.port)[0]
      expect(own?.writableLength).toBeGreaterThan(0)
      expect(own?.writableLength).toBeLessThan(MIB)
      sent.isOver = true
      const total = sent.count
      lazy.socket.resume()
      const came = await lazy.untilCame(total)
      expect(came.every(({ bytes }) => bytes.equals(message))).toBe(true)
    }
  })

  test('and its leaving, or the other’s, still ends the session [websocket.backpressure]', async () => {
    const { rig, client, session } = await pair()
    client.pause()
    const chunk = Buffer.concat([Buffer.of(0x82, 126, 0xff, 0xff), Buffer.alloc(65_535)])
    let isOpen = true
    const pump = async (): Promise<void> => {
      while (isOpen && (await session.send(chunk)));
    }
    void pump()
    await expect.poll(() => session.queuedBytes(), { timeout: 10_000 }).toBeGreaterThan(0)
    client.rst()
    await session.untilEnded()
    isOpen = false
    expect((await rig.fact('closed')).cause.kind).toBe('client_reset')
    await rig.fact('finished')
  })
})

test('500 sessions opened and dropped in every way leave nothing open [websocket.nothing-left] [websocket.survives]', async () => {
  const watch = watchSockets()
  const server = await wsServer({ onSession: echo })
  const timers = new Set<object>()
  const { realClock } = await import('../../src/wire/real-clock.ts')
  const rig = await wireRig(server.url, {
    clock: {
      ...realClock,
      after(delayMs, run) {
        const timer = realClock.after(delayMs, () => {
          timers.delete(timer)
          run()
        })
        timers.add(timer)
        return {
          cancel() {
            timers.delete(timer)
            timer.cancel()
          },
          again(laterMs) {
            timers.add(timer)
            timer.again(laterMs)
          },
        }
      },
    },
  })
  const ways: readonly ((n: number) => Promise<void>)[] = [
    async () => {
      const { ws, closed } = await wsClient(rig.port)
      ws.close(1000)
      await closed
    },
    async () => (await wsClient(rig.port)).ws.terminate(),
    async () => void (await wsClient(rig.port)).socket.resetAndDestroy(),
    async () => {
      const client = await wsClient(rig.port)
      client.ws.send('x'.repeat(100_000))
      client.socket.resetAndDestroy()
    },
    async () => {
      const client = await rawClient(rig.port)
      client.send(handshakeText())
      client.rst()
    },
    async (n) => {
      const client = await wsClient(rig.port, { headers: { 'x-n': String(n) } })
      await client.untilCame(0)
      client.ws.send('bye')
      await client.untilCame(1)
      client.ws.close(4000 + (n % 900), 'bye')
      client.socket.destroy()
    },
  ]
  for (let n = 0; n < 500; n += 25) {
    await Promise.all(Array.from({ length: 25 }, (_, k) => ways[(n + k) % ways.length]?.(n + k)))
  }
  await expect.poll(() => rig.listener.openCount(), { timeout: 10_000 }).toBe(0)
  await watch.untilNoneAccepted(rig.port)
  await expect.poll(() => watch.connected(server.port).filter(({ destroyed }) => !destroyed).length, { timeout: 15_000 }).toBe(0)
  await expect.poll(() => timers.size, { timeout: 10_000 }).toBe(0)
  for (let n = 0; n < rig.exchangeCount(); n += 1) {
    const kinds = rig.facts(n).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'closed' || kind === 'finished')).toEqual(['closed', 'finished'])
  }
})
