/** A client that leaves: the server hears of it at once, whatever is read, unread, written or unwritten at that moment. */
import { expect, test } from 'vitest'
import { compileLine } from '../../src/hops/compile.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { hop } from '../support/line-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { watchSockets } from '../support/socket-watch.ts'
import { wireRig } from '../support/wire-rig.ts'

const tolerant = hop('tolerant', {
  clientAbort: { midStream: 'at-once', beforeHeaders: 'at-once', halfClose: 'tolerate', upstream: 'fin' },
})
const CHUNK = chunk('x'.repeat(65_536))

/** Writes without end, until the connection is gone. */
async function flood(connection: RawConnection): Promise<void> {
  await connection.request()
  await connection.send(sseHead)
  while (await connection.send(CHUNK)) if (connection.ended() !== null) return
}
const silence = (connection: RawConnection): unknown => connection.request()

test.each(['fin', 'rst'] as const)('while the server is silent and the body was long read: %s [endings.leaving-at-once]', async (how) => {
  const server = await rawServer(silence)
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  client.send(callText())
  await rig.fact('asked')
  const connection = await server.connection(0)
  await connection.request()
  expect(connection.ended()).toBeNull()
  client[how]()
  expect((await connection.untilEnded()).how).toBe(how)
  expect(await rig.fact('told')).toMatchObject({ ending: how })
})

test.each(['fin', 'rst'] as const)('while a backlog waits that it never read: %s [endings.leaving-at-once]', async (how) => {
  const sockets = watchSockets()
  const server = await rawServer(flood)
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  client.pause()
  client.send(callText())
  const connection = await server.connection(0)
  await sockets.untilStuck(rig.port)
  client[how]()
  const ended = await connection.untilEnded()
  expect(ended.how).toBe(how)
  expect(await rig.fact('closed')).toMatchObject({ cause: { kind: how === 'fin' ? 'client_abort' : 'client_reset' } })
  await rig.fact('finished')
})

test('in the middle of its own request [endings.leaving-at-once]', async () => {
  const server = await rawServer(() => undefined)
  const rig = await wireRig(server.url)
  for (const [n, how] of (['fin', 'rst'] as const).entries()) {
    const client = await rawClient(rig.port)
    client.send(requestText('POST', '/mcp', [['Content-Length', '1000']], '{"half":'))
    const connection = await server.connection(n)
    await connection.until('{"half":')
    client[how]()
    expect((await connection.untilEnded()).how).toBe(how)
    expect(await rig.fact('closed', n)).toMatchObject({ ending: how })
    await rig.fact('finished', n)
    if (how === 'fin') expect((await client.untilEnded()).how).toBe('fin')
  }
})

test('in the middle of its request’s head nothing opens', async () => {
  const server = await rawServer(silence)
  const rig = await wireRig(server.url)
  for (const how of ['fin', 'rst'] as const) {
    const client = await rawClient(rig.port)
    await client.send('POST /mcp HTTP/1.1\r\nHost: x')
    client[how]()
    if (how === 'fin') await client.untilEnded()
  }
  expect([rig.exchangeCount(), server.connections.length]).toEqual([0, 0])
})

test.each([
  ['nobody', []],
  ['a tolerant hop', [tolerant]],
] as const)('a reset in one packet with the request is a reset: %s [endings.leaving-at-once]', async (_who, hops) => {
  const server = await rawServer(silence)
  const rig = await wireRig(server.url, { plans: compileLine(hops, []) })
  for (let n = 0; n < 5; n += 1) {
    const client = await rawClient(rig.port)
    client.send(callText())
    client.rst()
    // It may be gone before its request was read at all.
    await expect.poll(() => rig.listener.openCount(), { timeout: 10_000 }).toBe(0)
  }
  for (let n = 0; n < rig.exchangeCount(); n += 1) {
    expect((await rig.fact('closed', n)).cause.kind).toBe('client_reset')
    await rig.fact('finished', n)
  }
  for (const connection of server.connections) await connection.untilEnded()
})

test('a half-close is leaving, and both sides of its connection end [endings.half-close]', async () => {
  const server = await rawServer(silence)
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  client.send(callText())
  await rig.fact('asked')
  client.fin()
  expect((await client.untilEnded()).how).toBe('fin')
  await expect.poll(() => client.socket.closed, { timeout: 10_000 }).toBe(true)
  expect(rig.facts().filter(({ kind }) => kind === 'closed')).toMatchObject([{ cause: { kind: 'client_abort' }, ending: 'fin' }])
})

test('a hop that tolerates a half-close passes the whole answer, then ends the connection [endings.half-close]', async () => {
  const server = await rawServer(async (connection) => {
    await connection.request()
    await connection.send(sseHead + chunk(progressEvent(1)))
    await connection.until('go on', 20_000).catch(() => undefined)
  })
  const rig = await wireRig(server.url, { plans: compileLine([tolerant], []) })
  const client = await rawClient(rig.port)
  client.send(callText())
  await client.until('"progress":1')
  client.fin()
  // Long enough for the FIN to be seen here: another client's call comes and goes meanwhile.
  const other = await rawClient(rig.port)
  other.send(callText())
  await other.until('"progress":1')
  const connection = await server.connection(0)
  expect(connection.ended()).toBeNull()
  await connection.send(chunk(resultEvent()) + lastChunk)
  expect(await client.response()).toMatchObject({ isWhole: true, text: progressEvent(1) + resultEvent() })
  expect((await client.untilEnded()).how).toBe('fin')
  expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'complete' }, ending: 'clean' })
  expect(rig.facts().some(({ kind }) => kind === 'told')).toBe(false)
})

test('a client that leaves while its server is still being dialled opens and ends everything once', async () => {
  const server = await rawServer(silence)
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  client.send(callText())
  await rig.fact('opened')
  client.close()
  await rig.fact('finished')
  await expect.poll(() => server.connections.every((connection) => connection.ended() !== null), { timeout: 10_000 }).toBe(true)
  expect(rig.facts().filter(({ kind }) => kind === 'closed' || kind === 'finished')).toHaveLength(2)
})

test('a client that half-closed and does not read is let go after a while [endings.cut-finishes]', async () => {
  const sockets = watchSockets()
  const clock = fakeClock()
  const server = await rawServer(flood)
  const rig = await wireRig(server.url, { clock })
  const client = await rawClient(rig.port)
  client.pause()
  client.send(callText())
  const connection = await server.connection(0)
  await sockets.untilStuck(rig.port)
  client.fin()
  await connection.untilEnded()
  await rig.fact('finished')
  clock.advance(999)
  expect(sockets.accepted(rig.port).map(({ destroyed }) => destroyed)).toEqual([false])
  clock.advance(1)
  await sockets.untilNoneAccepted(rig.port)
})

test('after the end a client that leaves changes nothing, and is let go', async () => {
  const sockets = watchSockets()
  const server = await rawServer(async (connection) => {
    for (;;) {
      await connection.request()
      await connection.send(`${headText(200, [['Content-Length', '2']])}ok`)
    }
  })
  const rig = await wireRig(server.url)
  for (const how of ['fin', 'rst'] as const) {
    const client = await rawClient(rig.port)
    client.send(callText())
    await client.response()
    client[how]()
    await sockets.untilNoneAccepted(rig.port)
  }
  expect(sockets.accepted(rig.port)).toHaveLength(2)
  expect(server.connections).toHaveLength(1) // still kept, and used again
  for (const n of [0, 1]) expect(rig.facts(n).filter(({ kind }) => kind === 'told')).toEqual([])
})
