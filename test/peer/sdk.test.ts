/** The real SDKs, v1 and v2, servers and clients: what is said through the sidecar is what is said without it. */
import { expect, test } from 'vitest'
import type { AnyClient, ClientKind } from '../support/mcp-any-client.ts'
import { connectAnyClient, outcomeOf } from '../support/mcp-any-client.ts'
import type { McpTestServer } from '../support/mcp-server.ts'
import { startThrough } from '../support/mcp-through.ts'
import { startV1Server } from '../support/mcp-v1-server.ts'
import { startV2Server } from '../support/mcp-v2-server.ts'

const SERVERS = {
  'v1 stateful': () => startV1Server({ mode: 'stateful' }),
  'v1 stateless': () => startV1Server({ mode: 'stateless' }),
  'v1 JSON': () => startV1Server({ mode: 'json' }),
  v2: () => startV2Server(),
  'v2 SSE': () => startV2Server({ responseMode: 'sse' }),
  'v2 JSON': () => startV2Server({ responseMode: 'json' }),
} as const
type ServerName = keyof typeof SERVERS

const PAIRS: readonly (readonly [ServerName, ClientKind])[] = [
  ...(['v1 stateful', 'v1 stateless', 'v1 JSON', 'v2'] as const).flatMap((server) => [
    [server, 'v1'] as const,
    [server, 'v2-legacy'] as const,
  ]),
  ['v2', 'v2-modern'],
  ['v2 SSE', 'v2-modern'],
  ['v2 JSON', 'v2-modern'],
]
/** Those whose server has a stream to tell of changes. */
const tellsOfChanges = ([server, client]: readonly [ServerName, ClientKind]): boolean =>
  server === 'v1 stateful' || server === 'v1 JSON' || client === 'v2-modern'

const LONG_TEXT = 'ā long tëxt, 𝄞 and all; '.repeat(5_000)

/** Tools, errors, progress in order, resources, prompts: everything asked and everything said. */
async function converse(client: AnyClient): Promise<Record<string, unknown>> {
  const progress: number[] = []
  return {
    tools: await outcomeOf(client.listTools()),
    fast: await outcomeOf(client.callTool('fast', {})),
    echo: await outcomeOf(client.callTool('echo', { text: LONG_TEXT })),
    slow: await outcomeOf(client.callTool('slow', { everyMs: 10, forMs: 100 }, { onprogress: (n) => void progress.push(n) })),
    progress,
    toolError: await outcomeOf(client.callTool('error', {})),
    unknownTool: await outcomeOf(client.callTool('nonesuch', {})),
    badArguments: await outcomeOf(client.callTool('slow', { everyMs: 'soon' })),
    manyAtOnce: await Promise.all([...Array(8).keys()].map((n) => outcomeOf(client.callTool('echo', { text: `n${n}` })))),
    resources: await outcomeOf(client.listResources()),
    text: await outcomeOf(client.readResource('test://text')),
    item: await outcomeOf(client.readResource('test://item/äö')),
    noResource: await outcomeOf(client.readResource('test://nowhere')),
    prompts: await outcomeOf(client.listPrompts()),
    prompt: await outcomeOf(client.getPrompt('greet', { name: 'Ada' })),
    noPrompt: await outcomeOf(client.getPrompt('nonesuch', {})),
  }
}

/** A call its user gives up while the tool is at work: what the client says, and what became of the work. */
async function cancel(client: AnyClient, { runs }: McpTestServer): Promise<unknown> {
  const fates: unknown[] = []
  for (const tool of ['obedient', 'deaf']) {
    const leaving = new AbortController()
    const before = runs.length
    const said = outcomeOf(client.callTool(tool, { everyMs: 20, forMs: 600 }, { onprogress: () => undefined, signal: leaving.signal }))
    await expect.poll(() => runs.length, { timeout: 10_000 }).toBe(before + 1)
    leaving.abort('had enough')
    await expect.poll(() => runs.at(-1)?.endedMs, { timeout: 10_000 }).not.toBeNull()
    const { outcome, abortedMs = null, endedMs = null } = runs.at(-1) ?? {}
    // The v2 signal also fires after a normal end: only before it is it news.
    fates.push({ tool, said: await said, outcome, wasTold: abortedMs !== null && endedMs !== null && abortedMs <= endedMs })
  }
  return fates
}

async function subscribe(client: AnyClient, server: McpTestServer, expectsNews: boolean): Promise<unknown> {
  const updated: string[] = []
  const accepted = await outcomeOf(client.subscribe('test://text', (uri) => void updated.push(uri)))
  if (!expectsNews) return { accepted }
  // A v1 client opens its stream for news in its own time.
  await expect
    .poll(
      async () => {
        await server.resourceUpdated('test://text')
        return updated.length
      },
      { timeout: 10_000 },
    )
    .toBeGreaterThan(0)
  return { accepted, updated: [...new Set(updated)] }
}

test.each(PAIRS)('%s server, %s client: the same conversation through as direct [peer.sdk-same]', async (serverName, clientKind) => {
  const [direct, through] = [await SERVERS[serverName](), await SERVERS[serverName]()]
  const sidecar = await startThrough(through.origin)
  const directly = await converse(await connectAnyClient(clientKind, direct.url))
  expect(directly['fast']).toHaveProperty('result')
  expect(directly['progress']).toEqual(serverName.endsWith('JSON') ? [] : [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(await converse(await connectAnyClient(clientKind, sidecar.url))).toEqual(directly)
  expect(through.requests.length).toBeGreaterThan(10)
})
test.each(PAIRS)('%s server, %s client: cancelling does the same through as direct [peer.sdk-cancel]', async (serverName, clientKind) => {
  const [direct, through] = [await SERVERS[serverName](), await SERVERS[serverName]()]
  const sidecar = await startThrough(through.origin)
  const [directly, throughIt] = await Promise.all([
    connectAnyClient(clientKind, direct.url).then((client) => cancel(client, direct)),
    connectAnyClient(clientKind, sidecar.url).then((client) => cancel(client, through)),
  ])
  expect(throughIt).toEqual(directly)
})
test.each(PAIRS)(
  '%s server, %s client: subscriptions do the same through as direct [peer.sdk-subscribe]',
  async (serverName, clientKind) => {
    const [direct, through] = [await SERVERS[serverName](), await SERVERS[serverName]()]
    const sidecar = await startThrough(through.origin)
    const expectsNews = tellsOfChanges([serverName, clientKind])
    const directly = await subscribe(await connectAnyClient(clientKind, direct.url), direct, expectsNews)
    expect(await subscribe(await connectAnyClient(clientKind, sidecar.url), through, expectsNews)).toEqual(directly)
  },
)
test.each([
  ['v1 stateful', 'v1'],
  ['v2', 'v2-modern'],
] as const)('%s server, %s client: progress arrives as it is made, not in a heap [peer.progress-live]', async (serverName, clientKind) => {
  const server = await SERVERS[serverName]()
  const client = await connectAnyClient(clientKind, (await startThrough(server.origin)).url)
  const atMs: number[] = []
  await client.callTool('slow', { everyMs: 100, forMs: 1_000 }, { onprogress: () => void atMs.push(performance.now()) })
  const [first = 0, last = 0] = [atMs.at(0), atMs.at(-1)]
  expect(atMs).toHaveLength(10)
  expect(last - first).toBeGreaterThan(600)
})
