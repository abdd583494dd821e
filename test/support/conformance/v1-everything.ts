/** A server for the conformance suite's 2025-11-25 scenarios: the v1 SDK with sessions, resumption, sampling and elicitation. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { completable } from '@modelcontextprotocol/sdk/server/completable.js'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { createEventStore } from '../event-store.ts'
import type { McpTestServer } from '../mcp-server.ts'
import { startMcpServer } from '../mcp-server.ts'
import { ELICITATIONS } from './elicitations.ts'
import { CAPABILITIES, isLocal, JSON_SCHEMA_2020_12, PLAIN_TOOLS, PROMPTS, RESOURCES, templateText, text } from './everything.ts'

export async function startV1Everything(): Promise<McpTestServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const eventStore = createEventStore()

  async function open(): Promise<StreamableHTTPServerTransport> {
    const server = createServer()
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore,
      retryInterval: 500,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await server.connect(transport as Transport)
    return transport
  }
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocal(request.headers.host, request.headers.origin)) return void response.writeHead(403).end()
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (typeof id === 'string' && known === undefined) return void response.writeHead(404).end()
    await (known ?? (await open())).handleRequest(request, response)
  }
  return await startMcpServer({
    runs: [],
    serve: (request, response) => void serve(request, response),
    resourceUpdated: async () => undefined,
    toolsChanged: async () => undefined,
    async close() {
      for (const transport of sessions.values()) await transport.close()
    },
  })
}

function createServer(): McpServer {
  const server = new McpServer({ name: 'v1-everything', version: '1.0.0' }, { capabilities: CAPABILITIES })
  registerPlainTools(server)
  registerAskingTools(server)
  registerResources(server)
  registerPrompts(server)
  keepSchemaWhole(server)
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}))
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}))
  return server
}

function registerPlainTools(server: McpServer): void {
  for (const [name, run] of Object.entries(PLAIN_TOOLS)) server.registerTool(name, { description: name }, async () => run())
  server.registerTool('test_tool_with_progress', { description: 'progress' }, async ({ _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` }
        await sendNotification({ method: 'notifications/progress', params })
      }
      await sleep(50)
    }
    return text(String(progressToken))
  })
  server.registerTool('test_tool_with_logging', { description: 'logging' }, async ({ sendNotification }) => {
    for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await sendNotification({ method: 'notifications/message', params: { level: 'info', data: message } })
      await sleep(50)
    }
    return text('ok')
  })
  // Ends its own stream in the middle: the client comes back for the rest.
  server.registerTool('test_reconnection', { description: 'reconnection' }, async ({ closeSSEStream }) => {
    await sleep(100)
    closeSSEStream?.()
    await sleep(200)
    return text('Reconnection test completed successfully. If you received this, the client properly reconnected after stream closure.')
  })
  server.registerTool('json_schema_2020_12_tool', { description: 'Tool with JSON Schema 2020-12 features' }, async () => text('ok'))
}

function registerAskingTools(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: 'sampling', inputSchema: { prompt: z.string() } },
    async ({ prompt }, { sendRequest }) => {
      const params = { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }], maxTokens: 100 }
      const { content } = await sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema)
      return text(`LLM response: ${!Array.isArray(content) && content.type === 'text' ? content.text : ''}`)
    },
  )
  for (const [name, { message, requestedSchema, says }] of Object.entries(ELICITATIONS)) {
    server.registerTool(
      name,
      { description: name, inputSchema: { message: z.string().default(message) } },
      async (args, { sendRequest }) => {
        const { action, content } = await sendRequest(
          { method: 'elicitation/create', params: { message: args.message, requestedSchema } },
          ElicitResultSchema,
        )
        return text(says(action, JSON.stringify(content ?? {})))
      },
    )
  }
}

function registerResources(server: McpServer): void {
  for (const { name, uri, mimeType, content } of RESOURCES) {
    server.registerResource(name, uri, { description: name, mimeType }, async (of) => ({
      contents: [{ uri: of.href, mimeType, ...content }],
    }))
  }
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('template', template, { description: 'template', mimeType: 'application/json' }, async (of, { id }) => ({
    contents: [{ uri: of.href, mimeType: 'application/json', text: templateText(id) }],
  }))
}

function registerPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'simple' }, PROMPTS.simple)
  const arg1 = completable(z.string().describe('a city'), (value) => ['paris', 'park'].filter((word) => word.startsWith(value)))
  const two = { arg1, arg2: z.string() }
  server.registerPrompt('test_prompt_with_arguments', { description: 'arguments', argsSchema: two }, (args) =>
    PROMPTS.withArguments(args.arg1, args.arg2),
  )
  const one = { resourceUri: z.string() }
  server.registerPrompt('test_prompt_with_embedded_resource', { description: 'resource', argsSchema: one }, (args) =>
    PROMPTS.withResource(args.resourceUri),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'image' }, PROMPTS.withImage)
}

/** The v1 SDK makes its listing from Zod; this one tool's schema is listed as it is written. */
function keepSchemaWhole(server: McpServer): void {
  const handlers = (
    server.server as unknown as { _requestHandlers: Map<string, (...args: unknown[]) => Promise<{ tools: { name: string }[] }>> }
  )._requestHandlers
  const list = handlers.get('tools/list')
  server.server.setRequestHandler(ListToolsRequestSchema, async (...args) => {
    const { tools = [] } = (await list?.(...args)) ?? {}
    return {
      tools: tools.map((tool) =>
        tool.name === 'json_schema_2020_12_tool' ? { ...tool, inputSchema: JSON_SCHEMA_2020_12 } : tool,
      ) as never,
    }
  })
}
