/**
 * What else goes on while cuts are measured: thousands of open streams, a large body, or clients that leave all at once. In a process of
 * its own: what it costs its client must not look like lateness of the proxy's.
 */
import { spawn } from 'node:child_process'
import { control, countAsOurs, numberOf, openStream } from './load.ts'
import { openMany } from './measure-life.ts'
import { argOf, sleep } from './wire-words.ts'

type LoadFigures = Readonly<Record<string, number | null>>
/** Begins it; what comes back ends it, and tells its figures. */
type Load = () => Promise<() => Promise<LoadFigures>>

/** As many as the limit on open files allows, each with a ping every 5 s: none of them is to be cut. */
async function beginOpen(): Promise<() => Promise<Readonly<Record<string, number>>>> {
  const pinged = await openMany(numberOf('open', 9_600))
  return async () => ({ alsoOpen: pinged.filter(({ isOpen }) => isOpen).length })
}

const BODY_MIB = 200

/** One body of 200 MB after the other. */
async function beginBulk(): Promise<() => Promise<Readonly<Record<string, number>>>> {
  let isOver = false
  let bytes = 0
  async function oneBody(): Promise<void> {
    let got = 0
    let finish = (): void => undefined
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const { socket } = await openStream(`/bulk?mb=${BODY_MIB}`, (piece) => {
      got += piece.length
      bytes += piece.length
      if (isOver || got >= BODY_MIB << 20) finish()
    })
    socket.once('close', finish)
    await finished
    socket.destroy()
  }
  const flowing = (async () => {
    while (!isOver) await oneBody()
  })()
  await sleep(200)
  return async () => {
    isOver = true
    await flowing
    return { alsoMb: Math.round(bytes / (1 << 20)) }
  }
}

/** Clients of silent streams that all leave in the same moment, while the cuts are under way. */
async function beginAbort(): Promise<() => Promise<Readonly<Record<string, number>>>> {
  const wanted = numberOf('leaving', 500)
  const idleMs = numberOf('idle-ms', 2_000)
  const done = (async () => {
    await sleep(idleMs * 0.6)
    const opened = await Promise.all(Array.from({ length: wanted }, (_, at) => openStream(`/silent?id=left${at}`, () => undefined)))
    await sleep(idleMs * 0.6) // the first cuts were made meanwhile; these streams are younger than the limit
    for (const { socket } of opened) socket.destroy()
  })()
  return async () => {
    await done
    await sleep(500)
    const seen = Object.keys(await control('/ctl/aborts')).filter((id) => id.startsWith('left'))
    return { left: wanted, leftSeen: seen.length }
  }
}

const LOADS: Readonly<Record<string, Load>> = { open: beginOpen, bulk: beginBulk, abort: beginAbort }

const BEGUN = 'begun\n'

/** The process of a load: says when it has begun, ends with its standard input, and tells its figures. */
export async function bearLoad(): Promise<void> {
  const end = await LOADS[argOf('load', '')]?.()
  process.stdout.write(BEGUN)
  await new Promise((resolve) => process.stdin.on('end', resolve).resume())
  process.stdout.write(JSON.stringify((await end?.()) ?? {}))
}

/** Starts it; what comes back ends it. Rejects where it fails. */
export async function beginLoad(load: string): Promise<() => Promise<LoadFigures>> {
  if (LOADS[load] === undefined) throw new Error(`--load: expected one of ${Object.keys(LOADS).join(', ')}`)
  const args = process.argv.slice(1).map((arg, at, all) => (all[at - 1] === '--measure' ? 'load' : arg))
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  countAsOurs(child.pid ?? 0)
  let said = ''
  let hasBegun = (): void => undefined
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve
  })
  child.stdout.on('data', (bytes: Buffer) => {
    said += String(bytes)
    if (said.startsWith(BEGUN)) hasBegun()
  })
  const ended = new Promise<void>((resolve, reject) => {
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`the load ${load} ended with ${code}`))))
  })
  await Promise.race([begun, ended])
  return async () => {
    child.stdin.end()
    await ended
    return JSON.parse(said.slice(BEGUN.length)) as LoadFigures
  }
}
