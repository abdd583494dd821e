/** The whole sidecar in front of a test server: where a client connects to go through it, and what it recorded. */
import { startApp } from '../../src/app.ts'
import type { Settings } from '../../src/config/snapshot.ts'
import { silentLog } from '../../src/core/log.ts'
import type { CallRecord } from '../../src/core/record.ts'
import type { Hop } from '../../src/hops/hop.ts'
import { whenTestEnds } from './raw-socket.ts'

export interface Through {
  /** `http://127.0.0.1:PORT/mcp` */
  readonly url: URL
  readonly port: number
  readonly adminUrl: URL
  calls(): Promise<readonly CallRecord[]>
  stop(): Promise<void>
}

const ANY_PORT = { host: '127.0.0.1', port: 0 }

/** Without `path`: no hop. Stops by itself when the current test is over. */
export async function startThrough(upstream: URL, { path = [] }: { readonly path?: readonly Hop[] } = {}): Promise<Through> {
  const settings: Settings = {
    listen: ANY_PORT,
    upstream,
    admin: { listen: ANY_PORT, token: null },
    metrics: { listen: null, toolsMax: 50 },
    otlp: { listen: null, grpc: null, forwardTo: null, isDefault: true, isGrpcDefault: true },
    events: null,
    drainMs: 0,
    log: { level: 'silent', format: 'text' },
    limits: { heldBytesPerExchange: 16_777_216, heldBytesTotal: 268_435_456 },
    snapshot: { mode: 'act', path, work: { graceMs: 2_000, afterCut: 'hang-up', waitMs: 60_000, inject: 'header' }, seed: 1 },
    file: null,
  }
  const app = await startApp(settings, { log: silentLog, writeOut: () => undefined })
  whenTestEnds(app.stop)
  const { listen, admin } = app.addresses
  const adminUrl = new URL(`http://127.0.0.1:${admin.port}`)
  return {
    url: new URL(`http://127.0.0.1:${listen.port}/mcp`),
    port: listen.port,
    adminUrl,
    stop: app.stop,
    async calls() {
      const answer = await fetch(new URL('/api/v1/calls', adminUrl))
      return ((await answer.json()) as { calls: CallRecord[] }).calls
    },
  }
}
