/** Starts the processes of measurements, pinned to their cores, and ends exactly those. */
import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Side } from './actors/load.ts'
import type { Target, TargetAsked } from './targets.ts'
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

export interface StandAsked {
  /** Several share one server: none of them may be reported or scraped to meanwhile, for all would feel it. */
  readonly targets: readonly Target[]
  readonly idleMs: number | null
  /** The package of a target that is a sidecar. */
  readonly sidecarDirOf: (target: string) => string
  /** Given to the sidecar's node, e.g. `--cpu-prof`. */
  readonly nodeArgs?: readonly string[]
}

export interface ClientAsked {
  readonly measure: string
  readonly clientArgs: readonly string[]
  readonly limitMs: number
  /** Told each as it comes. */
  readonly onSet?: (set: FigureSet) => void
}

/** Proxies and their server, up until `end`. */
export interface Standing {
  /** One client for all of these: it measures one at a time, and the others are idle meanwhile. Rejects where it takes too long. */
  measure(targets: readonly string[], asked: ClientAsked): Promise<readonly FigureSet[]>
  end(): Promise<void>
}

export interface MeasureAsked extends ClientAsked, Omit<StandAsked, 'targets' | 'sidecarDirOf'> {
  readonly target: Target
  readonly sidecarDir: string
}

export interface FigureSet {
  readonly measure: string
  /** Where the client measured several, or several times: whose it is, and the how-many-eth time it was. */
  readonly target?: string
  readonly round?: number
  readonly figures: Readonly<Record<string, number | null>>
}

const live = new Set<ChildProcess>()

/** Ends what is running; for a run that is broken off. */
export function endAll(): void {
  for (const child of live) child.kill('SIGKILL')
}

/** One measure of one target, each with fresh processes. Rejects where something does not come up or takes too long. */
export async function stage({ target, sidecarDir, idleMs, nodeArgs = [], ...asked }: MeasureAsked): Promise<readonly FigureSet[]> {
  const standing = await standUp({ targets: [target], sidecarDirOf: () => sidecarDir, idleMs, nodeArgs })
  try {
    return await standing.measure([target.name], asked)
  } finally {
    await standing.end()
  }
}

/** Rejects where something does not come up. */
export async function standUp(asked: StandAsked): Promise<Standing> {
  const dir = mkdtempSync(join(tmpdir(), 'impatient-bench-'))
  const [upstreamPort = 0, ...ports] = await freePorts(1 + PORTS_OF_EACH * asked.targets.length)
  const started: ChildProcess[] = []
  const end = async (): Promise<void> => {
    await Promise.all(started.map(endOne))
    rmSync(dir, { recursive: true, force: true })
  }
  try {
    const proxies = new Map<string, Proxy>()
    const upstreamArgs: string[] = []
    for (const [at, target] of asked.targets.entries()) {
      const [port = 0, ...morePorts] = ports.slice(at * PORTS_OF_EACH, (at + 1) * PORTS_OF_EACH)
      const ownDir = join(dir, target.name)
      for (const name of ['logs', 'client_body', 'proxy']) mkdirSync(join(ownDir, name), { recursive: true })
      const targetAsked = { port, upstreamPort, morePorts, dir: ownDir, idleMs: asked.idleMs, sidecarDir: asked.sidecarDirOf(target.name) }
      const command = withNodeArgs(target.command(targetAsked), asked.nodeArgs ?? [])
      const child = command === null ? null : start(command, PROXY_CORE, ownDir)
      if (child !== null) started.push(child)
      proxies.set(target.name, { port: child === null ? upstreamPort : port, child })
      upstreamArgs.push(...feedsOf(target, targetAsked))
    }
    const upstream = start([process.execPath, UPSTREAM, '--port', String(upstreamPort), ...upstreamArgs], OTHERS_CORE, dir)
    started.push(upstream)
    await isUp(upstreamPort, upstream)
    for (const { port, child } of proxies.values()) if (child !== null) await isUp(port, child)
    await sleep(150)
    return {
      measure(names, client) {
        const sides = names.map((name) => ({ name, port: proxies.get(name)?.port ?? 0, pid: proxies.get(name)?.child?.pid ?? 0 }))
        return runClient(sides, { upstreamPort, upstream }, client)
      },
      end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

const PORTS_OF_EACH = 3

interface Proxy {
  readonly port: number
  readonly child: ChildProcess | null
}

const feedsOf = (target: Target, asked: TargetAsked): readonly string[] => [
  ...(target.reportUrl === undefined ? [] : ['--report', target.reportUrl(asked)]),
  ...(target.scrapeUrl === undefined ? [] : ['--scrape', target.scrapeUrl(asked)]),
]

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

async function runClient(
  sides: readonly Side[],
  { upstreamPort, upstream }: { readonly upstreamPort: number; readonly upstream: ChildProcess },
  { measure, clientArgs, limitMs, onSet }: ClientAsked,
): Promise<readonly FigureSet[]> {
  const [name = '', ...rest] = pinned(
    [
      ...[process.execPath, CLIENT, '--measure', measure, '--upstream', String(upstreamPort), '--ours', String(upstream.pid ?? 0)],
      ...['--sides', sides.map((side) => `${side.name}:${side.port}:${side.pid}`).join(','), ...clientArgs],
    ],
    OTHERS_CORE,
  )
  const child = spawn(name, rest, { stdio: ['ignore', 'pipe', 'pipe'] })
  live.add(child)
  const sets: FigureSet[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    const set = JSON.parse(line) as FigureSet
    sets.push(set)
    onSet?.(set)
  })
  let complained = ''
  child.stderr.on('data', (bytes) => {
    complained += String(bytes)
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  clearTimeout(timer)
  live.delete(child)
  const whose = sides.map((side) => side.name).join(', ')
  if (code !== 0) throw new Error(`${measure} of ${whose} failed (${code ?? 'too slow'}) ${complained.trim()}`)
  return sets
}
