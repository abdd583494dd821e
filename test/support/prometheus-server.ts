/** A scripted MCP server for stories whose numbers are known: each tool has its manner, and reports its work to the sidecar's admin port. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ScriptedServer {
  readonly origin: URL
  /** Where work reports go from now on. */
  reportTo(admin: URL): void
  /** Reports that were not taken. */
  readonly lost: readonly string[]
  close(): Promise<void>
}

/** How long `deaf` works on after its stream is gone. */
export const ORPHAN_MS = 2_000

interface Call {
  readonly response: ServerResponse
  /** When the response stream has closed, in any way. */
  readonly gone: Promise<unknown>
  say(event: 'start' | 'end' | 'abort'): Promise<void>
  progress(): void
  result(): void
}

/** `obedient`, `silent` and `held` stop when they are left; `deaf` works on; `mute` never reports; `talker` is done at once and speaks again much later. */
const TOOLS: Readonly<Record<string, (call: Call) => Promise<void>>> = {
  async fast({ say, result }) {
    await say('start')
    await say('end')
    result()
  },
  async silent({ say, progress, gone }) {
    await say('start')
    progress()
    await gone
    await say('abort')
  },
  async obedient({ say, progress, gone }) {
    await say('start')
    progress()
    await gone
    await say('abort')
  },
  async deaf({ say, progress, gone }) {
    await say('start')
    progress()
    await gone
    await sleep(ORPHAN_MS)
    await say('end')
  },
  async mute({ progress, gone }) {
    progress()
    await gone
  },
  /** Done, and told so, a second before its result goes out. */
  async held({ say, progress, result }) {
    await say('start')
    progress()
    await say('end')
    await sleep(400)
    result()
  },
  async talker({ say, progress, result }) {
    await say('start')
    await say('end')
    progress()
    await sleep(2_500)
    result()
  },
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const lost: string[] = []
  let admin: URL | null = null
  async function report(traceparent: string, requestId: number, event: string): Promise<void> {
    if (admin === null) return
    const body = JSON.stringify({ event, traceparent, requestId, at: Date.now() })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(new URL('/api/v1/work', admin), { method: 'POST', headers, body }).catch((problem: unknown) => problem)
    if (!(answer instanceof Response) || answer.status !== 202) lost.push(`${event} of ${requestId}: ${String(answer)}`)
  }
  const server = createServer((request, response) => {
    serve(request, response, report).catch((problem: unknown) => lost.push(String(problem)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    reportTo(to) {
      admin = to
    },
    lost,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

type Report = (traceparent: string, requestId: number, event: string) => Promise<void>

async function serve(request: IncomingMessage, response: ServerResponse, report: Report): Promise<void> {
  let text = ''
  for await (const piece of request) text += String(piece)
  const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: { name?: string } }
  if (method === 'tools/list') {
    const tools = Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { tools } }))
    return
  }
  const traceparent = String(request.headers['traceparent'])
  const send = (message: object): void => void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  await TOOLS[params.name ?? '']?.({
    response,
    gone: once(response, 'close'),
    say: (event) => report(traceparent, id, event),
    progress: () => send({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } }),
    result() {
      send({ id, result: { content: [{ type: 'text', text: 'done' }] } })
      response.end()
    },
  })
}
