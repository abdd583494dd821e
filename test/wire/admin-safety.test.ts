/** Who may ask the admin port, on loopback: browsers tricked by name or by page, tokens, limits, garbage. */
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { BODY_BYTES_MAX, BODY_WAIT_MS } from '../../src/admin/read-body.ts'
import type { UpgradeRoute } from '../../src/admin/server.ts'
import { ask, problemOf, started } from '../support/admin-rig.ts'

const evilHosts = ['evil.example', 'evil.example:8475', '127.0.0.1.evil.example', 'localhost.evil.example', 'evil', 'local host']
const ownHosts = ['127.0.0.1', 'localhost', 'localhost:8475', '[::1]:8475', '127.0.0.1:1', 'app.localhost', 'LOCALHOST']

test('a rebound name is refused on every route, reading or writing [admin.rebinding-refused]', async () => {
  const { port } = await started()
  for (const host of evilHosts) {
    for (const [method, path] of [
      ['GET', '/metrics'],
      ['GET', '/'],
      ['GET', '/healthz'],
      ['GET', '/nowhere'],
      ['POST', '/api/v1/work'],
    ] as const) {
      const got = await ask(port, path, { method, headers: { Host: host }, ...(method === 'POST' ? { body: '{"event":"end"}' } : {}) })
      expect([host, path, got.status]).toEqual([host, path, 403])
      expect(problemOf(got)['key']).toBe('Host')
    }
  }
  for (const host of ownHosts) expect([host, (await ask(port, '/metrics', { headers: { Host: host } })).status]).toEqual([host, 200])
})

test('a page of another origin is refused, and no answer carries a CORS header [admin.other-origin-refused]', async () => {
  const { port } = await started()
  const host = `127.0.0.1:${port}`
  for (const origin of [
    'http://evil.example',
    'null',
    `http://127.0.0.1:${port + 1}`,
    'http://localhost',
    'file://',
    `chrome-extension://${host}`,
  ]) {
    for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
      const got = await ask(port, '/api/v1/calls', { method, headers: { Host: host, Origin: origin } })
      expect([origin, method, got.status]).toEqual([origin, method, 403])
      expect(Object.keys(got.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  }
  const own = await ask(port, '/api/v1/calls', { headers: { Host: host, Origin: `http://${host}` } })
  expect([own.status, Object.keys(own.headers).filter((name) => name.startsWith('access-control'))]).toEqual([200, []])
  const embedded = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'script' }
  expect((await ask(port, '/metrics', { headers: embedded })).status).toBe(403)
  expect((await ask(port, '/', { headers: embedded })).status).toBe(403)
  const followed = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }
  expect((await ask(port, '/', { headers: followed })).status).toBe(200)
})

test('WebSocket upgrades meet the same checks [admin.rebinding-refused] [admin.other-origin-refused]', async () => {
  const server = new WebSocketServer({ noServer: true })
  const live: UpgradeRoute = {
    path: '/api/v1/live',
    summary: 'live',
    take: (request, socket, head) => server.handleUpgrade(request, socket, head, (peer) => peer.send('hello')),
  }
  const { port } = await started({ upgrades: [live] })
  const meet = (path: string, headers: Record<string, string>): Promise<string> =>
    new Promise((resolve) => {
      const peer = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
      peer.on('message', (text) => {
        resolve(String(text))
        peer.terminate()
      })
      peer.on('unexpected-response', (request, { statusCode }) => {
        resolve(String(statusCode))
        request.destroy()
      })
      peer.on('error', (error) => resolve(error.message))
    })
  expect(await meet('/api/v1/live', {})).toBe('hello')
  expect(await meet('/api/v1/live', { Origin: `http://127.0.0.1:${port}` })).toBe('hello')
  expect(await meet('/api/v1/live', { Host: 'evil.example' })).toBe('403')
  expect(await meet('/api/v1/live', { Origin: 'http://evil.example' })).toBe('403')
  expect(await meet('/api/v1/nothing', {})).toBe('404')
  server.close()
})

test('with a token all but the health questions need it; wrong ones run out [admin.bearer]', async () => {
  const { port, clock } = await started({ token: 'sesame' })
  const asked = async (path: string, authorization?: string) =>
    (
      await ask(port, path, {
        headers: { Host: 'sidecar.example', ...(authorization === undefined ? {} : { Authorization: authorization }) },
      })
    ).status
  expect([await asked('/healthz'), await asked('/readyz')]).toEqual([200, 200])
  expect([await asked('/metrics', 'Bearer sesame'), await asked('/', 'Bearer sesame')]).toEqual([200, 200])
  for (const wrong of [undefined, 'Bearer', 'Bearer sesam', 'Bearer sesame2', 'bearer:sesame', 'Basic sesame']) {
    expect([wrong, await asked('/api/v1/calls', wrong)]).toEqual([wrong, 401])
  }
  expect(await asked('/nowhere')).toBe(401)
  const first = await ask(port, '/metrics')
  expect(first.headers['www-authenticate']).toMatch(/^Bearer/)
  expect(first.body).not.toContain('sesame')
  const statuses = new Set<number>()
  for (let tries = 0; tries < 30; tries += 1) statuses.add(await asked('/metrics', `Bearer ${tries}`))
  expect([...statuses].sort()).toEqual([401, 429])
  expect(await asked('/metrics', 'Bearer sesame')).toBe(200) // the owner is not locked out
  clock.passMs(1_000)
  expect(await asked('/metrics', 'Bearer wrong')).toBe(401)
})

test('a body that is too long is refused, promised or not [admin.body-limit]', async () => {
  const { port } = await started()
  const long = 'x'.repeat(BODY_BYTES_MAX + 1)
  const promised = await ask(port, '/api/v1/work', {
    method: 'POST',
    body: long,
    headers: { 'Content-Length': String(long.length) },
  }).catch((error: NodeJS.ErrnoException) => error.code)
  expect(typeof promised === 'object' && promised !== null && 'status' in promised ? promised.status : promised).toBeOneOf([
    413,
    'EPIPE',
    'ECONNRESET',
  ])
  const chunked = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
      if (text.includes('\r\n')) socket.destroy()
    })
    socket.on('error', () => undefined).on('close', () => resolve(text))
    socket.write('POST /api/v1/work HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    for (let sent = 0; sent < 17; sent += 1) socket.write(chunk)
  })
  expect(chunked).toMatch(/^HTTP\/1\.1 413 /)
  expect((await ask(port, '/healthz')).status).toBe(200)
})

test('a body that does not end is given up [admin.body-limit]', async () => {
  const { port, clock } = await started()
  const socket = connect(port, '127.0.0.1')
  let text = ''
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.on('data', (chunk) => {
    text += String(chunk)
  })
  socket.write('POST /api/v1/work HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"ev')
  await expect
    .poll(
      () => {
        clock.passMs(BODY_WAIT_MS / 2)
        return text
      },
      { timeout: 10_000 },
    )
    .toMatch(/^HTTP\/1\.1 408 /)
  await closed
})

test('beyond the rate requests wait; reports of work and health do not count [admin.rate-limit]', async () => {
  const { port, clock } = await started()
  const statuses: number[] = []
  for (let sent = 0; sent < 405; sent += 1) statuses.push((await ask(port, '/api/v1/hops')).status)
  expect([statuses.slice(0, 400).every((status) => status === 200), statuses.slice(400)]).toEqual([true, [429, 429, 429, 429, 429]])
  const refused = await ask(port, '/api/v1/hops')
  expect([refused.headers['retry-after'], problemOf(refused)['status']]).toEqual(['1', 429])
  expect((await ask(port, '/api/v1/work', { method: 'POST', body: '{"event":"end"}' })).status).toBe(202)
  expect((await ask(port, '/healthz')).status).toBe(200)
  clock.passMs(1_000)
  expect((await ask(port, '/api/v1/hops')).status).toBe(200)
})

test('garbage, resets and half requests leave it alive [admin.survives]', async () => {
  const { port } = await started()
  for (const bytes of [
    '\0\0\0\r\n\r\n',
    'GET\r\n\r\n',
    'POST /api/v1/work HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{',
    'GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  ]) {
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(bytes, () => socket.resetAndDestroy())
      })
      socket.on('error', () => undefined).on('close', () => resolve())
    })
  }
  expect((await ask(port, '/healthz')).status).toBe(200)
})
