/** Which exchanges a fault meets, over real sockets: matching, chance, caps, order, and what is told of those it leaves alone. */
import { expect, test } from 'vitest'
import type { ControlRigOptions } from '../support/control-rig.ts'
import { controlRig } from '../support/control-rig.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { hop, total } from '../support/line-rig.ts'
import type { RawSocket } from '../support/raw-client.ts'
import { rawClient } from '../support/raw-client.ts'
import type { HeaderList } from '../support/raw-http.ts'
import { callText, chunk, headText, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'

const OK =
  headText(200, [
    ['Content-Type', 'application/json'],
    ['Content-Length', '2'],
  ]) + '{}'
/** Answers every request with 200. */
const plainServer = () =>
  rawServer(async (connection) => {
    for (;;) {
      await connection.request()
      connection.send(OK)
    }
  })
const teapot = { respond: { status: 418 } }
async function plain(options: ControlRigOptions) {
  const upstream = await plainServer()
  return { upstream, rig: await controlRig(upstream.url, options) }
}
const statusOf = async (client: RawSocket, request: string, method?: string): Promise<number> => {
  client.send(request)
  return (await client.response(method === undefined ? {} : { method })).status
}

const v1Body = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const v1 = (method: string, params: object = {}, more: HeaderList = []) =>
  requestText(
    'POST',
    '/mcp',
    [['Content-Type', 'application/json'], ['MCP-Protocol-Version', '2025-06-18'], ...more],
    v1Body(method, params),
  )
const get = requestText('GET', '/mcp', [['Accept', 'text/event-stream']])
const notified = requestText(
  'POST',
  '/mcp',
  [['Content-Type', 'application/json']],
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
)

test.each([
  [{ method: 'tools/*' }, [true, true, false, false, false]],
  [{ tool: 'search_*' }, [false, true, false, false, false]],
  [{ method: 'tools/call', tool: 'render' }, [true, false, false, false, false]],
  [{ headers: { 'X-Tenant': 'stag*' } }, [false, true, false, false, false]],
  [{ revision: '2026-*' }, [true, false, false, false, false]],
  [{ kind: 'get_sse' }, [false, false, false, true, false]],
  [{ kind: 'notification' }, [false, false, false, false, true]],
  [{ client: 'inspect*' }, [false, false, true, false, false]],
  [{ path: '/mcp' }, [true, true, true, true, true]],
  [{ path: '/other' }, [false, false, false, false, false]],
  [{ connection: 1 }, [true, true, true, true, true]],
  [{ connection: 2 }, [false, false, false, false, false]],
  [{ nth: [2, 4] }, [false, true, false, true, false]],
  [{ kind: 'call', nth: 2 }, [false, true, false, false, false]],
  [{ probability: 0 }, [false, false, false, false, false]],
] as const)('when %j [faults2.wire-match]', async (when, expected) => {
  const { rig } = await plain({ faults: [{ when, do: teapot }] })
  const client = await rawClient(rig.port)
  const requests = [
    callText('render'),
    v1('tools/call', { name: 'search_web', arguments: {} }, [['x-tenant', 'staging']]),
    v1('initialize', { protocolVersion: '2025-06-18', clientInfo: { name: 'inspector', version: '1' }, capabilities: {} }),
    get,
    notified,
  ]
  const met: boolean[] = []
  for (const request of requests) met.push((await statusOf(client, request)) === 418)
  expect(met).toEqual(expected)
})

test('a rule that never matched is visible, and does nothing [faults2.wire-match]', async () => {
  const { rig } = await plain({ faults: [{ when: { tool: 'none' }, do: teapot }] })
  const client = await rawClient(rig.port)
  expect(await statusOf(client, callText('render'))).toBe(200)
  expect([rig.tally('f'), rig.notes()]).toEqual([{ matched: 0, fired: 0, skipped: 0, exempt: 0, capped: 0 }, []])
})

test('a body over 1 MiB cannot be read: no match, skipped, and it passes byte for byte [faults2.wire-match]', async () => {
  const { upstream, rig } = await plain({ faults: [{ when: { tool: 'x' }, do: teapot }] })
  const client = await rawClient(rig.port)
  const body = v1Body('tools/call', { name: 'x', arguments: { blob: 'y'.repeat(1_200_000) } })
  expect(await statusOf(client, requestText('POST', '/mcp', [], body))).toBe(200)
  expect((await upstream.connection(0)).text().endsWith(body)).toBe(true)
  expect([rig.notes(), rig.tally('f')]).toMatchObject([[expect.stringMatching(/^f skipped: .*too long/)], { matched: 0, skipped: 1 }])
  const short = v1Body('tools/call', { name: 'x' })
  const parts = await rawClient(rig.port) // in parts: it waits until it is whole
  parts.send(requestText('POST', '/mcp', [['Content-Length', String(short.length)]]) + short.slice(0, 20))
  await rig.fact('moved', 1)
  parts.send(short.slice(20))
  expect((await parts.response()).status).toBe(418)
})

test('exempt methods are left alone, and that is said [faults2.wire-safety]', async () => {
  const { rig } = await plain({
    faults: [{ do: teapot }],
    safety: { exempt: { methods: ['initialize', 'notifications/*', 'tools/list'] } },
  })
  const client = await rawClient(rig.port)
  const statuses: number[] = []
  for (const request of [v1('initialize'), notified, v1('tools/list'), v1('tools/call', { name: 'a' }), callText()])
    statuses.push(await statusOf(client, request))
  expect(statuses).toEqual([200, 200, 200, 418, 418])
  expect([rig.tally('f'), rig.notes(0)]).toMatchObject([{ matched: 2, exempt: 3, fired: 2 }, ['f exempt: its method is exempt']])
})

test('the same calls meet the same fates with one seed, in any order and beside any other fault [faults2.wire-chance]', async () => {
  const tools = Array.from({ length: 24 }, (_, n) => `tool${n}`)
  const fates = async (seed: number, order: readonly string[], more: readonly object[] = []): Promise<Map<string, boolean>> => {
    const { rig } = await plain({ faults: [...more, { when: { probability: 0.5 }, do: teapot }], snapshot: { seed } })
    const found = new Map<string, boolean>()
    const client = await rawClient(rig.port)
    for (const tool of order) found.set(tool, (await statusOf(client, callText(tool, { id: found.size }))) === 418)
    return found
  }
  const first = await fates(7, tools)
  expect(new Map([...(await fates(7, tools.toReversed()))].sort())).toEqual(new Map([...first].sort()))
  const other = { name: 'other', when: { probability: 0.5 }, do: { headers: { response: { set: { 'X-Other': '1' } } } } }
  expect(await fates(7, tools, [other])).toEqual(first)
  expect(await fates(8, tools)).not.toEqual(first)
  expect(new Set(first.values())).toEqual(new Set([true, false]))
})

test('at probability 0 nothing whatever changes: the same bytes on both sides as with no fault [faults2.wire-chance]', async () => {
  const through = async (faults: readonly object[]) => {
    const upstream = await rawServer(async (connection) => {
      await connection.until('arguments')
      connection.send(sseHead + chunk('data: a\n\nda') + chunk('ta: b\n\n') + chunk(resultEvent()) + lastChunk)
    })
    const rig = await controlRig(upstream.url, { faults })
    const client = await rawClient(rig.port)
    const text = v1('tools/call', { name: 'a', arguments: {} })
    client.send(text.slice(0, -10))
    // Whatever was sent is with the server before the rest comes: the request is not held.
    await (await upstream.connection(0)).until('tools/call')
    client.send(text.slice(-10))
    const answer = await client.response()
    await rig.fact('finished')
    const [connection] = upstream.connections
    return {
      request: connection?.text().replace(/sidecar.test|127[^\r]*/g, ''),
      head: answer.head,
      text: answer.text,
      notes: rig.notes(),
      tally: rig.tally('f'),
    }
  }
  const everything = [
    { cut: { after: { events: 1 } } },
    { stall: { from: 'headers' } },
    { malform: { what: 'json' } },
    { refuse: {} },
    { stall: { from: 'accept' } },
    { buffer: { mode: 'full' } },
  ].map((form, n) => ({ name: `f${n === 0 ? '' : n}`, when: { probability: 0 }, do: form, announce: true }))
  expect(await through(everything)).toEqual(await through([]))
})

test('affectedMax caps the open exchanges affected, one always allowed; it falls free as they end [faults2.wire-safety]', async () => {
  const upstream = await rawServer(async (connection) => {
    await connection.request()
    connection.send(sseHead + chunk(progressEvent(1)))
  })
  const rig = await controlRig(upstream.url, {
    faults: [{ do: { latency: { delay: '1ms', on: 'headers' } } }],
    safety: { affectedMax: '25%' },
  })
  const clients = []
  for (let n = 0; n < 8; n += 1) {
    const client = await rawClient(rig.port)
    client.send(callText(`t${n}`))
    await client.until('"progress":1')
    clients.push(client)
  }
  expect(rig.tally('f')).toMatchObject({ matched: 8, fired: 2, capped: 6 })
  expect(rig.notes(1)).toEqual(['f capped: safety.affectedMax is reached'])
  clients[0]?.rst()
  await rig.fact('finished', 0)
  const next = await rawClient(rig.port)
  next.send(callText('next'))
  await next.until('"progress":1')
  expect(rig.tally('f').fired).toBe(3)
})

test('cutsPerMinuteMax caps the cuts of faults and hops alike; a minute later there are new ones [faults2.wire-safety]', async () => {
  for (const by of ['fault', 'hop'] as const) {
    const clock = fakeClock()
    const upstream = await rawServer(async (connection) => {
      await connection.request()
      connection.send(sseHead + chunk(progressEvent(1)))
    })
    const rig = await controlRig(upstream.url, {
      clock,
      faults: by === 'fault' ? [{ do: { 'max-duration': { after: '10s' } } }] : [],
      path: by === 'hop' ? [hop('nginx', { total: total(10_000) })] : [],
      safety: { cutsPerMinuteMax: 2 },
    })
    const open = async (): Promise<RawSocket> => {
      const client = await rawClient(rig.port)
      client.send(callText())
      await client.until('"progress":1')
      return client
    }
    const clients = [await open(), await open(), await open()]
    clock.advance(10_000)
    await Promise.all(clients.slice(0, 2).map((client) => client.untilEnded()))
    clock.advance(30_000)
    expect([by, clients[2]?.ended()]).toEqual([by, null])
    clock.advance(30_000)
    const later = await open()
    clock.advance(10_000)
    expect((await later.untilEnded()).how).toBe('fin')
  }
})

test('at: client and at: server say on which side of the hops a fault sits [faults2.wire-order]', async () => {
  for (const at of ['client', 'server'] as const) {
    const clock = fakeClock()
    const upstream = await rawServer(() => undefined)
    const rig = await controlRig(upstream.url, {
      clock,
      faults: [{ at, do: { latency: { delay: '5s', on: 'headers' } } }],
      path: [
        hop('nginx', {
          headers: { afterMs: 3_000, ending: 'fin', answer: { status: 504, reason: 'hop', rawHeaders: [], body: '' }, upstream: 'fin' },
        }),
      ],
    })
    const client = await rawClient(rig.port)
    client.send(callText())
    const connection = await upstream.connection(0)
    await connection.until('tools/call')
    connection.send(sseHead)
    await rig.fact('head')
    clock.advance(3_000)
    // Held at the server's side it is silence to the hop; at the client's side the hop has its head.
    if (at === 'server') expect((await client.response()).status).toBe(504)
    else {
      expect(client.text()).toBe('')
      clock.advance(2_000)
      await client.until('200 OK')
    }
  }
})

test('announce names the fault where a head is still to be sent [faults2.wire-order]', async () => {
  const { rig } = await plain({ faults: [{ announce: true, do: teapot }] })
  const client = await rawClient(rig.port)
  client.send(callText())
  expect((await client.response()).header('x-impatient-fault')).toBe('f')
  const slow = await plain({ faults: [{ announce: true, do: { latency: { delay: '1ms' } } }] })
  const other = await rawClient(slow.rig.port)
  other.send(callText())
  const answer = await other.response()
  expect([answer.status, answer.header('x-impatient-fault')]).toEqual([200, 'f'])
})

test('shadow: faults and hops decide and count, nothing acts, the record says what would have cut [faults2.wire-order]', async () => {
  const clock = fakeClock()
  const upstream = await rawServer(() => undefined)
  const rig = await controlRig(upstream.url, {
    clock,
    faults: [{ do: { 'max-duration': { after: '5s' } } }, { name: 'no', do: { refuse: {} } }],
    snapshot: { mode: 'shadow' },
  })
  const client = await rawClient(rig.port)
  client.send(callText())
  const connection = await upstream.connection(0)
  await connection.until('tools/call')
  connection.send(sseHead + chunk(progressEvent(1)))
  await client.until('"progress":1')
  clock.advance(6_000)
  connection.send(chunk(resultEvent()) + lastChunk)
  expect((await client.response()).isWhole).toBe(true)
  await rig.fact('finished')
  expect(rig.record()).toMatchObject({ cause: 'complete', wouldCut: [{ hop: 'f', cause: 'max_duration', atMs: 5_000 }] })
})
