/** The files to start everything with Docker, as far as they can be judged without it: what they name exists, and their ports agree. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { peerTest } from '../support/peers.ts'
import { ROOT } from '../support/source-tree.ts'

interface Service {
  readonly image: string
  readonly command?: readonly string[]
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

const CONFIG = join(ROOT, 'config')
const read = <T>(path: string): T => parse(readFileSync(join(ROOT, path), 'utf8'), { merge: true }) as T
const { services } = read<{ services: Record<string, Service> }>('config/compose.yaml')
const flag = (name: string): string => services['sidecar']?.command?.find((part) => part.startsWith(`--${name}=`))?.split('=')[1] ?? ''

test('every file it mounts exists, and every board is mounted [boards.compose]', () => {
  const mounted = Object.values(services).flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[0] ?? ''))
  expect(mounted.filter((path) => !existsSync(join(CONFIG, path)))).toEqual([])
  const boards = readdirSync(join(ROOT, 'dashboards')).filter((name) => name.endsWith('.json'))
  expect(boards.filter((name) => !mounted.includes(`../dashboards/${name}`))).toEqual([])
  const scripts = Object.values(services).flatMap(({ command = [] }) => command.filter((part) => part.endsWith('.mjs')))
  expect(scripts.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
test('images are pinned, ports stay on loopback, and what scrapes and draws asks where it is [boards.compose]', () => {
  for (const { image, ports = [] } of Object.values(services)) {
    expect(image).toMatch(/:[\w.-]*\d/)
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
  }
  const scraped = read<{ scrape_configs: { static_configs: { targets: string[] }[] }[] }>('config/compose/prometheus.yaml')
  expect(scraped.scrape_configs[0]?.static_configs[0]?.targets).toEqual([`sidecar:${flag('metrics-listen').split(':')[1]}`])
  const { datasources } = read<{ datasources: { type: string; url: string }[] }>('dashboards/provisioning/datasources/prometheus.yaml')
  expect(datasources).toMatchObject([{ type: 'prometheus', url: 'http://prometheus:9090' }])
  const { providers } = read<{ providers: { options: { path: string } }[] }>('dashboards/provisioning/dashboards/impatient-hop.yaml')
  const inside = providers[0]?.options.path ?? '?'
  const targets = (services['grafana']?.volumes ?? []).map((volume) => volume.split(':')[1] ?? '')
  expect(targets.filter((path) => path.startsWith(`${inside}/`))).toHaveLength(3)
  expect(targets).toContain(services['grafana']?.environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'])
})
peerTest('promtool', 'promtool reads the Prometheus configuration with its rules [boards.compose]', (promtool) => {
  const dir = mkdtempSync(join(tmpdir(), 'hop-compose-'))
  try {
    cpSync(join(CONFIG, 'compose/prometheus.yaml'), join(dir, 'prometheus.yaml'))
    cpSync(join(ROOT, 'dashboards/rules'), join(dir, 'rules'), { recursive: true })
    const said = execFileSync(promtool, ['check', 'config', join(dir, 'prometheus.yaml')], { encoding: 'utf8' })
    expect(said.match(/SUCCESS: 7 rules found/g)).toHaveLength(2)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
