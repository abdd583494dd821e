/** A whole sidecar before a scripted server, with short limits, and the calls of stories through it. */
import { startApp } from '../../src/app.ts'
import type { Settings } from '../../src/config/snapshot.ts'
import { silentLog } from '../../src/core/log.ts'
import type { Hop } from '../../src/hops/hop.ts'
import type { ScriptedServer } from './prometheus-server.ts'
import { startScriptedServer } from './prometheus-server.ts'

export interface Sidecar {
  readonly origin: string
  readonly adminUrl: URL
  readonly port: number
  readonly server: ScriptedServer
  close(): Promise<void>
}

export function nginx(idleMs: number, holds = false): Hop {
  const gateway = (status: number) => ({ status, reason: '', rawHeaders: [], body: '' })
  return {
    name: 'path[0]:nginx',
    preset: 'nginx',
    idle: { afterMs: idleMs, answer: gateway(504), ending: 'fin', upstream: 'fin', counts: 'bytes', direction: 'response', rearmMs: 0 },
    total: { afterMs: 30_000, answer: gateway(504), ending: 'fin', upstream: 'fin', from: 'request', at: 'deadline' },
    clientAbort: { midStream: 'at-once', beforeHeaders: 'at-once', halfClose: 'abort', upstream: 'fin' },
    ...(holds ? { buffering: { mode: { everyMs: 100 }, holdHeaders: false, atCut: 'flush', honours: [] } } : {}),
  }
}

const ANY_PORT = { host: '127.0.0.1', port: 0 }

export interface SidecarAsked {
  readonly path: readonly Hop[]
  readonly afterCut?: 'hang-up' | 'drain'
  readonly mode?: 'act' | 'shadow'
  readonly faults?: NonNullable<Settings['faults']>
}

export async function startSidecar({ path, afterCut = 'hang-up', mode = 'act', faults }: SidecarAsked): Promise<Sidecar> {
  const server = await startScriptedServer()
  const settings: Settings = {
    listen: ANY_PORT,
    upstream: server.origin,
    admin: { listen: ANY_PORT, token: null },
    metrics: { listen: null, toolsMax: 50 },
    otlp: { listen: ANY_PORT, grpc: null, forwardTo: null, isDefault: false, isGrpcDefault: true },
    events: null,
    drainMs: 0,
    log: { level: 'silent', format: 'text' },
    limits: { heldBytesPerExchange: 16_777_216, heldBytesTotal: 268_435_456 },
    snapshot: { mode, path, work: { graceMs: 800, afterCut, waitMs: 6_000, inject: 'header' }, seed: 1 },
    ...(faults === undefined ? {} : { faults }),
    file: null,
  }
  const app = await startApp(settings, { log: silentLog, writeOut: () => undefined })
  const adminUrl = new URL(`http://127.0.0.1:${app.addresses.admin.port}`)
  server.reportTo(adminUrl)
  return {
    origin: `http://127.0.0.1:${app.addresses.listen.port}`,
    adminUrl,
    port: app.addresses.admin.port,
    server,
    async close() {
      await app.stop()
      await server.close()
    },
  }
}

interface Asked {
  readonly args?: Readonly<Record<string, number>>
  readonly signal?: AbortSignal | null
}
let lastId = 0

export function ask({ origin }: Sidecar, method: string, name?: string, { args = {}, signal = null }: Asked = {}): Promise<Response> {
  lastId += 1
  const params = name === undefined ? {} : { name, arguments: args, _meta: { progressToken: lastId } }
  return fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params }),
    signal,
  })
}

/** Until the stream is over, in any way. `leftAfterMs`: the client leaves so long after the stream began. */
export async function call(
  sidecar: Sidecar,
  tool: string,
  { leftAfterMs, ...args }: { readonly leftAfterMs?: number; readonly orphanMs?: number } = {},
): Promise<void> {
  const leaving = new AbortController()
  try {
    const answer = await ask(sidecar, 'tools/call', tool, { args, signal: leaving.signal })
    if (leftAfterMs !== undefined) setTimeout(() => leaving.abort(), leftAfterMs)
    await answer.text()
  } catch {
    // cut or left, as the story has it
  }
}
