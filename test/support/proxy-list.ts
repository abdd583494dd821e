/** The real programs that presets are held against: each with its configuration, and our preset with the same limits. */
import type { HopFile } from '../../src/hops/hop-schema.ts'
import type { PeerName } from './peers.ts'
import type { ProxyProgram } from './proxy-process.ts'

export interface ProxyPeer {
  /** The preset's name, and the column's. */
  readonly name: string
  readonly peer: PeerName
  readonly program: ProxyProgram
  /** Laid over the preset: the limits that the configuration sets. */
  readonly limits: HopFile
  /** What its clients send besides. */
  readonly headers?: readonly (readonly [string, string])[]
  /** How far the times of a limit's cut may differ; else as far as all times. */
  readonly cutWithinMs?: number
}

const SECOND = 1_000
const idle: HopFile = { idle: { after: SECOND } }

const nginx = (own: string): ProxyProgram => ({ conf: 'nginx.conf', own, args: (conf) => ['-e', 'stderr', '-c', conf] })
const haproxy = (own: string): ProxyProgram => ({ conf: 'haproxy.cfg', own, args: (conf) => ['-db', '-f', conf] })
const HTTP11 = 'proxy_http_version 1.1; proxy_set_header Connection "";'

/** nginx re-arms its timer on a read only where that comes 300 ms after the last arming; which read is the last such one is chance. */
const NGINX_REARM_MS = 300

export const proxyPeers: readonly ProxyPeer[] = [
  { name: 'nginx', peer: 'nginx', program: nginx(HTTP11), limits: idle, cutWithinMs: NGINX_REARM_MS },
  { name: 'nginx-http10', peer: 'nginx', program: nginx(''), limits: idle, cutWithinMs: NGINX_REARM_MS },
  {
    name: 'nginx-gzip',
    peer: 'nginx',
    program: nginx(`${HTTP11} gzip on; gzip_types text/event-stream application/json;`),
    limits: idle,
    headers: [['Accept-Encoding', 'gzip']],
    cutWithinMs: NGINX_REARM_MS,
  },
  { name: 'haproxy', peer: 'haproxy', program: haproxy(''), limits: idle },
  { name: 'haproxy-no-delay', peer: 'haproxy', program: haproxy('option http-no-delay'), limits: idle },
  {
    name: 'apache',
    peer: 'apache2',
    program: { conf: 'apache.conf', args: (conf) => ['-DFOREGROUND', '-f', conf] },
    limits: idle,
  },
  {
    name: 'caddy-2.6',
    peer: 'caddy',
    program: { conf: 'Caddyfile', args: (conf) => ['run', '--config', conf, '--adapter', 'caddyfile'] },
    limits: { ...idle, headers: { after: SECOND }, total: { after: 2 * SECOND } },
  },
  {
    name: 'varnish',
    peer: 'varnishd',
    program: {
      conf: 'varnish.vcl',
      args: (conf, dir, port) =>
        `-F -n ${dir}/varnish -a 127.0.0.1:${port} -T none -S none -f ${conf} -s malloc,32m -p send_timeout=2`.split(' '),
    },
    limits: { ...idle, headers: { after: SECOND }, total: { after: 2 * SECOND } },
  },
]
