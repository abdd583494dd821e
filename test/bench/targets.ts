/** What is measured: each proxy as a process of its own, with the settings that let it pass streams at once. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './places.ts'

export interface TargetAsked {
  readonly port: number
  readonly upstreamPort: number
  /** More ports that are free. */
  readonly morePorts: readonly number[]
  /** A directory of its own for configuration. */
  readonly dir: string
  /** Cut silent streams after this; null: never. */
  readonly idleMs: number | null
  /** The package to measure: its `dist/main.js`. */
  readonly sidecarDir: string
}

export interface Target {
  readonly name: string
  readonly title: string
  /** Whether it is there; its version for the report. */
  version(): string | null
  /** Null for a direct connection. */
  command(asked: TargetAsked): readonly string[] | null
  /** It knows an idle limit that it keeps. */
  readonly cutsIdle: boolean
  /** Where the server reports its work to; null: it does not. */
  reportUrl?(asked: TargetAsked): string
  /** What Prometheus asks for every second while it is measured; absent: nobody asks. */
  scrapeUrl?(asked: TargetAsked): string
  /** Only these measures; absent: all. */
  readonly measures?: readonly string[]
}

const LONG = '1h'
const node = (...more: string[]): readonly string[] => [process.execPath, ...more]

const actor = (name: string): string => join(ROOT, 'node_modules/.impatient-bench/actors', `${name}.js`)
export const CLIENT = actor('client')
export const UPSTREAM = actor('upstream')

const packageVersion = (name: string): string => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as { version: string }
  return version
}

function versionOf(command: string, ...args: string[]): string | null {
  try {
    const said = execFileSync('sh', ['-c', `${[command, ...args].join(' ')} 2>&1`], { encoding: 'utf8' })
    return /\d+\.\d+(\.\d+)?/.exec(said)?.[0] ?? 'unknown'
  } catch {
    return null
  }
}

function sidecar(asked: TargetAsked, ...more: string[]): readonly string[] {
  const [admin = 0, otlp = 0] = asked.morePorts
  return node(
    join(asked.sidecarDir, 'dist/main.js'),
    'run',
    ...['--upstream', `http://127.0.0.1:${asked.upstreamPort}`, '--listen', `127.0.0.1:${asked.port}`],
    ...['--admin', `127.0.0.1:${admin}`, '--otlp', `127.0.0.1:${otlp}`, '--otlp-grpc', 'none'],
    ...['--log-level', 'error', '--drain', '250ms'],
    ...(asked.idleMs === null ? [] : ['--idle-timeout', `${asked.idleMs}ms`]),
    ...more,
  )
}

/** Three hops that pass bytes on at once and never cut in a run, and twenty faults of every kind of condition, none of which is met. */
function loadedConfig(dir: string): string {
  const hop = (name: string): string => `  - hop: ${name}\n    with: { idle: { after: ${LONG} }, total: none }`
  const whens = [
    '{ method: tools/call, tool: "nobody_*" }',
    '{ headers: { x-tenant: nobody } }',
    '{ path: /nowhere }',
    '{ method: resources/read }',
    '{ kind: subscription }',
  ]
  const dos = [
    '{ cut: { after: { time: 2s } } }',
    '{ latency: { delay: 200ms } }',
    '{ respond: { status: 503 } }',
    '{ idle-timeout: { after: 1s } }',
  ]
  const faults = whens.flatMap((when, row) => dos.map((what, column) => `  - { name: fault-${row}-${column}, when: ${when}, do: ${what} }`))
  const file = join(dir, 'loaded.yaml')
  writeFileSync(file, `path:\n${['cloudflare', 'aws-alb', 'custom'].map(hop).join('\n')}\nfaults:\n${faults.join('\n')}\n`)
  return file
}

function nginxConfig({ dir, port, upstreamPort, idleMs }: TargetAsked): string {
  const file = join(dir, 'nginx.conf')
  const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')
  const idle = idleMs === null ? LONG : `${idleMs}ms`
  writeFileSync(
    file,
    `daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid ${dir}/nginx.pid; error_log ${dir}/nginx.log crit;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 21400; multi_accept on; }
http {
  access_log off; ${temps} keepalive_requests 100000000; keepalive_timeout 3600s; tcp_nodelay on;
  upstream server { server 127.0.0.1:${upstreamPort}; keepalive 512; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_request_buffering off; proxy_read_timeout ${idle}; proxy_send_timeout 3600s;
    }
  }
}
`,
  )
  return file
}

function haproxyConfig({ dir, port, upstreamPort, idleMs }: TargetAsked): string {
  const file = join(dir, 'haproxy.cfg')
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 9960
defaults
  mode http
  option http-no-delay
  option http-keep-alive
  option abortonclose
  http-reuse always
  timeout connect 5s
  timeout client 3600s
  timeout server ${idleMs ?? 3_600_000}ms
  timeout http-keep-alive 3600s
frontend clients
  bind 127.0.0.1:${port} backlog 4096
  default_backend servers
backend servers
  server one 127.0.0.1:${upstreamPort}
`,
  )
  return file
}

function toxiproxyConfig({ dir, port, upstreamPort }: TargetAsked): string {
  const file = join(dir, 'toxiproxy.json')
  writeFileSync(
    file,
    JSON.stringify([{ name: 'bench', listen: `127.0.0.1:${port}`, upstream: `127.0.0.1:${upstreamPort}`, enabled: true }]),
  )
  return file
}

const ownVersion = (): string => (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version

export const TARGETS: readonly Target[] = [
  { name: 'direct', title: 'direct', version: () => process.version, command: () => null, cutsIdle: false },
  { name: 'sidecar', title: 'impatient-hop', version: ownVersion, command: (asked) => sidecar(asked), cutsIdle: true },
  {
    name: 'http-proxy',
    title: 'bare http-proxy, its abort defect mended',
    version: () => packageVersion('http-proxy'),
    command: ({ port, upstreamPort }) => node(actor('bare-proxy'), '--port', String(port), '--upstream', String(upstreamPort)),
    cutsIdle: false,
  },
  {
    name: 'sidecar-loaded',
    title: 'impatient-hop, 3 hops and 20 faults that do not match',
    version: ownVersion,
    command: (asked) => sidecar(asked, '--config', loadedConfig(asked.dir)),
    cutsIdle: true,
  },
  {
    name: 'sidecar-reports',
    title: 'impatient-hop, 200 work reports a second coming in',
    version: ownVersion,
    command: (asked) => sidecar(asked),
    cutsIdle: false,
    reportUrl: ({ morePorts }) => `http://127.0.0.1:${morePorts[1] ?? 0}/v1/traces`,
  },
  {
    name: 'sidecar-scraped',
    title: 'impatient-hop, scraped every second',
    version: ownVersion,
    command: (asked) => sidecar(asked),
    cutsIdle: true,
    scrapeUrl: ({ morePorts }) => `http://127.0.0.1:${morePorts[0] ?? 0}/metrics`,
    measures: ['cut'],
  },
  {
    name: 'sidecar-direct',
    title: 'impatient-hop, --upstream-engine direct',
    version: ownVersion,
    command: (asked) => sidecar(asked, '--upstream-engine', 'direct'),
    cutsIdle: true,
  },
  {
    name: 'nginx',
    title: 'nginx',
    version: () => versionOf('nginx', '-v'),
    command: (asked) => ['nginx', '-p', asked.dir, '-c', nginxConfig(asked)],
    cutsIdle: true,
  },
  {
    name: 'haproxy',
    title: 'haproxy',
    version: () => versionOf('haproxy', '-v'),
    command: (asked) => ['haproxy', '-db', '-f', haproxyConfig(asked)],
    cutsIdle: true,
  },
  {
    name: 'toxiproxy',
    title: 'toxiproxy (TCP)',
    version: () => versionOf('toxiproxy-server', '-version'),
    command: (asked) => [
      'toxiproxy-server',
      ...['-host', '127.0.0.1', '-port', String(asked.morePorts[0] ?? 0), '-config', toxiproxyConfig(asked)],
    ],
    cutsIdle: false,
  },
]
