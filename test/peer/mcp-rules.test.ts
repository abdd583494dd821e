/** The real SDKs driven live through the sidecar, over all they can do: no rule of the protocol is broken, and what a cut made of their calls is joined. */
import { expect, test } from 'vitest'
import type { CallRecord } from '../../src/core/record.ts'
import { customHop } from '../../src/hops/flags.ts'
import type { Hop } from '../../src/hops/hop.ts'
import { createEventStore } from '../support/event-store.ts'
import type { AnyClient, ClientKind } from '../support/mcp-any-client.ts'
import { connectAnyClient, outcomeOf } from '../support/mcp-any-client.ts'
import { connectV2Client } from '../support/mcp-clients.ts'
import type { McpTestServer } from '../support/mcp-server.ts'
import { startThrough } from '../support/mcp-through.ts'
import { startV1Server } from '../support/mcp-v1-server.ts'
import { startV2Server } from '../support/mcp-v2-server.ts'

const SERVERS = {
  'v1 stateful': () => startV1Server({ mode: 'stateful' }),
  'v1 stateful with event ids': () => startV1Server({ mode: 'stateful', eventStore: createEventStore() }),
  'v1 stateless': () => startV1Server({ mode: 'stateless' }),
  'v1 JSON': () => startV1Server({ mode: 'json' }),
  v2: () => startV2Server({ keepAliveMs: 50 }),
  'v2 SSE': () => startV2Server({ responseMode: 'sse' }),
  'v2 JSON': () => startV2Server({ responseMode: 'json' }),
} as const
const PAIRS: readonly (readonly [keyof typeof SERVERS, ClientKind])[] = [
  ...(['v1 stateful', 'v1 stateful with event ids', 'v1 stateless', 'v1 JSON', 'v2'] as const).flatMap((server) => [
    [server, 'v1'] as const,
    [server, 'v2-legacy'] as const,
  ]),
  ['v2', 'v2-modern'],
  ['v2 SSE', 'v2-modern'],
  ['v2 JSON', 'v2-modern'],
]

/** All that the SDKs do for a user, failures and leaving in the middle included. */
async function useAll(client: AnyClient, server: McpTestServer): Promise<void> {
  const onprogress = (): void => undefined
  await outcomeOf(client.listTools())
  await outcomeOf(client.callTool('slow', { everyMs: 5, forMs: 50 }, { onprogress }))
  for (const [tool, args] of [
    ['error', {}],
    ['nonesuch', {}],
    ['slow', { everyMs: 'soon' }],
  ] as const)
    await outcomeOf(client.callTool(tool, args))
  await Promise.all(
    [...Array(6).keys()].map((n) => outcomeOf(client.callTool('slow', { everyMs: 5, forMs: 20, text: `n${n}` }, { onprogress }))),
  )
  await outcomeOf(client.listResources())
  await outcomeOf(client.readResource('test://item/äö'))
  await outcomeOf(client.readResource('test://nowhere'))
  await outcomeOf(client.listPrompts())
  await outcomeOf(client.getPrompt('greet', { name: 'Ada' }))
  await outcomeOf(client.subscribe('test://text', () => undefined))
  await server.resourceUpdated('test://text')
  await server.toolsChanged()
  for (const tool of ['obedient', 'deaf']) {
    const leaving = new AbortController()
    const before = server.runs.length
    const said = outcomeOf(client.callTool(tool, { everyMs: 10, forMs: 150 }, { onprogress, signal: leaving.signal }))
    await expect.poll(() => server.runs.length, { timeout: 20_000 }).toBe(before + 1)
    leaving.abort('had enough')
    await said
    await expect.poll(() => server.runs.at(-1)?.endedMs, { timeout: 20_000 }).not.toBeNull()
    // The same again: after a cut, this is what a retry looks like.
    await outcomeOf(client.callTool(tool, { everyMs: 10, forMs: 150 }, { onprogress }))
  }
}

const brokenIn = (records: readonly CallRecord[]): string[] =>
  records.flatMap(({ id, method, kind, violations, notices }) =>
    violations.map((rule) => `${id} ${method ?? kind}: ${rule} (${notices.join('; ')})`),
  )

test.each(PAIRS)('%s server, %s client: no rule is broken over all they do [mcp.live-legal]', async (serverName, clientKind) => {
  const server = await SERVERS[serverName]()
  const sidecar = await startThrough(server.origin)
  // Two at once, with the same ids.
  const clients = [await connectAnyClient(clientKind, sidecar.url), await connectAnyClient(clientKind, sidecar.url)]
  await Promise.all(clients.slice(0, 1).map((client) => useAll(client, server)))
  await Promise.all(clients.map((client) => outcomeOf(client.callTool('slow', { everyMs: 5, forMs: 50 }, { onprogress: () => undefined }))))
  // A v1 client leaves the stream of a call that it cancelled open: those are read as they stand.
  const answered = async (): Promise<number> =>
    (await sidecar.calls()).filter(({ method, result }) => method === 'tools/call' && result === 'sent').length
  await expect.poll(answered, { timeout: 20_000 }).toBeGreaterThan(8)
  const records = await sidecar.calls()
  expect(brokenIn(records)).toEqual([])
})

test('a call cut in the middle and resumed by the SDK is one call, with its result [mcp.live-legal]', async () => {
  const server = await startV1Server({ eventStore: createEventStore() })
  const sidecar = await startThrough(server.origin, { path: [cutAfter(400)] })
  const client = await connectAnyClient('v1', sidecar.url)
  expect(await outcomeOf(client.callTool('slow', { everyMs: 20, forMs: 800 }, { onprogress: () => undefined }))).toHaveProperty('result')
  const callOf = async (): Promise<CallRecord | undefined> => (await sidecar.calls()).find(({ tool }) => tool === 'slow')
  await expect.poll(async () => (await callOf())?.result, { timeout: 20_000 }).toBe('sent')
  const call = await callOf()
  expect(call).toMatchObject({ cause: 'max_duration', hop: 'custom', abandonedMs: null, violations: [] })
  const resumed = (await sidecar.calls()).find(({ retryOf }) => retryOf === call?.id)
  expect(resumed).toMatchObject({ kind: 'get_sse', violations: [] })
  expect(brokenIn(await sidecar.calls())).toEqual([])
})

test('a call that the v2 client issues again after a cut is known for what it is [mcp.retries]', async () => {
  const server = await startV2Server({ responseMode: 'sse' })
  const sidecar = await startThrough(server.origin, { path: [cutAfter(300)] })
  const client = await connectV2Client(sidecar.url)
  const args = { name: 'deaf', arguments: { everyMs: 50, forMs: 2_000 } }
  for (let n = 0; n < 2; n += 1) await client.callTool(args, { timeout: 600 }).catch(() => undefined)
  const calls = (await sidecar.calls()).filter(({ tool }) => tool === 'deaf')
  expect(calls.map(({ retryOf, violations }) => [retryOf, violations])).toEqual([
    [null, []],
    [calls[0]?.id, []],
  ])
})

function cutAfter(afterMs: number): Hop {
  const limits = { headerTimeoutMs: null, idleTimeoutMs: null, maxDurationMs: afterMs, ending: 'fin', buffer: null } as const
  return customHop({ name: 'path[0]:custom', ...limits })
}
