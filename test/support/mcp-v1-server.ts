/** A real MCP server of 2025-11-25: the v1 SDK, with sessions, without, or answering in JSON. The same tools as the v2 one. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import type { McpTestServer } from './mcp-server.ts'
import { startMcpServer } from './mcp-server.ts'
import type { ToolRun } from './mcp-tools.ts'
import { pace, runTool, TOOLS } from './mcp-tools.ts'

export interface V1ServerOptions {
  /** `json`: with sessions, `enableJsonResponse`. */
  readonly mode?: 'stateful' | 'stateless' | 'json'
  /** Gives events ids, so that clients resume. */
  readonly eventStore?: EventStore
  readonly port?: number
}

interface Session {
  readonly server: McpServer
  readonly transport: StreamableHTTPServerTransport
  readonly subscribed: Set<string>
}

export async function startV1Server({ mode = 'stateful', eventStore, port = 0 }: V1ServerOptions = {}): Promise<McpTestServer> {
  const runs: ToolRun[] = []
  const sessions = new Map<string, Session>()

  async function open(): Promise<Session> {
    const { server, subscribed } = createServer(runs)
    const transport = new StreamableHTTPServerTransport({
      enableJsonResponse: mode === 'json',
      ...(eventStore === undefined ? {} : { eventStore }),
      ...(mode === 'stateless'
        ? {}
        : { sessionIdGenerator: randomUUID, onsessioninitialized: (id: string) => void sessions.set(id, session) }),
    })
    const session: Session = { server, transport, subscribed }
    await server.connect(transport as Transport)
    return session
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (mode !== 'stateless' && typeof id === 'string' && known === undefined) return void response.writeHead(404).end()
    const session = known ?? (await open())
    // One server a request, as the SDK's own stateless example has it: it goes with its response.
    if (mode === 'stateless') response.on('close', () => void session.server.close())
    await session.transport.handleRequest(request, response)
  }

  return await startMcpServer(
    {
      runs,
      serve: (request, response) => void serve(request, response),
      async resourceUpdated(uri) {
        for (const { server, subscribed } of sessions.values()) if (subscribed.has(uri)) await server.server.sendResourceUpdated({ uri })
      },
      async toolsChanged() {
        for (const { server } of sessions.values()) server.sendToolListChanged()
      },
      async close() {
        for (const { server } of sessions.values()) await server.close()
      },
    },
    port,
  )
}

function createServer(runs: ToolRun[]): { server: McpServer; subscribed: Set<string> } {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: {}, logging: {} }
  const server = new McpServer({ name: 'v1-test-server', version: '1.0.0' }, { capabilities })
  const subscribed = new Set<string>()
  for (const tool of Object.keys(TOOLS)) {
    server.registerTool(
      tool,
      { description: `${tool} of the test server`, inputSchema: pace.shape },
      async (args, { signal, _meta, sendNotification }) => {
        const progressToken = _meta?.progressToken
        const notifyProgress =
          progressToken === undefined
            ? null
            : (progress: number, total: number) =>
                sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total } })
        return await runTool(tool, args, { signal, notifyProgress }, runs)
      },
    )
  }
  server.registerResource('text', 'test://text', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'a résumé of naïve text' }],
  }))
  const template = new ResourceTemplate('test://item/{id}', { list: undefined })
  server.registerResource('item', template, { mimeType: 'application/json' }, (uri, { id }) => ({
    contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ id }) }],
  }))
  server.registerPrompt('greet', { description: 'Greets', argsSchema: { name: z.string() } }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Hello, ${name}!` } }],
  }))
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri)
    return {}
  })
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri)
    return {}
  })
  return { server, subscribed }
}
