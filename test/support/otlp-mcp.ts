/** Real MCP servers of both SDKs with one tool whose handler the test wraps; asked with plain HTTP, so that trace headers are the test's. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { McpServer as V1Server } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

const inputSchema = z.object({ text: z.string() })
export interface ToolResult {
  [key: string]: unknown
  content: { type: 'text'; text: string }[]
  isError?: boolean
}
export const said = (text: string, isError = false): ToolResult => ({ content: [{ type: 'text', text }], isError })

type Register = (server: McpServer) => void
type RegisterV1 = (server: V1Server) => void

async function listen(serve: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

export async function v2Server(register: Register): Promise<string> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'v2', version: '1' }, { capabilities: { tools: {} } })
    register(server)
    return server
  })
  const serve = toNodeHandler(handler)
  return await listen((request, response) => void serve(request as Parameters<typeof serve>[0], response))
}

/** Stateless: each request has a server of its own. */
export async function v1Server(register: RegisterV1): Promise<string> {
  return await listen(async (request, response) => {
    const server = new V1Server({ name: 'v1', version: '1' }, { capabilities: { tools: {} } })
    register(server)
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    await server.connect(transport as Parameters<V1Server['connect']>[0])
    await transport.handleRequest(request, response)
  })
}

/** With sessions: what comes in one request may cancel what came in another. */
export async function v1StatefulServer(register: RegisterV1): Promise<string> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  return await listen(async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']))
    if (known !== undefined) return await known.handleRequest(request, response)
    const server = new V1Server({ name: 'v1', version: '1' }, { capabilities: { tools: {} } })
    register(server)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await server.connect(transport as Parameters<V1Server['connect']>[0])
    await transport.handleRequest(request, response)
  })
}

export async function callTool(
  url: string,
  revision: '2026-07-28' | '2025-11-25',
  { id = 7 as number | string, headers = {} as Record<string, string>, meta = {} as Record<string, unknown>, tool = 'render' } = {},
): Promise<unknown> {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const isV2 = revision === '2026-07-28'
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': revision },
      ...(isV2 ? { 'mcp-method': 'tools/call', 'mcp-name': tool } : {}),
      ...headers,
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name: tool, arguments: { text: 'x' }, _meta: { ...(isV2 ? envelope : {}), ...meta } },
    }),
  })
  const text = await answer.text()
  return JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null'))
}
export { inputSchema }
