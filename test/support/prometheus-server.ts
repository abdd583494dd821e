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
  readonly orphanMs: number
  /** When the response stream has closed, in any way. */
  readonly gone: Promise<unknown>
  say(event: 'start' | 'end' | 'abort'): Promise<void>
  progress(): void
  result(): void
}

/**
 * Streams open before anything is reported, so that clients leave what has begun, however slow the machine.
 * `obedient` and `silent` stop when they are left; `deaf` works on; `mute` never reports; `held` is done before its result goes out,
 * `talker` long before.
 */
const TOOLS: Readonly<Record<string, (call: Call) => Promise<void>>> = {
  async fast({ say, result }) {
    await say('start')
    await say('end')
    result()
  },
  silent: stopWhenLeft,
  obedient: stopWhenLeft,
  async deaf({ say, progress, gone, orphanMs }) {
    progress()
    await say('start')
    await gone
    await sleep(orphanMs)
    await say('end')
  },
  async mute({ progress, gone }) {
    progress()
    await gone
  },
  held: (call) => doneBefore(call, 400),
  talker: (call) => doneBefore(call, 3_000),
}

async function stopWhenLeft({ say, progress, gone }: Call): Promise<void> {
  progress()
  await say('start')
  await gone
  await say('abort')
}

async function doneBefore({ say, progress, result }: Call, ms: number): Promise<void> {
  progress()
  await say('start')
  await say('end')
  await sleep(ms)
  result()
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const lost: string[] = []
  let admin: URL | null = null
  async function report(traceparent: string, requestId: number, event: string): Promise<void> {
    if (admin === null) return
    const body = JSON.stringify({ event, traceparent, requestId }) // without `at`: now
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
  const { id, method, params } = JSON.parse(text) as {
    id: number
    method: string
    params: { name?: string; arguments?: { orphanMs?: number } }
  }
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
    orphanMs: params.arguments?.orphanMs ?? ORPHAN_MS,
    gone: once(response, 'close'),
    say: (event) => report(traceparent, id, event),
    progress: () => send({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } }),
    result() {
      send({ id, result: { content: [{ type: 'text', text: 'done' }] } })
      response.end()
    },
  })
}
