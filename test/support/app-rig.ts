/** The whole sidecar in this process, from a configuration file in a folder of its own: its ports, its log, its admin API. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApp } from '../../src/app.ts'
import type { RunningApp } from '../../src/app-types.ts'
import { loadSettings } from '../../src/config/load.ts'
import type { Log } from '../../src/core/log.ts'
import type { Got } from './admin-rig.ts'
import { ask } from './admin-rig.ts'
import { whenTestEnds } from './raw-socket.ts'
import { testedEngine } from './upstream-engine.ts'

export interface AppRig {
  readonly app: RunningApp
  readonly port: number
  readonly adminPort: number
  readonly folder: string
  readonly file: string
  /** `error: …`, `warn: …`, `info: …` */
  readonly log: readonly string[]
  /** In place, as a careless editor does. */
  write(text: string): void
  /** Of `/api/v1`. */
  api(method: string, path: string, body?: unknown): Promise<Got>
  /** The value of a series, by name and labels as Prometheus writes them; null: there is none. */
  metric(series: string): Promise<number | null>
}

export interface AppRigOptions {
  /** Beside upstream, ports and what keeps it to itself. */
  readonly yaml?: string
  readonly flags?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Where the file is to be, from the folder's path; absent: config.yaml in it, written here. */
  readonly place?: (folder: string, text: string) => string
}

export const yamlOf = (upstream: URL, more = ''): string =>
  `listen: 127.0.0.1:0\nadmin: { listen: 127.0.0.1:0 }\notlp: { listen: none, grpc: none }\nupstream: ${upstream.origin}\n${more}`

export async function appRig(upstream: URL, { yaml = '', flags = {}, env = {}, place }: AppRigOptions = {}): Promise<AppRig> {
  const folder = mkdtempSync(join(tmpdir(), 'impatient-hop-'))
  whenTestEnds(() => rmSync(folder, { recursive: true, force: true }))
  const text = yamlOf(upstream, yaml)
  const file = place?.(folder, text) ?? join(folder, 'config.yaml')
  if (place === undefined) writeFileSync(file, text)
  const load = () =>
    loadSettings({
      flags: { drain: '0s', 'upstream-engine': testedEngine, ...flags, config: file },
      env,
      readFile: (path) => readFileSync(path, 'utf8'),
    })
  const loaded = load()
  if ('errors' in loaded) throw new Error(loaded.errors.join('\n'))
  const lines: string[] = []
  const say = (level: string) => (message: string) => void lines.push(`${level}: ${message}`)
  const log: Log = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
  const app = await startApp(loaded.settings, { log, writeOut: () => undefined, load })
  whenTestEnds(() => app.stop())
  const adminPort = app.addresses.admin.port
  return {
    app,
    port: app.addresses.listen.port,
    adminPort,
    folder,
    file,
    log: lines,
    write: (next) => writeFileSync(file, yamlOf(upstream, next)),
    api: (method, path, body) =>
      ask(adminPort, `/api/v1${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
    async metric(series) {
      const { body } = await ask(adminPort, '/metrics')
      const line = body.split('\n').find((one) => one.startsWith(`${series} `))
      return line === undefined ? null : Number(line.split(' ')[1])
    },
  }
}
