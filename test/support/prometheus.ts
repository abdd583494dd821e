/** The real Prometheus on a free port: its configuration and data in a folder of its own, asked over its API, stopped by its pid. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

export interface ScrapeTarget {
  readonly job: string
  readonly ports: readonly number[]
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Prometheus {
  readonly url: URL
  /** An instant query; without a time: now. Throws with Prometheus' own words where it refuses. */
  query(expr: string, atSeconds?: number): Promise<readonly Sample[]>
  /** Waits until the query gives something that is right, asking a few times a second; its samples. */
  until(expr: string, isRight?: (samples: readonly Sample[]) => boolean): Promise<readonly Sample[]>
  /** A path of its API; the `data` of the answer. */
  get(path: string, parameters?: Readonly<Record<string, string>>): Promise<unknown>
  stop(): Promise<void>
}

const START_MS = 60_000
const WAIT_MS = 60_000
const STOP_MS = 10_000

export async function startPrometheus(binary: string, targets: readonly ScrapeTarget[], ruleFiles: readonly string[]): Promise<Prometheus> {
  const dir = mkdtempSync(join(tmpdir(), 'hop-prometheus-'))
  const port = await freePort()
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ruleFiles,
    scrape_configs: targets.map(({ job, ports }) => ({
      job_name: job,
      static_configs: [{ targets: ports.map((each) => `127.0.0.1:${each}`) }],
    })),
  }
  writeFileSync(join(dir, 'prometheus.yml'), JSON.stringify(config)) // JSON is YAML
  const child = spawn(
    binary,
    [
      `--config.file=${join(dir, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
      '--log.level=warn',
    ],
    { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let said = ''
  const hear = (text: Buffer): void => {
    said = (said + text.toString()).slice(-4_000)
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const gone = once(child, 'close')
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const isGone = (): boolean => child.exitCode !== null || child.signalCode !== null
  const url = new URL(`http://127.0.0.1:${port}`)
  for (const untilMs = performance.now() + START_MS; !(await isReady(url)); await pause(100)) {
    if (!isGone() && performance.now() < untilMs) continue
    kill()
    throw new Error(`${binary} did not start; it said:\n${said}`)
  }
  return {
    ...client(url),
    async stop() {
      if (!isGone()) child.kill('SIGTERM')
      const late = setTimeout(kill, STOP_MS)
      await gone
      clearTimeout(late)
      process.off('exit', kill)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function client(url: URL): Omit<Prometheus, 'stop'> {
  async function get(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const asked = new URL(path, url)
    asked.search = new URLSearchParams(parameters).toString()
    const answer = (await (await fetch(asked)).json()) as { status: string; data?: unknown; error?: string }
    if (answer.status !== 'success') throw new Error(`${parameters['query'] ?? path}: ${answer.error}`)
    return answer.data
  }
  async function query(expr: string, atSeconds?: number): Promise<readonly Sample[]> {
    const at: Record<string, string> = atSeconds === undefined ? {} : { time: `${atSeconds}` }
    const { resultType, result } = (await get('/api/v1/query', { query: expr, ...at })) as { resultType: string; result: unknown }
    if (resultType !== 'vector') throw new Error(`${expr}: a ${resultType}`)
    return (result as { metric: Record<string, string>; value: [number, string] }[]).map(({ metric, value }) => ({
      labels: metric,
      value: Number(value[1].replace('Inf', 'Infinity')),
    }))
  }
  return {
    url,
    get,
    query,
    async until(expr, isRight = (samples) => samples.length > 0) {
      let samples = await query(expr)
      for (const untilMs = performance.now() + WAIT_MS; !isRight(samples); samples = await query(expr)) {
        if (performance.now() > untilMs) throw new Error(`waited ${WAIT_MS} ms for ${expr}; it is ${JSON.stringify(samples)}`)
        await pause(250)
      }
      return samples
    },
  }
}

const isReady = async (url: URL): Promise<boolean> => (await fetch(new URL('/-/ready', url)).catch(() => null))?.ok === true
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
