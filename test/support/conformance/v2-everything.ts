/** A server for the conformance suite's 2026-07-28 scenarios: the v2 SDK. */
import { setTimeout as sleep } from 'node:timers/promises'
import { toNodeHandler } from '@modelcontextprotocol/node'
import type { ServerContext } from '@modelcontextprotocol/server'
import {
  completable,
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { McpTestServer } from '../mcp-server.ts'
import { startMcpServer } from '../mcp-server.ts'
import { CAPABILITIES, isLocal, JSON_SCHEMA_2020_12, PLAIN_TOOLS, PROMPTS, RESOURCES, templateText, text } from './everything.ts'
import { registerInputRequired } from './input-required.ts'

export async function startV2Everything(): Promise<McpTestServer> {
  const states = createRequestStateCodec<string>({ key: 'a key for tests only, thirty-two bytes long' })
  const handler = createMcpHandler(() => {
    const server = new McpServer(
      { name: 'v2-everything', version: '1.0.0' },
      { capabilities: CAPABILITIES, requestState: { verify: states.verify } },
    )
    registerTools(server)
    registerInputRequired(server, states)
    registerResources(server)
    registerPrompts(server)
    return server
  })
  const serve = toNodeHandler(handler)
  return await startMcpServer({
    runs: [],
    serve(request, response) {
      if (isLocal(request.headers.host, request.headers.origin)) void serve(request as Parameters<typeof serve>[0], response)
      else response.writeHead(403).end()
    },
    resourceUpdated: async (uri) => handler.notify.resourceUpdated(uri),
    toolsChanged: async () => handler.notify.toolsChanged(),
    close: () => handler.close(),
  })
}

function registerTools(server: McpServer): void {
  const none = z.object({})
  for (const [name, run] of Object.entries(PLAIN_TOOLS))
    server.registerTool(name, { description: name, inputSchema: none }, async () => run())
  server.registerTool('test_tool_with_progress', { description: 'progress', inputSchema: none }, async (_args, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` }
        await mcpReq.notify({ method: 'notifications/progress', params })
      }
      await sleep(50)
    }
    return text(String(progressToken))
  })
  const log =
    (...messages: string[]) =>
    async (_args: object, { mcpReq }: ServerContext) => {
      for (const message of messages) {
        await mcpReq.log('info', message)
        await sleep(50)
      }
      return text('ok')
    }
  const logging = log('Tool execution started', 'Tool processing data', 'Tool execution completed')
  server.registerTool('test_tool_with_logging', { description: 'logging', inputSchema: none }, logging)
  server.registerTool('test_logging_tool', { description: 'logging', inputSchema: none }, log('x'))
  const header = {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer' } },
  } as const
  server.registerTool(
    'test_x_mcp_header',
    { description: 'a header', inputSchema: fromJsonSchema<{ region?: string }>(header) },
    async ({ region }) => text(`region=${region ?? '<none>'}`),
  )
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Tool with JSON Schema 2020-12 features', inputSchema: fromJsonSchema(JSON_SCHEMA_2020_12) },
    async () => text('ok'),
  )
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
  const two = z.object({ arg1, arg2: z.string() })
  server.registerPrompt('test_prompt_with_arguments', { description: 'arguments', argsSchema: two }, (args) =>
    PROMPTS.withArguments(args.arg1, args.arg2),
  )
  const one = z.object({ resourceUri: z.string() })
  server.registerPrompt('test_prompt_with_embedded_resource', { description: 'resource', argsSchema: one }, (args) =>
    PROMPTS.withResource(args.resourceUri),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'image' }, PROMPTS.withImage)
}
