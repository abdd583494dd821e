/** A server that dies: before its answer a 502 that says why, in mid-answer a loss that stays one, whole answers untouched. */

import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { compileLine } from '../../src/hops/compile.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { hop, idle } from '../support/line-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawHandler } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { watchSockets } from '../support/socket-watch.ts'
import { wireRig } from '../support/wire-rig.ts'

async function unusedUrl(): Promise<URL> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return new URL(`http://127.0.0.1:${port}`)
}

/** One call through a sidecar with nobody on its line. */
async function ask(handler: RawHandler) {
  const server = await rawServer(handler)
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  client.send(callText())
  return { server, rig, client }
}

const reasons: readonly (readonly [string, RawHandler, RegExp])[] = [
  ['closed', async (c) => void ((await c.request()) && c.fin()), /the server closed the connection before its answer/],
  ['reset', async (c) => void ((await c.request()) && c.rst()), /the server reset the connection before its answer/],
  ['no HTTP', async (c) => void ((await c.request()) && c.send('SSH-2.0-OpenSSH\r\n')), /not valid HTTP\/1\.1: .*HPE_/],
  [
    'half a head',
    async (c) => void ((await c.request()) && (await c.send('HTTP/1.1 200 OK\r\nX: ')) && c.fin()),
    /closed the connection before/,
  ],
  ['a FIN at once', (c) => c.fin(), /the server closed the connection before its answer/],
]
test.each(reasons)('502 that says why in one line: %s [endings.server-502]', async (_what, handler, why) => {
  const { rig, client } = await ask(handler)
  const answer = await client.response()
  expect(answer).toMatchObject({ status: 502, framing: 'length', isWhole: true })
  expect(answer.text).toMatch(why)
  expect(answer.text).toMatch(/^impatient-hop: [^\n]+ \(upstream 127\.0\.0\.1:\d+\)\n$/)
  expect(await rig.fact('closed')).toMatchObject({ ending: 'clean', cause: { kind: expect.stringMatching(/^server_/) } })
})

test('502 that says why: refused; the client may ask again [endings.server-502]', async () => {
  const rig = await wireRig(await unusedUrl())
  const client = await rawClient(rig.port)
  for (const exchange of [0, 1]) {
    client.send(callText())
    const answer = await client.response()
    expect(answer.status).toBe(502)
    expect(answer.text).toMatch(/^impatient-hop: the server cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:\d+ /)
    expect(await rig.fact('closed', exchange)).toMatchObject({ ending: 'clean', cause: { kind: 'unreachable' } })
  }
})

test.each(['fin', 'rst'] as const)('a reused connection that dies before any byte says so: %s [endings.server-502]', async (how) => {
  const { server, rig, client } = await ask(async (connection) => {
    await connection.request()
    await connection.send(`${headText(200, [['Content-Length', '2']])}ok`)
    await connection.request()
    connection[how]()
  })
  expect((await client.response()).text).toBe('ok')
  await rig.fact('finished')
  client.send(callText())
  expect((await client.response()).text).toMatch(/a reused keep-alive connection was (closed|reset) .*before any byte.*nothing is retried/)
  expect(server.connections).toHaveLength(1)
})
test('a reused connection that dies in its head was answered, if badly', async () => {
  const { rig, client } = await ask(async (connection) => {
    await connection.request()
    await connection.send(`${headText(200, [['Content-Length', '2']])}ok`)
    await connection.request()
    await connection.send('HTTP/1.1 200')
    connection.fin()
  })
  await client.response()
  await rig.fact('finished')
  client.send(callText())
  const { text } = await client.response()
  expect(text).toMatch(/the server closed the connection before its answer/)
  expect(text).not.toMatch(/before any byte/)
})

test('a chunk that is none ends the answer as a loss, and the cause says why [endings.server-mid]', async () => {
  const { rig, client } = await ask(async (connection) => {
    await connection.request()
    await connection.send(sseHead + chunk(progressEvent(1)))
    await connection.send('not-a-size\r\n')
  })
  expect(await client.response()).toMatchObject({ status: 200, isWhole: false, text: progressEvent(1) })
  expect((await rig.fact('closed')).cause).toMatchObject({ kind: 'server_close', detail: expect.stringMatching(/not valid HTTP\/1\.1/) })
})

test('an EOF-delimited answer stays so; bytes and a reset in one packet are a loss [endings.eof]', async () => {
  for (const how of ['fin', 'rst'] as const) {
    const { rig, client } = await ask(async (connection) => {
      await connection.request()
      connection.send(headText(200, [['Content-Type', 'text/event-stream']]) + progressEvent(1))
      if (how === 'fin') connection.fin()
      else connection.rst()
    })
    const closed = await rig.fact('closed')
    if (how === 'fin') {
      const answer = await client.response()
      expect(answer).toMatchObject({ framing: 'eof', isWhole: true, text: progressEvent(1) })
      expect([answer.header('connection'), answer.header('transfer-encoding')]).toEqual(['close', null])
      expect(closed).toMatchObject({ ending: 'clean', cause: { kind: 'complete' } })
    } else {
      const { kind } = closed.cause
      expect(kind).toBe('server_reset')
      // Whether the head got here before the reset is the kernel's affair: either a 502 or a broken stream, never a whole one.
      const answer = await client.response().catch(() => null)
      expect(answer === null || answer.status === 502 || !answer.isWhole).toBe(true)
    }
  }
})

test('an EOF-delimited answer whose connection is gone without a FIN is a loss, not a wait [endings.eof]', async () => {
  for (const problem of [undefined, Object.assign(new Error('read ETIMEDOUT'), { code: 'ETIMEDOUT', syscall: 'read' })]) {
    const sockets = watchSockets()
    const { server, rig, client } = await ask(async (connection) => {
      await connection.request()
      await connection.send(headText(200) + progressEvent(1))
    })
    await client.until('"progress":1')
    for (const socket of sockets.connected(server.port)) socket.destroy(problem)
    expect((await client.untilEnded()).how).toBe('rst') // a FIN would look like the end
    expect(await rig.fact('closed')).toMatchObject({ ending: 'rst', cause: { kind: 'server_close' } })
    await rig.fact('finished')
  }
})

test('a whole answer is whole, though a reset comes right behind it [endings.server-mid]', async () => {
  for (const tail of [sseHead + chunk(resultEvent()) + lastChunk, `${headText(200, [['Content-Length', '2']])}ok`]) {
    const { rig, client } = await ask(async (connection) => {
      await connection.request()
      await connection.send(tail)
      await new Promise((resolve) => setTimeout(resolve, 20)) // a reset may drop what was not read yet
      connection.rst()
    })
    expect(await client.response()).toMatchObject({ status: 200, isWhole: true })
    expect(await rig.fact('closed')).toMatchObject({ ending: 'clean', cause: { kind: 'complete' } })
    client.send(requestText('GET', '/dead'))
    expect((await client.response({ method: 'GET' })).status).toBeGreaterThanOrEqual(200)
  }
})

test('a client of HTTP/1.0 can tell a loss from an end [endings.server-mid]', async () => {
  for (const isLoss of [true, false]) {
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send(sseHead + chunk(progressEvent(1)))
      await connection.until(/./)
      await new Promise((resolve) => setTimeout(resolve, 20)) // a reset may drop what the client has not read yet
      if (!isLoss) connection.send(lastChunk)
      connection.fin()
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    client.send('GET /old HTTP/1.0\r\nHost: x\r\n\r\n')
    await client.until('"progress":1')
    expect((await client.untilEnded()).how).toBe(isLoss ? 'rst' : 'fin')
    expect(await rig.fact('closed')).toMatchObject(isLoss ? { ending: 'rst', cause: { kind: 'server_close' } } : { ending: 'clean' })
  }
})

test('a loss behind a client that does not read comes in its order, after the bytes [endings.server-mid]', async () => {
  const text = 'x'.repeat(65_536)
  const server = await rawServer(async (connection) => {
    await connection.request()
    await connection.send(sseHead)
    for (let n = 0; n < 400; n += 1) if (!(await connection.send(chunk(text)))) return
    connection.fin()
  })
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  client.pause()
  client.send(callText())
  await rig.fact('head')
  client.resume()
  const answer = await client.response({ limitMs: 30_000 })
  expect([answer.isWhole, answer.body.length >= 399 * text.length]).toEqual([false, true])
  expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'server_close' }, ending: 'fin' })
})

test.each(['fin', 'rst'] as const)(
  'what the server still does after it was left is nobody’s trouble: upstream %s [endings.survives]',
  async (upstream) => {
    const clock = fakeClock()
    const server = await rawServer(
      async (connection) => {
        await connection.request()
        await connection.send(sseHead + chunk(progressEvent(1)))
        await connection.untilEnded()
        // Writes on, answers late, breaks off: the sidecar left long ago.
        await connection.send(chunk('x'.repeat(1_000_000)))
        await connection.send('HTTP/1.1 200 nonsense\r\n\r\n')
        connection.rst()
      },
      { answersFin: false },
    )
    const plans = compileLine([hop('h', { idle: idle(1_000, { upstream }) })], [])
    const rig = await wireRig(server.url, { plans, clock })
    for (let n = 0; n < 3; n += 1) {
      const client = await rawClient(rig.port)
      client.send(callText())
      await client.until('"progress":1')
      clock.advance(1_000)
      await rig.fact('finished', n)
      await (await server.connection(n)).untilEnded()
      clock.advance(10_000)
    }
    expect(
      rig
        .facts(2)
        .filter(({ kind }) => kind === 'closed' || kind === 'told' || kind === 'finished')
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['closed', 'finished', 'told'])
  },
)
