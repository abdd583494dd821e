/** What users of other fault injectors asked for and did not get, each shown in the whole sidecar; and who may not drive it. */
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { ask } from '../support/admin-rig.ts'
import { appRig } from '../support/app-rig.ts'
import type { RawSocket } from '../support/raw-client.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, progressEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'

const LIMIT = { timeout: 15_000, interval: 25 }
/** Streams one event to each call and stays open. */
const streaming = () =>
  rawServer(async (connection) => {
    for (;;) {
      await connection.request()
      connection.send(sseHead + chunk(progressEvent(1)))
    }
  })
const open = async (port: number, tool: string): Promise<RawSocket> => {
  const client = await rawClient(port)
  client.send(callText(tool))
  return client
}
interface Shown {
  readonly id: string
  readonly tool: string
  readonly fault: string | null
  readonly bytes: { readonly sent: number }
  readonly timeline: readonly (readonly unknown[])[]
}
const callsOf = async (rig: Awaited<ReturnType<typeof appRig>>, isOpen: boolean): Promise<readonly Shown[]> =>
  (await rig.api('GET', `/calls${isOpen ? '?open=true' : ''}`)).json()['calls'] as Shown[]

test('faults of the boot file act on the very first exchange [faults2.wish-boot]', async () => {
  const upstream = await streaming()
  const rig = await appRig(upstream.url, {
    yaml: 'faults:\n  - { name: boot, do: { respond: { status: 429, headers: { Retry-After: "7" } } } }\n',
  })
  const answer = await (await open(rig.port, 'first')).response()
  expect([answer.status, answer.header('retry-after')]).toEqual([429, '7'])
})

test('removal answers at once, whatever the fault holds and whoever does not read [faults2.wish-removal]', async () => {
  const upstream = await rawServer(async (connection) => {
    await connection.request()
    connection.send(sseHead)
    while ((await connection.send(chunk('x'.repeat(65_536)))) && connection.bytes().length > 0 && connection.queuedBytes() < 4_000_000)
      if (connection.ended() !== null) return
  })
  const rig = await appRig(upstream.url, {
    yaml: 'faults:\n  - { name: f, do: { stall: { from: body } } }\n  - { name: slow, do: { bandwidth: { bytesPerSecond: 1 } } }\n',
  })
  const clients = await Promise.all(Array.from({ length: 12 }, (_, n) => open(rig.port, `t${n}`)))
  for (const client of clients.slice(0, 6)) client.pause()
  await expect
    .poll(async () => ((await rig.api('GET', '/faults')).json()['faults'] as { tally: { fired: number } }[])[0]?.tally.fired, LIMIT)
    .toBe(12)
  for (const name of ['f', 'slow']) {
    const askedMs = performance.now()
    expect((await rig.api('DELETE', `/faults/${name}`)).status).toBe(204)
    expect(performance.now() - askedMs).toBeLessThan(5_000)
  }
  await Promise.all(clients.slice(6).map((client) => client.until('xxx')))
})

test('which calls a fault really acted on is seen while they are open, and rules that never matched are seen too [faults2.wish-affected]', async () => {
  const upstream = await streaming()
  const rig = await appRig(upstream.url, {
    yaml: 'faults:\n  - { name: half, when: { tool: "a*" }, do: { latency: { delay: 1ms } } }\n  - { name: never, when: { tool: zzz }, do: { respond: { status: 500 } } }\n',
  })
  const clients = [await open(rig.port, 'a1'), await open(rig.port, 'b1'), await open(rig.port, 'a2')]
  for (const client of clients) await client.until('"progress":1')
  const calls = await callsOf(rig, true)
  const acted = calls
    .filter(({ timeline }) => timeline.some((entry) => entry[1] === 'fired' && entry[2] === 'half'))
    .map(({ tool }) => tool)
  expect(acted).toEqual(['a1', 'a2'])
  const tallies = ((await rig.api('GET', '/faults')).json()['faults'] as { name: string; tally: { matched: number; fired: number } }[]).map(
    ({ name, tally }) => [name, tally.matched, tally.fired],
  )
  expect(tallies).toEqual([
    ['half', 2, 2],
    ['never', 0, 0],
  ])
  expect([
    await rig.metric('impatient_faults_injected_total{fault="half"}'),
    await rig.metric('impatient_faults_injected_total{fault="never"}'),
  ]).toEqual([2, 0])
})

test('bytes are counted while a stream is open [faults2.wish-bytes]', async () => {
  const upstream = await streaming()
  const rig = await appRig(upstream.url)
  const client = await open(rig.port, 'a')
  await client.until('"progress":1')
  const [before] = await callsOf(rig, true)
  const sentBefore = await rig.metric('impatient_bytes_total{direction="sent"}')
  for (const connection of upstream.connections) if (connection.text().includes('tools/call')) connection.send(chunk(progressEvent(2)))
  await client.until('"progress":2')
  const [after] = await callsOf(rig, true)
  const size = Buffer.byteLength(progressEvent(2))
  expect((after?.bytes.sent ?? 0) - (before?.bytes.sent ?? 0)).toBe(size)
  expect(await rig.metric('impatient_bytes_total{direction="sent"}')).toBe((sentBefore ?? Number.NaN) + size)
})

test('a fault is gone after its time, from the list, from new and from open exchanges, and stays gone [faults2.wish-time]', async () => {
  const upstream = await streaming()
  const rig = await appRig(upstream.url)
  await rig.api('POST', '/faults', { name: 'brief', for: '500ms', do: { buffer: { mode: 'full' } } })
  const client = await open(rig.port, 'a')
  await client.until('"progress":1')
  expect((await rig.api('GET', '/faults')).json()['faults']).toEqual([])
  const later = await open(rig.port, 'b')
  await later.until('"progress":1')
  rig.app.reload?.()
  expect((await rig.api('GET', '/faults')).json()['faults']).toEqual([])
  expect(await rig.metric('impatient_fault_enabled{fault="brief"}')).toBeNull()
})

test('a client can tell an injected fault from a real one [faults2.wish-announce]', async () => {
  const upstream = await rawServer(async (connection) => {
    await connection.request()
    connection.send(headText(503, [['Content-Length', '0']]))
  })
  const rig = await appRig(upstream.url, {
    yaml: 'faults:\n  - { name: mine, announce: true, when: { tool: a }, do: { respond: { status: 503 } } }\n',
  })
  const [injected, real] = [await (await open(rig.port, 'a')).response(), await (await open(rig.port, 'b')).response()]
  expect([injected.status, injected.header('x-impatient-fault'), real.status, real.header('x-impatient-fault')]).toEqual([
    503,
    'mine',
    503,
    null,
  ])
})

test('an idle timer lets a slow but active stream live, byte by byte [faults2.wish-idle]', async () => {
  const upstream = await rawServer(async (connection) => {
    await connection.request()
    connection.send(sseHead)
    for (const byte of `: ${'.'.repeat(14)}\n\n${progressEvent(1)}`.slice(0, 18)) {
      if (!(await connection.send(chunk(byte)))) return
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    connection.send(chunk(progressEvent(7)))
  })
  const rig = await appRig(upstream.url, { yaml: 'faults:\n  - { name: idle, do: { idle-timeout: { after: 2s } } }\n' })
  const client = await open(rig.port, 'a')
  await client.until('"progress":7', 30_000) // later than the limit, and never silent for that long
  expect(client.ended()).toBeNull()
  expect((await client.untilEnded(30_000)).how).toBe('fin')
})

test('faults that do not match hold no event back; a matching is decided before the first [faults2.wish-sse]', async () => {
  const upstream = await streaming()
  const rig = await appRig(upstream.url, {
    yaml: 'faults:\n  - { name: other, when: { tool: other, client: nobody }, do: { buffer: { mode: full } } }\n',
  })
  const client = await open(rig.port, 'a')
  await client.until('"progress":1')
  for (const connection of upstream.connections) if (connection.text().includes('tools/call')) connection.send(chunk('data: half'))
  await client.until('data: half')
})

test('a page of another origin and a rebound name read and change nothing, on any route the API has, by HTTP or WebSocket [faults2.wish-page]', async () => {
  const upstream = await streaming()
  const rig = await appRig(upstream.url, { yaml: 'faults:\n  - { name: f, do: { latency: { delay: 1ms } } }\n' })
  const document = (await ask(rig.adminPort, '/api/v1/openapi.json')).json() as { paths: Record<string, Record<string, unknown>> }
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path.replace('{name}', 'f').replace('{id}', 'c1')] as const),
  )
  expect(routes.length).toBeGreaterThan(20)
  const body = JSON.stringify({ name: 'evil', do: { refuse: {} }, phases: [{ name: 'a', for: '1h' }], path: [], all: true })
  const own = `127.0.0.1:${rig.adminPort}`
  const tricks: Record<string, string>[] = [
    { Host: 'evil.example' },
    { Host: `evil.example:${rig.adminPort}` },
    { Host: own, Origin: 'http://evil.example' },
    { Host: own, Origin: 'null' },
    { Host: own, Origin: `https://127.0.0.1:${rig.adminPort + 1}` },
    { Host: own, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' },
    { Host: 'evil.example', Origin: 'http://evil.example' },
  ]
  const client = await open(rig.port, 'a')
  await client.until('"progress":1')
  for (const headers of tricks) {
    for (const [method, path] of routes) {
      const got = await ask(rig.adminPort, path, { method, headers, ...(method === 'GET' || method === 'DELETE' ? {} : { body }) })
      expect([headers, method, path, got.status]).toEqual([headers, method, path, 403])
      expect(Object.keys(got.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
    for (const path of ['/api/v1/live', '/api/v1/work']) {
      const status = await new Promise<number>((resolve) => {
        const peer = new WebSocket(`ws://127.0.0.1:${rig.adminPort}${path}`, { headers })
        peer.on('open', () => {
          resolve(101)
          peer.terminate()
        })
        peer.on('unexpected-response', (request, { statusCode }) => {
          resolve(statusCode ?? 0)
          request.destroy()
        })
        peer.on('error', () => resolve(0))
      })
      expect([headers, path, status]).toEqual([headers, path, 403])
    }
  }
  expect(client.ended()).toBeNull() // POST /cut with all: true came by in every trick
  expect((await rig.api('GET', '/faults')).json()).toMatchObject({ stopped: false, faults: [{ name: 'f' }] })
  expect((await rig.api('GET', '/scenario')).status).toBe(404)
})

test('a restart begins from the file: what the API did is gone [faults2.wish-time]', async () => {
  const upstream = await streaming()
  const yaml = 'faults:\n  - { name: f, do: { latency: { delay: 1ms } } }\n'
  const first = await appRig(upstream.url, { yaml })
  await first.api('POST', '/faults', { name: 'api', do: { refuse: {} }, when: { connection: 99 } })
  await first.api('DELETE', '/faults/f')
  await first.api('POST', '/stop')
  await first.app.stop()
  const second = await appRig(upstream.url, { yaml })
  expect((await second.api('GET', '/faults')).json()).toMatchObject({ stopped: false, faults: [{ name: 'f', origin: 'file' }] })
})
