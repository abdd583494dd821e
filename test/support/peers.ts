/** Tests against programs of others (nginx, Prometheus, Chromium …): where one is missing the test skips and says why; where CI=true it fails. */
import { existsSync } from 'node:fs'
import { test } from 'vitest'

export type PeerName = 'nginx' | 'haproxy' | 'apache2' | 'caddy' | 'prometheus' | 'promtool' | 'chromium' | 'varnishd'

const BINARIES: Readonly<Record<PeerName, string>> = {
  nginx: '/usr/sbin/nginx',
  haproxy: '/usr/sbin/haproxy',
  apache2: '/usr/sbin/apache2',
  caddy: '/usr/bin/caddy',
  prometheus: '/usr/bin/prometheus',
  promtool: '/usr/bin/promtool',
  chromium: '/usr/bin/chromium',
  varnishd: '/usr/sbin/varnishd',
}

/** The program's path, or null where it is not installed. */
export function peerBinary(peer: PeerName): string | null {
  return existsSync(BINARIES[peer]) ? BINARIES[peer] : null
}

/** A test that needs `peer`; `run` gets its path. */
export function peerTest(peer: PeerName, title: string, run: (binary: string) => Promise<void> | void, timeoutMs = 60_000): void {
  test(title, { timeout: timeoutMs }, async ({ skip }) => {
    const binary = peerBinary(peer)
    if (binary !== null) return await run(binary)
    const why = `${peer} is not installed (${BINARIES[peer]}): on Debian as root, npm test installs it`
    if (process.env['CI'] === 'true') throw new Error(why)
    process.stdout.write(`skipped: ${title}: ${why}\n`)
    skip(why)
  })
}
