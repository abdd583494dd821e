/** What every measure needs: where the target and the server are, connections, streams, the server's controls, and the meters. */
import type { Socket } from 'node:net'
import net from 'node:net'
import type { CpuUse } from './process-use.ts'
import { cpuOf, familyOf, machineBusyS } from './process-use.ts'
import { turned } from './turns.ts'
import { argOf, createBodyReader, createStampReader, nowUs, requestOf } from './wire-words.ts'

const serverPort = Number(argOf('upstream', '0'))
/** A proxy that is measured, or the server itself. */
export interface Side {
  readonly name: string
  readonly port: number
  /** 0: there is no proxy. */
  readonly pid: number
}
const sideOf = (text: string): Side => {
  const [name = '', port = '0', pid = '0'] = text.split(':')
  return { name, port: Number(port), pid: Number(pid) }
}
/** `--sides name:port:pid,…`: all that stand. */
export const sides: readonly [Side, ...Side[]] = [
  sideOf(argOf('sides', '').split(',')[0] ?? ''),
  ...argOf('sides', '').split(',').slice(1).map(sideOf),
]
const [only] = sides
const ownPids = argOf('ours', '').split(',').filter(Boolean).map(Number)
export const host = `127.0.0.1:${only.port}`

/** What it uses is not what others use of the machine. */
export const countAsOurs = (pid: number): void => void ownPids.push(pid)

export const numberOf = (name: string, fallback: number): number => Number(argOf(name, String(fallback)))

const families = new Map<number, readonly number[]>()

/** The proxy's processes; none for a direct connection. Looked up once: the search takes milliseconds, which a window must not begin with. */
export function proxyPids({ pid } = only): readonly number[] {
  const known = families.get(pid)
  if (known !== undefined) return known
  const family = pid === 0 ? [] : familyOf(pid)
  families.set(pid, family)
  return family
}

export const connect = (localAddress?: string, to = only): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = net.connect({ port: to.port, host: '127.0.0.1', noDelay: true, ...(localAddress === undefined ? {} : { localAddress }) })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => undefined)
      resolve(socket)
    })
  })

export interface Stream {
  readonly socket: Socket
  /** The body ended well-formed. */
  isWhole: boolean
}

/** Sends the request and reads its answer; `onPiece` gets the payload. */
export async function openStream(path: string, onPiece: (bytes: Buffer) => void, localAddress?: string, to = only): Promise<Stream> {
  const socket = await connect(localAddress, to)
  const stream: Stream = { socket, isWhole: false }
  const reader = createBodyReader(onPiece, () => {
    stream.isWhole = true
    socket.emit('whole')
  })
  socket.on('data', reader.feed)
  socket.write(requestOf(host, path))
  return stream
}

export const openEvents = (path: string, onStamp: (stampUs: number) => void, to = only): Promise<Stream> =>
  openStream(path, createStampReader(onStamp), undefined, to)

/** Asks the server itself, past any proxy. */
export function control(path: string): Promise<Record<string, number>> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(serverPort, '127.0.0.1')
    let text = ''
    socket.on('error', reject)
    socket.on('data', (bytes) => {
      text += String(bytes)
      const headEnd = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? Infinity)
      if (headEnd < 0 || text.length < headEnd + 4 + length) return
      socket.destroy()
      resolve(JSON.parse(text.slice(headEnd + 4)) as Record<string, number>)
    })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  })
}

export interface Window {
  readonly seconds: number
  readonly cpu: CpuUse
  readonly cpuS: number
  /** The share of the machine (all cores of two) that others used meanwhile, in percent. */
  readonly othersPct: number
}

/** Measures from now until it is called. */
export function openWindow(of = only): () => Window {
  const pids = proxyPids(of)
  const ours = [...pids, ...ownPids, process.pid]
  const startUs = nowUs()
  const before = cpuOf(pids)
  const busyBefore = machineBusyS()
  const oursBefore = totalOf(cpuOf(ours))
  return () => {
    const after = cpuOf(pids)
    const seconds = (nowUs() - startUs) / 1e6
    const cpu = { userS: after.userS - before.userS, systemS: after.systemS - before.systemS }
    const othersS = machineBusyS() - busyBefore - (totalOf(cpuOf(ours)) - oursBefore)
    return { seconds, cpu, cpuS: totalOf(cpu), othersPct: Math.max(0, Math.round((othersS / (seconds * 2)) * 100)) }
  }
}

const totalOf = ({ userS, systemS }: CpuUse): number => userS + systemS

/** The value that `share` of the sorted values are below; null of none. */
export const quantile = (sorted: ArrayLike<number>, share: number): number | null =>
  sorted.length === 0 ? null : (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null)

export type Figures = Record<string, number | null>
export interface FigureSet {
  readonly measure: string
  readonly figures: Figures
}
/** `of`: where several are measured, or several times. */
export const emit = (measure: string, figures: Figures, of: { readonly target?: string; readonly round?: number } = {}): void =>
  console.log(JSON.stringify({ measure, figures, ...of }))

/** Only where there is a proxy whose CPU it is, and something to divide by. */
export const perUnitUs = (cpuS: number, units: number, { pid } = only): number | null =>
  pid !== 0 && units > 0 ? (cpuS * 1e6) / units : null

/** Measures one side, once; the first time only to warm it, where that is asked for. */
export type MeasureSide = (side: Side, isFirst: boolean) => Promise<readonly FigureSet[]>

/**
 * All sides in turn, `--rounds` times, seconds apart; with `--first` each is warmed once before, and those figures are dropped. One that
 * fails is told and measured no more; the others go on.
 */
export async function inTurn(measure: MeasureSide): Promise<void> {
  const failed = new Set<Side>()
  async function once(side: Side, isFirst: boolean): Promise<readonly FigureSet[]> {
    if (failed.has(side)) return []
    try {
      return await measure(side, isFirst)
    } catch (error) {
      failed.add(side)
      console.error(`${side.name}: ${error instanceof Error ? error.message : String(error)}`)
      process.exitCode = 1
      return []
    }
  }
  for (const side of sides) proxyPids(side)
  if (argOf('first', '') !== '') for (const side of sides) await once(side, true)
  for (let round = 1; round <= numberOf('rounds', 1); round += 1) {
    for (const side of turned(sides, round - 1)) {
      for (const set of await once(side, false)) emit(set.measure, set.figures, { target: side.name, round })
    }
  }
}

/** How long a window is, and how long it is warmed: the longer of a time and a number of what it counts. */
export interface Span {
  readonly warmMs: number
  readonly warmCount: number
  readonly ms: number
  readonly count: number
}

/** `--first` is how many are to be counted before the process counts as warm. */
export const spanOf = (isFirst: boolean, usual: Span): Span =>
  isFirst
    ? { warmMs: 1_000, warmCount: numberOf('first', 0), ms: 50, count: 1 }
    : {
        warmMs: numberOf('warm', usual.warmMs),
        warmCount: numberOf('warm-count', usual.warmCount),
        ms: numberOf('ms', usual.ms),
        count: numberOf('count', usual.count),
      }
