/**
 * A story with known numbers, told by real sidecars to a real Prometheus that scrapes every second. Three sidecars: one acts,
 * one drains what it cut, one only shadows. A fourth target is a metrics page on a fake clock: calls cut at 60 s, without waiting so long.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Settings } from '../../src/config/snapshot.ts'
import type { CallRecord } from '../../src/core/record.ts'
import type { Prometheus } from './prometheus.ts'
import { startPrometheus } from './prometheus.ts'
import type { Sidecar } from './prometheus-sidecar.ts'
import { ask, call, nginx, startSidecar } from './prometheus-sidecar.ts'
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

/** What was started is stopped, also where the story breaks off. */
export async function tellStory(binary: string): Promise<Story> {
  const opened: { close(): Promise<void> }[] = []
  const close = async (): Promise<void> => {
    for (const part of opened.reverse().splice(0)) await part.close()
  }
  try {
    return { ...(await tell(binary, opened)), close }
  } catch (problem) {
    await close()
    throw problem
  }
}

async function tell(binary: string, opened: { close(): Promise<void> }[]): Promise<Omit<Story, 'close'>> {
  const keep = <T extends { close(): Promise<void> }>(part: T): T => {
    opened.push(part)
    return part
  }
  const acting = keep(await startSidecar({ path: [nginx(1_500)], faults: FAULTS }))
  const draining = keep(await startSidecar({ path: [nginx(800, true)], afterCut: 'drain' }))
  const shadowing = keep(await startSidecar({ path: [nginx(800)], mode: 'shadow' }))
  const sidecars = [acting, draining, shadowing]
  const sixty = keep(await startSixtySecondPage())
  const targets = [
    { job: 'hop', ports: sidecars.map(({ port }) => port) },
    { job: 'sixty', ports: [sixty.port] },
  ]
  const prometheus = await startPrometheus(binary, targets, RULE_FILES)
  keep({ close: prometheus.stop })
  for (const sidecar of sidecars) await ask(sidecar, 'tools/list')
  await prometheus.until('count_over_time(impatient_results_undelivered_total{tool="deaf"}[1m]) >= 2', ({ length }) => length === 3)
  await prometheus.until('count_over_time(impatient_build_info{job="sixty"}[1m]) >= 2')
  sixty.tell()
  await playScenario(shadowing)
  await Promise.all([
    ...['silent', 'silent', 'silent', 'fast', 'fast', 'held'].map((tool) => call(acting, tool)),
    ...['deaf', 'obedient', 'mute'].map((tool) => call(acting, tool, { leftAfterMs: LEFT_AFTER_MS })),
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
  }
}

/** Two phases, four seconds: to be seen, not to disturb. */
async function playScenario({ adminUrl }: Sidecar): Promise<void> {
  const phases = [
    { name: 'calm', for: '2s' },
    { name: 'storm', for: '2s' },
  ]
  const answer = await fetch(new URL('/api/v1/scenario', adminUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'short', phases }),
  })
  if (!answer.ok) throw new Error(`the scenario was refused: ${await answer.text()}`)
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
