/**
 * A story with known numbers, told by real sidecars to a real Prometheus that scrapes every second. Three sidecars: one acts,
 * one drains what it cut, one only shadows. A fourth target is a metrics page on a fake clock: calls cut at 60 s, without waiting so long.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startApp } from '../../src/app.ts'
import type { Settings } from '../../src/config/snapshot.ts'
import { silentLog } from '../../src/core/log.ts'
import type { CallRecord } from '../../src/core/record.ts'
import type { Hop } from '../../src/hops/hop.ts'
import type { Prometheus } from './prometheus.ts'
import { startPrometheus } from './prometheus.ts'
import type { ScriptedServer } from './prometheus-server.ts'
import { startScriptedServer } from './prometheus-server.ts'
import { startSixtySecondPage } from './prometheus-sixty.ts'
import { fillVariables } from './promql.ts'
import { ROOT } from './source-tree.ts'

export interface Story {
  readonly prometheus: Prometheus
  /** When all was told and scraped; what is asked of that time stays as it is. */
  readonly atSeconds: number
  /** Calls as the acting sidecar recorded them. */
  readonly calls: readonly CallRecord[]
  /** Of the acting sidecar. */
  readonly metricsUrl: URL
  /** The acting one, the draining one, the shadowing one: `127.0.0.1:PORT`. */
  readonly instances: readonly [string, string, string]
  /** At that time, with a board's variables filled in. */
  ask(expr: string, chosen?: Readonly<Record<string, string>>): ReturnType<Prometheus['query']>
  close(): Promise<void>
}

/** How a reader of the boards would have chosen for so short a story. */
export const CHOSEN = { __range: '90s', __rate_interval: '45s', before: '3s' }
export const RULE_FILES = ['impatient-hop.rules.yaml', 'impatient-hop.alerts.yaml'].map((name) => join(ROOT, 'dashboards/rules', name))

const FAULTS: NonNullable<Settings['faults']> = {
  rules: [
    { name: 'withhold', when: { tool: 'held' }, do: { cut: { before: 'result' } }, for: '10m' },
    { name: 'spared', when: { method: 'tools/list' }, do: { cut: { before: 'request' } } },
  ],
  safety: { exempt: { methods: ['tools/list'] } },
}
const LEFT_AFTER_MS = 400
const SETTLED_MS = 30_000

interface Sidecar {
  readonly origin: string
  readonly adminUrl: URL
  readonly port: number
  readonly server: ScriptedServer
  close(): Promise<void>
}

export async function tellStory(binary: string): Promise<Story> {
  const acting = await startSidecar({ path: [nginx(1_000)], faults: FAULTS })
  const draining = await startSidecar({ path: [nginx(500, true)], afterCut: 'drain' })
  const shadowing = await startSidecar({ path: [nginx(500)], mode: 'shadow' })
  const sidecars = [acting, draining, shadowing]
  const sixty = await startSixtySecondPage()
  const targets = [
    { job: 'hop', ports: sidecars.map(({ port }) => port) },
    { job: 'sixty', ports: [sixty.port] },
  ]
  const prometheus = await startPrometheus(binary, targets, RULE_FILES)
  for (const sidecar of sidecars) await ask(sidecar, 'tools/list')
  await prometheus.until('count_over_time(impatient_results_undelivered_total{tool="deaf"}[1m]) >= 2', ({ length }) => length === 3)
  await prometheus.until('count_over_time(impatient_build_info{job="sixty"}[1m]) >= 2')
  sixty.tell()
  await Promise.all([
    ...['silent', 'silent', 'silent', 'fast', 'fast', 'held'].map((tool) => call(acting, tool)),
    ...['deaf', 'obedient', 'mute'].map((tool) => call(acting, tool, LEFT_AFTER_MS)),
    ...[draining, shadowing].map((sidecar) => call(sidecar, 'talker')),
  ])
  const calls = await settled(acting)
  const toldAt = Date.now() / 1_000
  // Long enough that `$before` ago all had happened too.
  const [{ value: atSeconds = 0 } = {}] = await prometheus.until(
    'min(timestamp(impatient_build_info))',
    ([first]) => (first?.value ?? 0) > toldAt + 5,
  )
  return {
    prometheus,
    atSeconds,
    calls,
    metricsUrl: new URL('/metrics', acting.adminUrl),
    instances: [`127.0.0.1:${acting.port}`, `127.0.0.1:${draining.port}`, `127.0.0.1:${shadowing.port}`],
    ask: (expr, chosen = {}) => prometheus.query(fillVariables(expr, { ...CHOSEN, ...chosen }), atSeconds),
    async close() {
      await prometheus.stop()
      await sixty.close()
      for (const sidecar of sidecars) await sidecar.close()
    },
  }
}

function nginx(idleMs: number, holds = false): Hop {
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

interface SidecarAsked {
  readonly path: readonly Hop[]
  readonly afterCut?: 'hang-up' | 'drain'
  readonly mode?: 'act' | 'shadow'
  readonly faults?: NonNullable<Settings['faults']>
}

async function startSidecar({ path, afterCut = 'hang-up', mode = 'act', faults }: SidecarAsked): Promise<Sidecar> {
  const server = await startScriptedServer()
  const settings: Settings = {
    listen: ANY_PORT,
    upstream: server.origin,
    admin: { listen: ANY_PORT, token: null },
    metrics: { listen: null, toolsMax: 50 },
    otlp: { listen: null, grpc: null, forwardTo: null, isDefault: true, isGrpcDefault: true },
    events: null,
    drainMs: 0,
    log: { level: 'silent', format: 'text' },
    limits: { heldBytesPerExchange: 16_777_216, heldBytesTotal: 268_435_456 },
    snapshot: { mode, path, work: { graceMs: 800, afterCut, waitMs: 3_500, inject: 'header' }, seed: 1 },
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

let lastId = 0

function ask({ origin }: Sidecar, method: string, name?: string, signal: AbortSignal | null = null): Promise<Response> {
  lastId += 1
  const params = name === undefined ? {} : { name, arguments: {}, _meta: { progressToken: lastId } }
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

/** Until the stream is over, in any way. */
async function call(sidecar: Sidecar, tool: string, leftAfterMs: number | null = null): Promise<void> {
  try {
    const answer = await ask(sidecar, 'tools/call', tool, leftAfterMs === null ? null : AbortSignal.timeout(leftAfterMs))
    await answer.text()
  } catch {
    // cut or left, as the story has it
  }
}

async function settled({ adminUrl, server }: Sidecar): Promise<readonly CallRecord[]> {
  for (const untilMs = performance.now() + SETTLED_MS; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    const { calls } = (await (await fetch(new URL('/api/v1/calls', adminUrl))).json()) as { calls: CallRecord[] }
    const told = calls.filter(({ tool }) => tool !== null)
    if (told.length === 9 && told.every(({ work, closedMs }) => work.outcome !== 'pending' && closedMs !== null)) {
      if (server.lost.length > 0) throw new Error(`reports were lost: ${server.lost.join('; ')}`)
      return told
    }
    if (performance.now() > untilMs) throw new Error(`not settled: ${JSON.stringify(told.map(({ tool, work }) => [tool, work.outcome]))}`)
  }
}

/** The rules' names and expressions, as the files have them. */
export async function ruleTexts(): Promise<string> {
  return (await Promise.all(RULE_FILES.map((file) => readFile(file, 'utf8')))).join('\n')
}
