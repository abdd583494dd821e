// The real proxies, Prometheus and browser that the peer tests compare with, as Debian packages. Silent where they are
// present; installs what is missing only as root and with apt at hand; elsewhere does nothing. Never fails: a test that
// finds its peer missing says so itself, and fails where CI=true.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

const PEERS = [
  { name: 'nginx', binary: '/usr/sbin/nginx' },
  { name: 'haproxy', binary: '/usr/sbin/haproxy' },
  { name: 'apache2', binary: '/usr/sbin/apache2' },
  { name: 'caddy', binary: '/usr/bin/caddy' },
  { name: 'prometheus', binary: '/usr/bin/prometheus' },
  { name: 'chromium', binary: '/usr/bin/chromium' },
  { name: 'varnish', binary: '/usr/sbin/varnishd' },
]
const POLICY = '/usr/sbin/policy-rc.d'
const APT = '/usr/bin/apt-get'

const missing = () => PEERS.filter(({ binary }) => !existsSync(binary)).map(({ name }) => name)
const apt = (...args) =>
  spawnSync(APT, ['-q', '-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=20', ...args], {
    stdio: ['ignore', 'ignore', 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 600_000,
  }).status === 0
const install = (names) => apt('install', '-y', '--no-install-recommends', ...names)

function main() {
  const names = missing()
  if (names.length === 0 || process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync(APT)) return
  console.error(`ensure: installing test peers (apt): ${names.join(' ')}`)
  // No service may start by being installed; a policy that is already there stays as it is.
  const isOurs = !existsSync(POLICY)
  if (isOurs) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    apt('update')
    // One package this system does not have must not keep the others away.
    if (!install(names)) for (const name of names) install([name])
  } finally {
    if (isOurs) rmSync(POLICY, { force: true })
  }
  const still = missing()
  if (still.length > 0) console.error(`ensure: not installed: ${still.join(' ')} (their tests will say so)`)
}

try {
  main()
} catch (problem) {
  console.error(`ensure: test peers: ${problem.message}`)
}
