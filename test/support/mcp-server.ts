/** What the test servers of both SDKs share: an HTTP server on a free port, what it saw, and its end. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ToolRun } from './mcp-tools.ts'
import { whenTestEnds } from './raw-socket.ts'

export interface SeenRequest {
  readonly method: string
  readonly target: string
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  readonly atMs: number
  /** When the response stream closed, in any way; null: still open. */
  closedMs: number | null
}

export interface McpTestServer {
  /** `http://127.0.0.1:PORT/mcp` */
  readonly url: URL
  /** What `--upstream` takes. */
  readonly origin: URL
  readonly port: number
  /** Every tool call, in order. */
  readonly runs: readonly ToolRun[]
  readonly requests: readonly SeenRequest[]
  /** Tells subscribers that a resource changed. */
  resourceUpdated(uri: string): Promise<void>
  toolsChanged(): Promise<void>
  close(): Promise<void>
}

/** What an SDK brings: how it answers, and how it tells its subscribers. */
export interface McpSide {
  readonly runs: ToolRun[]
  serve(request: IncomingMessage, response: ServerResponse): void
  resourceUpdated(uri: string): Promise<void>
  toolsChanged(): Promise<void>
  close(): Promise<void>
}

/** Closes by itself when the current test is over. */
export async function startMcpServer(side: McpSide, port = 0): Promise<McpTestServer> {
  const requests: SeenRequest[] = []
  const server = createServer((request, response) => {
    const seen: SeenRequest = {
      method: request.method ?? '',
      target: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      atMs: performance.now(),
      closedMs: null,
    }
    requests.push(seen)
    response.on('close', () => {
      seen.closedMs = performance.now()
    })
    side.serve(request, response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const own = (server.address() as AddressInfo).port
  const origin = new URL(`http://127.0.0.1:${own}`)
  const close = async (): Promise<void> => {
    if (!server.listening) return
    await side.close().catch(() => undefined)
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  whenTestEnds(close)
  return {
    url: new URL('/mcp', origin),
    origin,
    port: own,
    runs: side.runs,
    requests,
    resourceUpdated: side.resourceUpdated,
    toolsChanged: side.toolsChanged,
    close,
  }
}
