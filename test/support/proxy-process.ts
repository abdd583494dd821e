/** A real proxy as a child process: its configuration written into a folder of its own, started on a free port, stopped by its pid. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, REFUSED_PORT } from './free-port.ts'
import { whenTestEnds } from './raw-socket.ts'

export interface ProxyProgram {
  /** A file of test/support/proxy-conf; `{{dir}}`, `{{port}}`, `{{upstream}}`, `{{refused}}` and `{{own}}` are filled in. */
  readonly conf: string
  /** What stands for `{{own}}`: the lines that tell two configurations of one program apart. */
  readonly own?: string
  /** Its command line in the foreground. */
  readonly args: (conf: string, dir: string, port: number) => readonly string[]
}

export interface Proxy {
  readonly port: number
  /** Ends it and waits until it is gone. */
  stop(): Promise<void>
}

const START_MS = 20_000
const STOP_MS = 5_000

/** Waits until it accepts connections; the error shows what it said. It is stopped when the test ends. */
export async function startProxy(binary: string, { conf, own = '', args }: ProxyProgram, upstreamPort: number): Promise<Proxy> {
  const dir = mkdtempSync(join(tmpdir(), 'hop-peer-'))
  chmodSync(dir, 0o755) // apache and varnish give up root
  const port = await freePort()
  const filled: Record<string, string> = { dir, port: `${port}`, upstream: `${upstreamPort}`, refused: `${REFUSED_PORT}`, own }
  const template = readFileSync(join(import.meta.dirname, 'proxy-conf', conf), 'utf8')
  const confFile = join(dir, conf)
  writeFileSync(
    confFile,
    template.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => filled[name] ?? whole),
  )
  const home = join(dir, 'home')
  mkdirSync(home)
  const child = spawn(binary, args(confFile, dir, port), {
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
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
  async function stop(): Promise<void> {
    if (!isGone()) child.kill('SIGTERM')
    const late = setTimeout(kill, STOP_MS)
    await gone
    clearTimeout(late)
    process.off('exit', kill)
    rmSync(dir, { recursive: true, force: true })
  }
  whenTestEnds(stop)
  for (const untilMs = performance.now() + START_MS; !(await accepts(port)); ) {
    if (isGone() || performance.now() > untilMs) throw new Error(`${binary} did not start; it said:\n${said}`)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  return { port, stop }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => socket.destroy())
    socket.once('connect', () => socket.destroy())
  })
}
