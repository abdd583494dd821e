/** A real MCP server of 2026-07-28: the v2 SDK on `node:http`. Tools: fast, echo, slow, silent, obedient, deaf, error. */
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { McpTestServer } from './mcp-server.ts'
import { startMcpServer } from './mcp-server.ts'
import type { ToolRun } from './mcp-tools.ts'
import { pace, runTool, TOOLS } from './mcp-tools.ts'

export interface V2ServerOptions {
  /** `auto` (the SDK's default): JSON until the first notification. */
  readonly responseMode?: 'auto' | 'sse' | 'json'
  /** Comment frames on open SSE; the SDK's default is 15 s, 0 is off. */
  readonly keepAliveMs?: number
  readonly port?: number
}

export async function startV2Server({
  responseMode = 'auto',
  keepAliveMs = 15_000,
  port = 0,
}: V2ServerOptions = {}): Promise<McpTestServer> {
  const runs: ToolRun[] = []
  const handler = createMcpHandler(() => createServer(runs), { responseMode, keepAliveMs })
  const serve = toNodeHandler(handler)
  return await startMcpServer(
    {
      runs,
      // Node's own types leave `method` undefined for responses; a server's request has one.
      serve: (request, response) => void serve(request as Parameters<typeof serve>[0], response),
      resourceUpdated: async (uri) => handler.notify.resourceUpdated(uri),
      toolsChanged: async () => handler.notify.toolsChanged(),
      close: () => handler.close(),
    },
    port,
  )
}

function createServer(runs: ToolRun[]): McpServer {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: {}, logging: {} }
  const server = new McpServer({ name: 'v2-test-server', version: '1.0.0' }, { capabilities })
  for (const tool of Object.keys(TOOLS)) {
    server.registerTool(tool, { description: `${tool} of the test server`, inputSchema: pace }, async (args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      const notifyProgress =
        progressToken === undefined
          ? null
          : (progress: number, total: number) =>
              mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total } })
      return await runTool(tool, args, { signal: mcpReq.signal, notifyProgress }, runs)
    })
  }
  server.registerResource('text', 'test://text', { mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'a résumé of naïve text' }],
  }))
  const template = new ResourceTemplate('test://item/{id}', { list: undefined })
  server.registerResource('item', template, { mimeType: 'application/json' }, async (uri, { id }) => ({
    contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ id }) }],
  }))
  server.registerPrompt('greet', { description: 'Greets', argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Hello, ${name}!` } }],
  }))
  return server
}
