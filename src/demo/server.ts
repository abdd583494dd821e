/** The demo's MCP server: the real SDK, 2026-07-28, with a tool that stops when its call is cancelled and one that works on. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { toNodeHandler } from '@modelcontextprotocol/node'
import type { ServerContext } from '@modelcontextprotocol/server'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { WorkReporter } from './work-reporter.ts'
import { createWorkReporter } from './work-reporter.ts'

export type DemoTool = 'render_obedient' | 'render_deaf'

export interface DemoServer {
  /** What the sidecar gets as its upstream; the endpoint is `/mcp`. */
  readonly origin: URL
  /** The sidecar's admin address: each call's start and end are posted there from now on. */
  reportTo(admin: URL): void
  /** Reports that did not arrive, in words. */
  lostReports(): readonly string[]
  stop(): Promise<void>
}

const renderArguments = z.object({
  workMs: z.number().int().min(0).max(600_000).default(6_000),
  progressEveryMs: z.number().int().min(1).default(500),
  /** No progress after this, though the work goes on; absent: progress to the end. */
  silentAfterMs: z.number().int().min(0).optional(),
})
type RenderArguments = z.infer<typeof renderArguments>

/** `port` 0: any that is free. */
export async function startDemoServer(port = 0): Promise<DemoServer> {
  const reporter = createWorkReporter()
  const handler = createMcpHandler(() => createRenderer(reporter))
  const serve = toNodeHandler(handler)
  // A request that reached a server has its method; Node's type is of both directions.
  const server = createServer((request, response) => void serve(request as Parameters<typeof serve>[0], response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: own } = server.address() as AddressInfo
  return {
    origin: new URL(`http://127.0.0.1:${own}`),
    reportTo: reporter.reportTo,
    lostReports: reporter.lost,
    async stop() {
      await handler.close()
      server.close()
      server.closeAllConnections()
      await reporter.settled()
    },
  }
}

function createRenderer(reporter: WorkReporter): McpServer {
  const server = new McpServer({ name: 'impatient-hop-demo', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.registerTool(
    'render_obedient',
    { description: 'Some seconds of work with progress; stops as soon as its call is cancelled', inputSchema: renderArguments },
    (args, context) => render(args, context, reporter, context.mcpReq.signal),
  )
  server.registerTool(
    'render_deaf',
    { description: 'Some seconds of work with progress; never looks whether anybody still waits', inputSchema: renderArguments },
    (args, context) => render(args, context, reporter, null),
  )
  return server
}

/** Works in steps at fixed times after its start, until done or until `signal` fires; `null` is a tool without ears. */
async function render(args: RenderArguments, context: ServerContext, reporter: WorkReporter, signal: AbortSignal | null) {
  const call = { traceparent: context.http?.req?.headers.get('traceparent') ?? null, requestId: context.mcpReq.id }
  const startedAtMs = performance.now()
  reporter.tell('start', call)
  const steps = Math.max(1, Math.ceil(args.workMs / args.progressEveryMs))
  for (let step = 1; step <= steps; step += 1) {
    const dueMs = Math.min(step * args.progressEveryMs, args.workMs)
    await sleep(Math.max(0, startedAtMs + dueMs - performance.now()), undefined, signal === null ? {} : { signal }).catch(() => undefined)
    if (signal?.aborted === true) {
      reporter.tell('abort', call)
      return { content: [{ type: 'text' as const, text: `stopped at step ${step} of ${steps}` }] }
    }
    if (dueMs <= (args.silentAfterMs ?? args.workMs) && step < steps) await tellProgress(context, step, steps)
  }
  reporter.tell('end', call)
  return { content: [{ type: 'text' as const, text: `rendered in ${steps} steps` }] }
}

async function tellProgress({ mcpReq }: ServerContext, progress: number, total: number): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  // The SDK refuses notifications of a cancelled call; whoever is deaf does not hear that either.
  await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total } }).catch(() => undefined)
}
