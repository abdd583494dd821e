/** Many exchanges through the process: how much memory it holds after the first ten thousand, and after all of them. */
import type { Socket } from 'node:net'
import { connect, emit, host, numberOf, proxyPids } from './load.ts'
import { rssKbOf } from './process-use.ts'
import { requestOf, sleep } from './wire-words.ts'

const CONNECTIONS = 64
const EARLY = 10_000
/** What is still under way has its time, before memory is read. */
const SETTLE_MS = 1_500

export async function measureMemory(): Promise<void> {
  const wanted = numberOf('exchanges', 100_000)
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect()))
  const earlyMb = await after(sockets, EARLY)
  const lateMb = await after(sockets, wanted - EARLY)
  for (const socket of sockets) socket.destroy()
  emit('memory', { exchanges: wanted, earlyMb, lateMb, grownMb: lateMb - earlyMb })
}

/** Megabytes resident after so many more exchanges. */
async function after(sockets: readonly Socket[], count: number): Promise<number> {
  let left = count
  await Promise.all(
    sockets.map(async (socket) => {
      while (left > 0) {
        left -= 1
        await exchange(socket)
      }
    }),
  )
  await sleep(SETTLE_MS)
  return rssKbOf(proxyPids()) / 1_024
}

const request = requestOf(host, '/rtt')

/** The answer has a length, and its connection lives on. */
function exchange(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    const gone = (): void => reject(new Error('the connection ended'))
    const read = (bytes: Buffer): void => {
      text += bytes.toString('latin1')
      const headEnd = text.indexOf('\r\n\r\n')
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? Infinity)
      if (headEnd < 0 || text.length < headEnd + 4 + length) return
      socket.off('data', read)
      socket.off('close', gone)
      resolve()
    }
    socket.on('data', read)
    socket.once('close', gone)
    socket.write(request)
  })
}
