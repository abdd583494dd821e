/** WS /api/v1/live over real sockets: what it tells, to whom, and what a peer that does not read costs. */
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { liveRoute, UNREAD_BYTES_MAX } from '../../src/admin/routes/live.ts'
import { started } from '../support/admin-rig.ts'
import { appRig } from '../support/app-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, lastChunk, progressEvent, resultEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'
import { whenTestEnds } from '../support/raw-socket.ts'

const LIMIT = { timeout: 15_000, interval: 20 }
type Message = Record<string, unknown>

/** Its messages so far, or the status it was refused with. */
async function listen(
  port: number,
  headers: Record<string, string> = {},
): Promise<{ messages: Message[]; status: number; peer: WebSocket }> {
  const peer = new WebSocket(`ws://127.0.0.1:${port}/api/v1/live`, { headers })
  whenTestEnds(() => peer.terminate())
  const messages: Message[] = []
  peer.on('message', (text) => messages.push(JSON.parse(String(text)) as Message))
  const status = await new Promise<number>((resolve) => {
    peer.on('open', () => resolve(101))
    peer.on('unexpected-response', (request, { statusCode }) => {
      resolve(statusCode ?? 0)
      request.destroy()
    })
    peer.on('error', () => resolve(0))
  })
  return { messages, status, peer }
}

test('a call as it happens: opened, head, closed with its cause, and its settled record [faults2.live]', async () => {
  const upstream = await rawServer(async (connection) => {
    await connection.request()
    connection.send(sseHead + chunk(progressEvent(1)) + chunk(resultEvent()) + lastChunk)
  })
  const rig = await appRig(upstream.url, {
    yaml: 'faults:\n  - { name: c, when: { tool: cut }, do: { cut: { after: { events: 1 }, ending: rst } } }\n',
  })
  const { messages, peer } = await listen(rig.adminPort)
  for (const tool of ['cut', 'whole']) {
    const client = await rawClient(rig.port)
    client.send(callText(tool))
    await client.response().catch(() => null)
    client.close()
  }
  await expect.poll(() => messages.filter(({ is }) => is === 'settled').length, LIMIT).toBeGreaterThan(0)
  await expect.poll(() => messages.filter(({ is }) => is === 'closed').length, LIMIT).toBe(2)
  const of = (is: string, id: string) =>
    messages.find((message) => message['is'] === is && (message['id'] === id || (message['call'] as Message | undefined)?.['id'] === id))
  expect(of('opened', 'c1')).toEqual({ is: 'opened', id: 'c1', kind: 'call', method: 'tools/call', tool: 'cut' })
  expect(of('head', 'c1')).toMatchObject({ status: 200 })
  expect(of('closed', 'c1')).toMatchObject({ cause: 'fault', seat: 'c', ending: 'rst' })
  expect(of('closed', 'c2')).toMatchObject({ cause: 'complete', seat: null, ending: 'clean' })
  expect(of('settled', 'c2')).toMatchObject({ call: { tool: 'whole', result: 'sent', cause: 'complete' } })
  expect(messages.map(({ id, is }) => `${String(id)} ${String(is)}`).filter((word) => word.startsWith('c1 '))).toEqual([
    'c1 opened',
    'c1 head',
    'c1 closed',
  ])
  peer.send('{"is":"cut"}') // only read: nothing comes of it
  peer.send('x'.repeat(10_000)) // too long: this peer goes, nobody else
  await expect.poll(() => peer.readyState, LIMIT).toBe(WebSocket.CLOSED)
  expect((await rig.api('GET', '/calls')).status).toBe(200)
})

test('another origin, a rebound name and a missing token read nothing [faults2.live-safety]', async () => {
  const upstream = await rawServer(() => undefined)
  const open = await appRig(upstream.url)
  const origin = (name: string) => listen(open.adminPort, { Origin: name })
  expect((await origin(`http://127.0.0.1:${open.adminPort}`)).status).toBe(101)
  expect((await origin('http://evil.example')).status).toBe(403)
  expect((await origin('null')).status).toBe(403)
  expect((await listen(open.adminPort, { Host: 'evil.example' })).status).toBe(403)
  expect(
    (await listen(open.adminPort, { Host: `evil.example:${open.adminPort}`, Origin: `http://evil.example:${open.adminPort}` })).status,
  ).toBe(403)
  const locked = await appRig(upstream.url, { env: { IMPATIENT_ADMIN_TOKEN: 'sesame' } })
  expect((await listen(locked.adminPort)).status).toBe(401)
  expect((await listen(locked.adminPort, { Authorization: 'Bearer wrong' })).status).toBe(401)
  expect((await listen(locked.adminPort, { Authorization: 'Bearer sesame' })).status).toBe(101)
})

test('a peer that does not read misses messages, is told how many, and holds no more than its limit [faults2.live]', async () => {
  let tell: (message: unknown) => void = () => undefined
  let left = 0
  const route = liveRoute((take) => {
    tell = take
    return () => {
      left += 1
    }
  })
  whenTestEnds(route.close)
  const { port } = await started({ upgrades: [route] })
  const { peer, messages, status } = await listen(port)
  expect(status).toBe(101)
  peer.pause()
  const word = 'x'.repeat(100_000)
  const held = process.memoryUsage().external
  for (let n = 0; n < 600; n += 1) {
    tell({ n, word })
    if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect(process.memoryUsage().external - held).toBeLessThan(30 * UNREAD_BYTES_MAX)
  peer.resume()
  await expect
    .poll(() => {
      tell({ n: 'after' })
      return messages.some(({ n }) => n === 'after')
    }, LIMIT)
    .toBe(true)
  const missed = messages.filter(({ is }) => is === 'missed').reduce((sum, { count }) => sum + Number(count), 0)
  const came = messages.filter(({ n }) => typeof n === 'number').length
  expect([came + missed >= 600, came < 600]).toEqual([true, true])
  peer.terminate()
  await expect.poll(() => left, LIMIT).toBe(1)
})
