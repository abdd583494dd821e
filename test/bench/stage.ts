/** Starts the processes of one measurement, pinned to their cores, and ends exactly those. */
import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Target } from './targets.ts'
import { CLIENT, UPSTREAM } from './targets.ts'

const PROXY_CORE = 1
const OTHERS_CORE = 0
const UP_WAIT_MS = 15_000
const END_WAIT_MS = 3_000

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const canPin: boolean = (() => {
  try {
    execFileSync('taskset', ['-c', String(PROXY_CORE), 'true'], { stdio: 'ignore' })
    return availableParallelism() > 1
  } catch {
    return false
  }
})()

export interface MeasureAsked {
  readonly target: Target
  readonly measure: string
  readonly clientArgs: readonly string[]
  readonly idleMs: number | null
  readonly sidecarDir: string
  readonly limitMs: number
  /** Given to the sidecar's node, e.g. `--cpu-prof`. */
  readonly nodeArgs?: readonly string[]
}

export interface FigureSet {
  readonly measure: string
  readonly figures: Readonly<Record<string, number | null>>
}

const live = new Set<ChildProcess>()

/** Ends what is running; for a run that is broken off. */
export function endAll(): void {
  for (const child of live) child.kill('SIGKILL')
}

/** One measure of one target, each with fresh processes. Rejects where something does not come up or takes too long. */
export async function stage(asked: MeasureAsked): Promise<readonly FigureSet[]> {
  const dir = mkdtempSync(join(tmpdir(), 'impatient-bench-'))
  for (const name of ['logs', 'client_body', 'proxy']) mkdirSync(join(dir, name), { recursive: true })
  const ports = await freePorts(4)
  const [upstreamPort = 0, port = 0, ...morePorts] = ports
  const { target } = asked
  const targetAsked = { port, upstreamPort, morePorts, dir, idleMs: asked.idleMs, sidecarDir: asked.sidecarDir }
  const also = [
    ...(target.reportUrl === undefined ? [] : ['--report', target.reportUrl(targetAsked)]),
    ...(target.scrapeUrl === undefined ? [] : ['--scrape', target.scrapeUrl(targetAsked)]),
  ]
  const upstream = start([process.execPath, UPSTREAM, '--port', String(upstreamPort), ...also], OTHERS_CORE, dir)
  const command = withNodeArgs(target.command(targetAsked), asked.nodeArgs ?? [])
  const proxy = command === null ? null : start(command, PROXY_CORE, dir)
  try {
    await isUp(upstreamPort, upstream)
    if (proxy !== null) await isUp(port, proxy)
    await sleep(150)
    return await runClient(asked, [
      ...['--measure', asked.measure, '--port', String(proxy === null ? upstreamPort : port), '--upstream', String(upstreamPort)],
      ...['--pid', String(proxy?.pid ?? 0), '--ours', String(upstream.pid ?? 0)],
      ...asked.clientArgs,
    ])
  } finally {
    await Promise.all([upstream, ...(proxy === null ? [] : [proxy])].map(endOne))
    rmSync(dir, { recursive: true, force: true })
  }
}

function withNodeArgs(command: readonly string[] | null, nodeArgs: readonly string[]): readonly string[] | null {
  if (command === null || command[0] !== process.execPath) return command
  return [process.execPath, ...nodeArgs, ...command.slice(1)]
}

const pinned = (command: readonly string[], core: number): readonly string[] =>
  canPin ? ['taskset', '-c', String(core), ...command] : command

function start(command: readonly string[], core: number, dir: string): ChildProcess {
  const [name = '', ...args] = pinned(command, core)
  const log = openSync(join(dir, 'log'), 'a')
  const child = spawn(name, args, { stdio: ['ignore', log, log] })
  live.add(child)
  child.on('exit', () => live.delete(child))
  child.on('error', () => live.delete(child))
  return child
}

async function endOne(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<boolean>((resolve) => child.on('exit', () => resolve(true)))
  child.kill('SIGTERM')
  if (await Promise.race([ended, sleep(END_WAIT_MS).then(() => false)])) return
  child.kill('SIGKILL')
  await ended
}

async function isUp(port: number, child: ChildProcess): Promise<void> {
  for (const startMs = Date.now(); Date.now() - startMs < UP_WAIT_MS; await sleep(30)) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode}`)
    if (await accepts(port)) return
  }
  throw new Error(`${child.spawnargs.join(' ')} did not come up`)
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })

/** Ports that were free a moment ago: proxies with a file for a configuration cannot be given port 0. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => net.createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

async function runClient({ target, measure, limitMs }: MeasureAsked, args: readonly string[]): Promise<readonly FigureSet[]> {
  const [name = '', ...rest] = pinned([process.execPath, CLIENT, ...args], OTHERS_CORE)
  const child = spawn(name, rest, { stdio: ['ignore', 'pipe', 'pipe'] })
  live.add(child)
  let said = ''
  let complained = ''
  child.stdout?.on('data', (bytes) => {
    said += String(bytes)
  })
  child.stderr?.on('data', (bytes) => {
    complained += String(bytes)
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  clearTimeout(timer)
  live.delete(child)
  if (code !== 0) throw new Error(`${measure} of ${target.name} failed (${code ?? 'too slow'}) ${complained.trim()}`)
  return said
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as FigureSet)
}
