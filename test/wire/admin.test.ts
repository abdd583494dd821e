/** The admin port's answers on loopback: every route, problems, the OpenAPI document, the metrics port. */
import { expect, test } from 'vitest'
import { startMetricsPort } from '../../src/admin/metrics-port.ts'
import type { Route } from '../../src/admin/route.ts'
import { metricsRoutes } from '../../src/admin/route-list.ts'
import { startAdmin } from '../../src/admin/server.ts'
import { PortTaken } from '../../src/core/port-taken.ts'
import { ask, fakeClock, opened, ports, problemOf, record, started } from '../support/admin-rig.ts'

test('problems name the key and never the inside [admin.problem-json] [admin.survives]', async () => {
  const broken: Route = {
    method: 'GET',
    path: '/broken',
    summary: '',
    answer: () => {
      throw new Error('secret /path/of/mine')
    },
  }
  const { port, errors } = await started({ more: [broken] })
  const got = await ask(port, '/broken')
  expect([got.status, problemOf(got)['status']]).toEqual([500, 500])
  expect(got.body).not.toContain('secret')
  expect(errors).toEqual(['admin: GET /broken failed: secret /path/of/mine'])
  expect(problemOf(await ask(port, '/api/v1/calls?open=maybe'))).toMatchObject({ key: 'open', status: 400 })
  expect(problemOf(await ask(port, '/api/v1/calls/zz'))).toMatchObject({ key: 'id', status: 404 })
})

test('404 for an unknown path, 405 with Allow for a wrong method [admin.not-found-and-method]', async () => {
  const { port } = await started()
  for (const path of ['/nowhere', '/api/v1/calls/', '/api/v1/calls/a/b', '/api/v1/calls/%E0%A4', '//metrics']) {
    expect([path, (await ask(port, path)).status]).toEqual([path, 404])
  }
  const got = await ask(port, '/api/v1/work')
  expect([got.status, got.headers.allow, problemOf(got)['key']]).toEqual([405, 'POST', 'method'])
  expect((await ask(port, '/metrics', { method: 'OPTIONS' })).headers.allow).toBe('GET, HEAD')
  const head = await ask(port, '/metrics', { method: 'HEAD' })
  expect([head.status, head.body, head.headers['content-length']]).toEqual([200, '', '5'])
})

test('health: alive always, ready while the port says so [admin.health]', async () => {
  let why: string | null = null
  const { port } = await started({ over: { whyNotReady: () => why } })
  expect((await ask(port, '/readyz')).status).toBe(200)
  why = 'draining'
  const draining = await ask(port, '/readyz')
  expect([draining.status, draining.body, (await ask(port, '/healthz')).status]).toEqual([503, 'draining\n', 200])
})

test('metrics by Accept, calls, hops, path, work [admin.metrics-by-accept] [admin.calls] [admin.work-message]', async () => {
  const { port } = await started()
  expect((await ask(port, '/metrics')).headers['content-type']).toBe('text/plain; version=0.0.4')
  expect((await ask(port, '/metrics', { headers: { Accept: 'application/openmetrics-text' } })).headers['content-type']).toBe(
    'application/openmetrics-text',
  )
  expect((await ask(port, '/api/v1/calls')).json()).toEqual({ calls: [record] })
  expect((await ask(port, '/api/v1/calls?open=true')).json()).toEqual({ calls: [] })
  expect((await ask(port, '/api/v1/calls/c1')).json()).toEqual(record)
  expect((await ask(port, '/api/v1/hops')).json()).toEqual({ hops: [{ name: 'nginx' }] })
  expect((await ask(port, '/api/v1/path')).json()).toEqual({ path: [] })
  const posted = async (body: string) => ask(port, '/api/v1/work', { method: 'POST', body })
  expect((await posted('{"event":"end"}')).status).toBe(202)
  expect(problemOf(await posted('{"event":"finish"}'))['detail']).toMatch(/^event: expected/)
  expect(problemOf(await posted('{'))['detail']).toMatch(/not JSON/)
  expect(problemOf(await posted(''))['key']).toBe('body')
})

test('the OpenAPI document has every route with its summary [admin.openapi]', async () => {
  const { port } = await started()
  const document = (await ask(port, '/api/v1/openapi.json')).json()
  expect(document['openapi']).toBe('3.1.0')
  const paths = document['paths'] as Record<string, Record<string, { operationId: string; summary: string; responses: object }>>
  expect(Object.keys(paths).sort()).toEqual(
    [
      '/api/v1/calls',
      '/api/v1/calls/{id}',
      '/api/v1/hops',
      '/api/v1/openapi.json',
      '/api/v1/path',
      '/api/v1/work',
      '/healthz',
      '/metrics',
      '/readyz',
    ].sort(),
  )
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
  expect(operations.every(({ summary, responses }) => summary !== '' && 'default' in responses)).toBe(true)
  expect((await ask(port, '/')).body).toContain('/api/v1/openapi.json')
})

test('a taken port is one line with key and address [admin.port-taken]', async () => {
  const { port } = await started()
  const again = startAdmin({
    listen: { host: '127.0.0.1', port },
    token: null,
    routes: [],
    clock: fakeClock(),
    log: { error: () => undefined },
  })
  const error = await again.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(PortTaken)
  expect(error).toMatchObject({ key: 'admin.listen', address: `127.0.0.1:${port}` })
  expect(String((error as Error).message)).toMatch(/^admin\.listen: 127\.0\.0\.1:\d+ is already taken: .*choose another address$/)
})

test('the metrics port: read only, four paths, private names allowed, public ones not [admin.metrics-port]', async () => {
  let drained = 0
  const routes = metricsRoutes({
    render: ports.render,
    whyNotReady: () => null,
    drain: async () => {
      drained += 1
      return 0
    },
  })
  const port = await startMetricsPort({
    listen: { host: '127.0.0.1', port: 0 },
    routes,
    clock: fakeClock(),
    log: { error: () => undefined },
  })
  opened.push(port)
  const get = (path: string, headers: Record<string, string> = {}) => ask(port.address.port, path, { headers })
  for (const path of ['/metrics', '/healthz', '/readyz']) expect((await get(path)).status).toBe(200)
  expect([(await get('/drain')).body, drained]).toEqual(['drained\n', 1])
  for (const path of ['/', '/api/v1/calls', '/api/v1/work']) expect((await get(path)).status).toBe(404)
  expect((await ask(port.address.port, '/drain', { method: 'POST' })).status).toBe(405)
  for (const host of ['sidecar:9465', '10.0.0.7:9465', 'mcp.default.svc'])
    expect([host, (await get('/metrics', { Host: host })).status]).toEqual([host, 200])
  expect((await get('/drain', { Host: 'evil.example' })).status).toBe(403)
  expect([(await get('/drain', { Origin: 'http://evil.example' })).status, drained]).toEqual([403, 1])
})
