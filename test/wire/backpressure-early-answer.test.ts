/** An answer that comes while its upload is still under way: delivered whole; the rest is discarded, within limits. */
import { describe, expect, test } from 'vitest'
import { appRig } from '../support/app-rig.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { MIB } from '../support/memory.ts'
import { rawClient } from '../support/raw-client.ts'
import { headText, requestText } from '../support/raw-http.ts'
import type { RawHandler } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { until } from '../support/relay.ts'
import type { WireRigOptions } from '../support/wire-rig.ts'
import { wireRig } from '../support/wire-rig.ts'

const REFUSAL = 'too much: '.repeat(2_000)
const refusal = headText(413, [['Content-Length', String(REFUSAL.length)]], 'Content Too Large') + REFUSAL
const WHOLE = /^(too much: ){2000}$/
const upload = (bytes: number): string => requestText('POST', '/', [['Content-Length', String(bytes)]])
const part = Buffer.alloc(65_536, 'u')

async function refusing(after: RawHandler, options: WireRigOptions = {}) {
  const server = await rawServer(async (connection) => {
    await connection.until('\r\n\r\n')
    if (connection.index === 0) {
      await connection.send(refusal)
      await after(connection)
    } else await connection.send(`${headText(200, [['Content-Length', '4']])}next`)
  })
  const rig = await wireRig(server.url, options)
  const client = await rawClient(rig.port)
  return { server, rig, client }
}

const manners: readonly [string, RawHandler][] = [
  ['reads on', () => undefined],
  ['reads no more', (connection) => connection.pause()],
  ['ends its side', (connection) => connection.fin()],
  ['closes', (connection) => connection.close()],
]
test.each(manners)(
  'a 413 of a server that then %s arrives whole, within a stream of 10 MB [backpressure.early-answer]',
  async (_, after) => {
    const { rig, client } = await refusing(after)
    void client.send(upload(10 * MIB))
    let isTold = false
    const sending = (async () => {
      for (let sent = 0; sent < 10 * MIB && !isTold && (await client.send(part)); ) sent += part.length
    })()
    const got = await client.response()
    isTold = true
    expect(got).toMatchObject({ status: 413, isWhole: true, text: expect.stringMatching(WHOLE) })
    await sending
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'complete' }, ending: 'clean' })
    await until('nothing is open', () => rig.listener.openCount() === 0)
  },
)

test('nothing of the upload was read by the server: it arrives, too [backpressure.early-answer]', async () => {
  const server = await rawServer(async (connection) => {
    connection.pause()
    await until('the upload stands still', () => client.queuedBytes() > 0)
    await connection.send(refusal)
  })
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  void client.send(upload(32 * MIB))
  void client.send(Buffer.alloc(32 * MIB, 'u'))
  expect(await client.response()).toMatchObject({ status: 413, isWhole: true, text: expect.stringMatching(WHOLE) })
  expect((await client.untilEnded()).how).toBe('fin')
})

describe('the rest of the upload', () => {
  test('up to 1 MiB is discarded: the connection goes on [backpressure.early-answer]', async () => {
    const { server, client } = await refusing(() => undefined)
    void client.send(upload(part.length * 4))
    expect((await client.response()).status).toBe(413)
    await server.connections[0]?.untilEnded() // nobody wants the rest
    for (let count = 0; count < 4; count += 1) await client.send(part)
    void client.send(requestText('GET', '/next'))
    expect(await client.response()).toMatchObject({ status: 200, text: 'next' })
    expect(client.ended()).toBeNull()
  })
  test('beyond 1 MiB the connection ends by FIN, after the answer [backpressure.early-answer]', async () => {
    const { rig } = await refusing(() => undefined)
    const client = await rawClient(rig.port, { answersFin: false })
    void client.send(upload(8 * MIB))
    expect((await client.response()).status).toBe(413)
    void client.send(Buffer.alloc(3 * MIB, 'u'))
    expect((await client.untilEnded()).how).toBe('fin')
    expect(await client.send(part)).toBe(true) // read and dropped: no reset meets a client that still sends
    client.fin()
    await until('nothing is open', () => rig.listener.openCount() === 0)
  })
  test('after 5 s it ends by FIN; a client that does not close is let go 5 s later [backpressure.early-answer]', async () => {
    const clock = fakeClock()
    const { rig } = await refusing(() => undefined, { clock })
    const quiet = await rawClient(rig.port, { answersFin: false })
    void quiet.send(upload(8 * MIB))
    expect((await quiet.response()).status).toBe(413)
    await rig.fact('finished', rig.exchangeCount() - 1)
    clock.advance(4_999)
    await quiet.send(part)
    expect(quiet.ended()).toBeNull()
    clock.advance(1)
    expect((await quiet.untilEnded()).how).toBe('fin')
    clock.advance(5_000)
    await until('the connection is gone', () => clock.armed() === 0)
    await until('and says so', () => {
      void quiet.send(part)
      return quiet.brokeAtMs() !== null
    })
  })
})

test('a whole answer while a fault still holds the request back: the connection to the server is given up', async () => {
  const server = await rawServer(async (connection) => {
    await connection.until('\r\n\r\n')
    await connection.send(refusal)
  })
  const yaml = 'faults:\n  - { name: slow, do: { bandwidth: { bytesPerSecond: 10, on: request } } }\n'
  const rig = await appRig(server.url, { yaml })
  const client = await rawClient(rig.port)
  void client.send(upload(20_000))
  void client.send('u'.repeat(20_000))
  expect(await client.response()).toMatchObject({ status: 413, text: expect.stringMatching(WHOLE) })
  await (await server.connection(0)).untilEnded()
})
