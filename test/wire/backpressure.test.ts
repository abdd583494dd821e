/** A peer that does not read: memory stays where it was, the other side waits, and leaving frees everything. */
import { describe, expect, test } from 'vitest'
import type { SeatPlan } from '../../src/core/seat.ts'
import { compileHop } from '../../src/hops/compile.ts'
import { collect, collectedText, createCollector, isTooLong, MEANING_BYTES_MAX } from '../../src/wire/collector.ts'
import { buffering, hop, idle } from '../support/line-rig.ts'
import { MIB, memory } from '../support/memory.ts'
import type { RawSocket } from '../support/raw-client.ts'
import { rawClient } from '../support/raw-client.ts'
import type { HeaderList } from '../support/raw-http.ts'
import { callText, headText, requestText } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'
import { stalled, until } from '../support/relay.ts'
import { wireRig } from '../support/wire-rig.ts'

const watching = compileHop(hop('watching', { buffering: buffering('none'), idle: idle(600_000) }))
const LARGE = 200 * MIB
const BOUND = 64 * MIB

/** Sends `total` bytes in pieces, each when the kernel took the one before; counts what was taken. */
function pump(to: RawSocket, piece: Buffer, total: number): { sent(): number; done: Promise<void> } {
  let sent = 0
  const run = async (): Promise<void> => {
    while (sent < total && (await to.send(piece))) sent += piece.length
  }
  return { sent: () => sent, done: run() }
}
const events = Buffer.from(`data: ${'x'.repeat(1_000)}\n\n`.repeat(65))
const oneChunk = Buffer.concat([Buffer.from(`${events.length.toString(16)}\r\n`), events, Buffer.from('\r\n')])
const blank = Buffer.alloc(65_536, 'x')

describe('a client that does not read 200 MB', () => {
  const bodies: readonly [string, HeaderList, Buffer, readonly SeatPlan[]][] = [
    ['sized', [['Content-Length', String(LARGE)]], blank, []],
    ['to the end of the connection', [], blank, []],
    [
      'SSE, nobody on the line',
      [
        ['Content-Type', 'text/event-stream'],
        ['Transfer-Encoding', 'chunked'],
      ],
      oneChunk,
      [],
    ],
    [
      'SSE, a watching hop',
      [
        ['Content-Type', 'text/event-stream'],
        ['Transfer-Encoding', 'chunked'],
      ],
      oneChunk,
      watching,
    ],
    ['one endless event', [['Content-Type', 'text/event-stream']], blank, watching],
  ]
  test.each(bodies)('%s: memory stays, its RST frees all at once [backpressure.slow-client]', async (_, headers, piece, plans) => {
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send(headText(200, headers))
    })
    const rig = await wireRig(server.url, { plans })
    const client = await rawClient(rig.port)
    void client.send(callText())
    await client.until('\r\n\r\n')
    client.pause()
    const upstream = await server.connection(0)
    const before = memory()
    const { sent, done } = pump(upstream, piece, LARGE)
    await until('something flows', () => sent() > MIB)
    await stalled(sent)
    const after = memory()
    expect(sent()).toBeLessThan(BOUND)
    expect(after.heap - before.heap).toBeLessThan(BOUND)
    expect(after.rss - before.rss).toBeLessThan(BOUND)
    client.rst()
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'client_reset' }, ending: 'rst' })
    await upstream.untilEnded()
    await done
    await until('nothing is open', () => rig.listener.openCount() === 0)
    expect(rig.ports.held.totalBytes).toBe(0)
  })
  test('its FIN frees all at once, too [backpressure.slow-client]', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send(headText(200, [['Content-Length', String(LARGE)]]))
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    void client.send(callText())
    await client.until('\r\n\r\n')
    client.pause()
    const upstream = await server.connection(0)
    const { sent, done } = pump(upstream, blank, LARGE)
    await stalled(sent)
    client.fin()
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'client_abort' } })
    await upstream.untilEnded()
    await done
    await until('nothing is open', () => rig.listener.openCount() === 0)
  })
})

/** Bytes that tell their place. */
function pattern(bytes: number): Buffer {
  const all = Buffer.allocUnsafe(bytes)
  for (let at = 0; at < bytes; at += 4) all.writeUInt32LE(at, at)
  return all
}

describe('after backpressure', () => {
  test.each([
    ['nobody', []],
    ['a watching hop', watching],
    ['a hop one behind', compileHop(hop('behind', { buffering: buffering('one-behind') }))],
    ['a hop that holds pages', compileHop(hop('pages', { buffering: buffering({ bytes: 4_096 }) }))],
  ])('every byte of the answer arrives, %s on the line [backpressure.flow-resumes]', async (_, plans) => {
    const body = pattern(24 * MIB)
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send(headText(200, [['Content-Length', String(body.length)]]))
      await connection.send(body)
    })
    const rig = await wireRig(server.url, { plans, heldBytesPerExchange: 64 * MIB })
    const client = await rawClient(rig.port)
    void client.send(callText())
    for (let pauses = 0; pauses < 3; pauses += 1) {
      client.pause()
      await stalled(() => server.connections[0]?.queuedBytes() ?? 0, 150)
      client.resume()
      await until('more came', () => client.bytes().length > (pauses + 1) * 4 * MIB)
    }
    const got = await client.response({ limitMs: 30_000 })
    expect(got.isWhole && got.body.equals(body)).toBe(true)
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'complete' } })
  })
  test('every byte of an upload arrives [backpressure.flow-resumes]', async () => {
    const body = pattern(24 * MIB)
    const server = await rawServer(async (connection) => {
      connection.pause()
      await stalled(() => client.queuedBytes(), 150)
      connection.resume()
      await connection.until(/\r\n\r\n/)
      connection.pause()
      await stalled(() => client.queuedBytes(), 150)
      connection.resume()
      const { body: seen, isWhole } = await connection.request(30_000)
      await connection.send(headText(isWhole && seen.equals(body) ? 200 : 400, [['Content-Length', '0']]))
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    void client.send(requestText('POST', '/', [['Content-Length', String(body.length)]]))
    void client.send(body)
    expect((await client.response({ limitMs: 30_000 })).status).toBe(200)
    expect(server.problems).toEqual([])
  })
})

test.each([
  ['sized', ['Content-Length', String(LARGE)], blank],
  ['in chunks', ['Transfer-Encoding', 'chunked'], oneChunk],
] as const)('an upload of 200 MB to a server that does not read, %s: memory stays [backpressure.slow-server]', async (_, header, piece) => {
  const server = await rawServer((connection) => connection.pause())
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  await client.send(requestText('POST', '/', [['Content-Type', 'application/json'], header]))
  const upstream = await server.connection(0)
  const before = memory()
  const { sent, done } = pump(client, piece, LARGE)
  await until('something flows', () => sent() > MIB)
  await stalled(sent)
  const after = memory()
  expect(sent()).toBeLessThan(BOUND)
  expect(after.heap - before.heap).toBeLessThan(BOUND)
  expect(after.rss - before.rss).toBeLessThan(BOUND)
  upstream.rst()
  expect((await client.response()).status).toBe(502)
  client.rst()
  await done
  await until('nothing is open', () => rig.listener.openCount() === 0)
})

test('a body of 1 MiB that comes byte by byte is kept for its meaning in little more than its size [backpressure.slow-server]', () => {
  const collector = createCollector()
  const before = memory()
  for (let count = 0; count < MEANING_BYTES_MAX; count += 1) collect(collector, Buffer.of(97 + (count % 26)))
  expect(memory().heap - before.heap).toBeLessThan(8 * MIB)
  expect(collectedText(collector)).toHaveLength(MEANING_BYTES_MAX)
  expect(collectedText(collector)?.slice(0, 27)).toBe('abcdefghijklmnopqrstuvwxyza')
  collect(collector, Buffer.of(97))
  expect([collectedText(collector), isTooLong(collector)]).toEqual([null, true])
})

describe('the limit on held bytes', () => {
  const full = (holdHeaders: boolean): readonly SeatPlan[] => compileHop(hop('holding', { buffering: buffering('full', { holdHeaders }) }))
  const body = Buffer.alloc(3 * MIB, 'y')
  const sendsAll = async (connection: RawSocket): Promise<void> => {
    await connection.request()
    await connection.send(headText(200, [['Content-Length', String(body.length)]]))
    await connection.send(body)
  }
  test('before the head: a 503 that says so [backpressure.held-limit]', async () => {
    const server = await rawServer(sendsAll)
    const rig = await wireRig(server.url, { plans: full(true), heldBytesPerExchange: MIB })
    const client = await rawClient(rig.port)
    void client.send(callText())
    const got = await client.response()
    expect(got).toMatchObject({ status: 503, isWhole: true })
    expect(got.text).toContain('more than 1048576 bytes held')
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'limit' }, ending: 'clean' })
    await server.connections[0]?.untilEnded()
    await rig.fact('finished')
    expect(rig.ports.held.totalBytes).toBe(0)
  })
  test('after it: truncated, by FIN [backpressure.held-limit]', async () => {
    const server = await rawServer(sendsAll)
    const rig = await wireRig(server.url, { plans: full(false), heldBytesPerExchange: MIB })
    const client = await rawClient(rig.port)
    void client.send(callText())
    expect((await client.untilEnded()).how).toBe('fin')
    expect(await client.response()).toMatchObject({ status: 200, isWhole: false })
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'limit' }, ending: 'fin' })
    await server.connections[0]?.untilEnded()
    await rig.fact('finished')
    expect(rig.ports.held.totalBytes).toBe(0)
  })
  test('in all: the exchange that goes beyond it ends, the others live [backpressure.held-limit]', async () => {
    const half = Buffer.alloc(MIB / 2 + 1_000, 'z')
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send(headText(200, [['Content-Length', String(half.length + 3)]]))
      await connection.send(half)
    })
    const rig = await wireRig(server.url, { plans: full(true), heldBytesTotal: MIB })
    const [first, second] = [await rawClient(rig.port), await rawClient(rig.port)]
    void first.send(callText())
    await until('the first is held', () => rig.ports.held.totalBytes >= half.length)
    void second.send(callText())
    const refused = await second.response()
    expect(refused.status).toBe(503)
    expect(refused.text).toContain('more than 1048576 bytes held by all exchanges')
    expect(await rig.fact('closed', 1)).toMatchObject({ cause: { kind: 'limit' } })
    expect(first.ended()).toBeNull()
    await server.connections[0]?.send('end')
    expect(await first.response()).toMatchObject({ status: 200, isWhole: true })
    expect(await rig.fact('closed', 0)).toMatchObject({ cause: { kind: 'complete' } })
    await until('nothing is held', () => rig.ports.held.totalBytes === 0)
  })
})
