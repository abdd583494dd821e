/** What else goes on while cuts are measured: thousands of open streams, a large body, or clients that leave all at once. */
import { control, numberOf, openStream } from './load.ts'
import { openMany } from './measure-life.ts'
import { sleep } from './wire-words.ts'

/** Begins it; what comes back ends it, and tells its figures. */
export type Load = () => Promise<() => Promise<Readonly<Record<string, number | null>>>>

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

export const LOADS: Readonly<Record<string, Load>> = { open: beginOpen, bulk: beginBulk, abort: beginAbort }
