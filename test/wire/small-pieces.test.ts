/** Small pieces are put together in memory that is used again: what waits for a slow client must stay as it was. */
import { expect, test } from 'vitest'
import { MIB, memory } from '../support/memory.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, headText } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'
import { stalled, until } from '../support/relay.ts'
import { wireRig } from '../support/wire-rig.ts'

const EVENTS = 12_000
const eventOf = (who: number, n: number): string =>
  `data: {"of":${who},"n":${String(n).padStart(8, '0')},"pad":"${String(n % 10).repeat(900)}"}\n\n`
const chunkOf = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

test('two clients that stop reading get, when they read on, all their small events as they were [backpressure.flow-resumes]', async () => {
  const server = await rawServer(async (connection) => {
    await connection.request()
    const who = connection.index
    await connection.send(
      headText(200, [
        ['Content-Type', 'text/event-stream'],
        ['Transfer-Encoding', 'chunked'],
      ]),
    )
    for (let n = 0; n < EVENTS; n += 1) if (!(await connection.send(chunkOf(eventOf(who, n))))) return
    await connection.send('0\r\n\r\n')
  })
  const rig = await wireRig(server.url)
  const clients = []
  for (const _ of [0, 1]) {
    const client = await rawClient(rig.port)
    void client.send(callText())
    await client.until('\r\n\r\n')
    client.pause()
    clients.push(client)
  }
  await stalled(() => server.connections.reduce((sum, { socket }) => sum + socket.bytesWritten, 0))
  for (const client of clients) client.resume()
  for (const [who, client] of clients.entries()) {
    const { body, isWhole } = await client.response({ method: 'POST', limitMs: 30_000 })
    expect(isWhole).toBe(true)
    expect(body.toString() === Array.from({ length: EVENTS }, (_, n) => eventOf(who, n)).join('')).toBe(true)
  }
  // It was more than the kernel holds: some of it waited here.
  expect(server.connections.every(({ socket }) => socket.bytesWritten > EVENTS * 900)).toBe(true)
}, 60_000)

test('tiny events that wait for a slow client take little more than their size [backpressure.slow-client]', async () => {
  const TINY = Buffer.from(chunkOf(`data: ${'x'.repeat(100)}\n\n`))
  const many = Buffer.concat(Array.from({ length: 500 }, () => TINY))
  const server = await rawServer(async (connection) => {
    await connection.request()
    const headers = [
      ['Content-Type', 'text/event-stream'],
      ['Transfer-Encoding', 'chunked'],
    ] as const
    await connection.send(headText(200, headers))
    while (await connection.send(many));
  })
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  void client.send(callText())
  await client.until('\r\n\r\n')
  client.pause()
  const before = memory()
  const sent = (): number => server.connections[0]?.socket.bytesWritten ?? 0
  await until('something flows', () => sent() > MIB)
  await stalled(() => rig.facts(0).length, 1_000)
  expect(memory().heap - before.heap).toBeLessThan(64 * MIB)
  client.rst()
}, 60_000)
