/** The sidecar as the demo needs it: started with settings, asked for its records. */
import type { Settings } from '../config/snapshot.ts'
import type { CallRecord } from '../core/record.ts'
import type { Hop } from '../hops/hop.ts'
import type { Timing } from './timing.ts'

export interface DemoSidecar {
  /** Where clients connect. */
  readonly url: URL
  readonly adminUrl: URL
  calls(): Promise<readonly CallRecord[]>
  stop(): Promise<void>
}

/** Injected: the demo knows no app. Throws an error whose message is one line where it cannot start. */
export type StartSidecar = (settings: Settings) => Promise<{ readonly url: URL; readonly adminUrl: URL; stop(): Promise<void> }>

/** `idleTimeoutMs` null: a path without a hop. */
export type StageTiming = { readonly idleTimeoutMs: number | null } & Pick<Timing, 'graceMs'>

export async function startDemoSidecar(start: StartSidecar, upstream: URL, timing: StageTiming): Promise<DemoSidecar> {
  const { url, adminUrl, stop } = await start(demoSettings(upstream, timing))
  return { url, adminUrl, stop, calls: () => fetchCalls(adminUrl) }
}

async function fetchCalls(adminUrl: URL): Promise<readonly CallRecord[]> {
  const answer = await fetch(new URL('/api/v1/calls', adminUrl))
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}`)
  return ((await answer.json()) as { calls: CallRecord[] }).calls
}

const ANY_PORT = { host: '127.0.0.1', port: 0 }

/** As `run --upstream URL [--idle-timeout D]`, on free ports. */
export function demoSettings(upstream: URL, { idleTimeoutMs, graceMs }: StageTiming): Settings {
  return {
    listen: ANY_PORT,
    upstream,
    admin: { listen: ANY_PORT, token: null },
    metrics: { listen: null, toolsMax: 50 },
    otlp: { listen: null, grpc: null, forwardTo: null, isDefault: true, isGrpcDefault: true },
    events: null,
    drainMs: 1_000,
    log: { level: 'silent', format: 'text' },
    limits: { heldBytesPerExchange: 16 * 1_048_576, heldBytesTotal: 256 * 1_048_576 },
    snapshot: {
      mode: 'act',
      path: idleTimeoutMs === null ? [] : [idleHop(idleTimeoutMs)],
      work: { graceMs, afterCut: 'hang-up', waitMs: 30_000, inject: 'header' },
      seed: 1,
    },
    file: null,
  }
}

function idleHop(afterMs: number): Hop {
  const gateway = (status: number) => ({ status, reason: '', rawHeaders: [], body: '' })
  return {
    name: 'path[0]:custom',
    preset: 'custom',
    idle: { afterMs, answer: gateway(504), ending: 'fin', upstream: 'fin', counts: 'bytes', direction: 'response', rearmMs: 0 },
    clientAbort: { midStream: 'at-once', beforeHeaders: 'at-once', halfClose: 'abort', upstream: 'fin' },
    upstreamLoss: { beforeHeaders: gateway(502), midStream: { fin: 'truncate', rst: 'truncate' } },
  }
}
