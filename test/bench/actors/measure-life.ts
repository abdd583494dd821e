/** The measures of how streams live and end: many silent ones, cuts by an idle limit, and clients that leave. */
import type { FigureSet, Side } from './load.ts'
import { control, emit, inTurn, numberOf, openEvents, openStream, openWindow, proxyPids, quantile } from './load.ts'
import { beginLoad } from './loads.ts'
import { cpuOf, rssKbOf } from './process-use.ts'
import { argOf, nowUs, sleep } from './wire-words.ts'

/** Thousands of streams that only ping: what one costs in memory, and whether all are held. */
export async function measureIdle(): Promise<void> {
  const wanted = numberOf('streams', 9_900)
  const holdMs = numberOf('hold', 10_000)
  await control('/ctl/reset')
  const pids = proxyPids()
  const emptyKb = rssKbOf(pids)
  const startUs = nowUs()
  const pings = await openMany(wanted)
  const openS = (nowUs() - startUs) / 1e6
  const before = cpuOf(proxyPids())
  await sleep(holdMs)
  const after = cpuOf(proxyPids())
  const holdCpuS = after.userS + after.systemS - before.userS - before.systemS
  const alive = pings.filter(({ isOpen }) => isOpen)
  emit('idle', {
    wanted,
    held: alive.length,
    upstreamHeld: (await control('/ctl/stats'))['idle'] ?? null,
    kbPerStream: pids.length === 0 ? null : (rssKbOf(pids) - emptyKb) / wanted,
    pingsLeast: alive.reduce((least, { count }) => Math.min(least, count), Infinity),
    openS,
    cpuPct: pids.length === 0 ? null : (holdCpuS / (holdMs / 1_000)) * 100,
  })
  await control('/ctl/reset')
}

interface Pinged {
  count: number
  isOpen: boolean
}

/** A hundred at a time, from several addresses: one has too few ports. */
export async function openMany(wanted: number): Promise<Pinged[]> {
  const all: Pinged[] = []
  let next = 0
  const openNext = async (): Promise<void> => {
    while (next < wanted) {
      const at = next
      next += 1
      const pinged: Pinged = { count: 0, isOpen: false }
      all.push(pinged)
      await new Promise<void>((resolve) => {
        const onPing = (): void => {
          pinged.count += 1
          pinged.isOpen = true
          resolve()
        }
        openStream('/idle', onPing, `127.0.0.${2 + (at % 4)}`).then(
          ({ socket }) =>
            socket.on('close', () => {
              pinged.isOpen = false
              resolve()
            }),
          () => resolve(),
        )
      })
    }
  }
  await Promise.race([Promise.all(Array.from({ length: 100 }, openNext)), sleep(90_000)])
  return all
}

/**
 * How exactly an idle limit is kept: how late is told from the last byte's arrival at the client to the end it sees. Early is what ends
 * sooner than the limit after the server wrote that byte: a client that was busy when the byte came cannot make it look so.
 * With `--load` while something else goes on.
 */
export async function measureCut(): Promise<void> {
  const wanted = numberOf('streams', 200)
  const idleMs = numberOf('idle-ms', 2_000)
  const lateMs: number[] = []
  const sinceWrittenMs: number[] = []
  let uncut = 0
  await control('/ctl/reset')
  await areScraped(numberOf('scrapes-first', 0))
  const load = argOf('load', '')
  const endLoad = load === '' ? null : await beginLoad(load)
  const close = openWindow()
  await Promise.all(
    Array.from({ length: wanted }, async (_, at) => {
      await sleep(at * 10)
      let lastUs = 0
      let writtenUs = 0
      const { socket } = await openEvents('/silent', (stampUs) => {
        lastUs = nowUs()
        writtenUs = stampUs
      })
      const ended = new Promise<boolean>((resolve) => {
        for (const event of ['close', 'end', 'whole']) socket.once(event, () => resolve(true))
      })
      const isCut = await Promise.race([ended, sleep(idleMs * 3 + 1_500).then(() => false)])
      const endUs = nowUs()
      if (isCut && lastUs > 0) {
        lateMs.push((endUs - lastUs) / 1_000 - idleMs)
        sinceWrittenMs.push((endUs - writtenUs) / 1_000 - idleMs)
      } else uncut += 1
      socket.destroy()
    }),
  )
  const { othersPct } = close()
  const { scrapes = 0 } = await control('/ctl/stats')
  const also = await endLoad?.()
  const sorted = Float64Array.from(lateMs).sort()
  emit(load === '' ? 'cut' : `cut ${load}`, {
    ...also,
    scrapes: scrapes === 0 ? null : scrapes,
    wanted,
    cut: sorted.length,
    uncut,
    early: sinceWrittenMs.filter((late) => late < 0).length,
    leastMs: Math.min(...sinceWrittenMs),
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    othersPct,
  })
}

/** A process is scraped for days: its first pages, slow to make, are not what is measured. */
async function areScraped(wanted: number): Promise<void> {
  while (((await control('/ctl/stats'))['scrapes'] ?? 0) < wanted) await sleep(100)
}

/** Clients that leave: until the server's own connection closes. */
export const measureAbort = (): Promise<void> =>
  inTurn((side, isFirst) =>
    isFirst ? leavings(side, 'active', numberOf('first', 0)) : leavings(side, argOf('mode', 'silent'), numberOf('streams', 500)),
  )

let asked = 0

async function leavings(side: Side, mode: string, wanted: number): Promise<readonly FigureSet[]> {
  asked += 1 // one that is seen late is not taken for one of the next
  const own = `s${asked}-`
  await control('/ctl/reset')
  await control(`/ctl/rate?r=${mode === 'active' ? 5 : 0}`)
  const leftUs = new Map<string, number>()
  const close = openWindow(side)
  let next = -numberOf('warm-streams', 100) // these only warm the process
  const leaveNext = async (): Promise<void> => {
    while (next < wanted) {
      const id = next < 0 ? `w${-next}` : `${own}${next}`
      next += 1
      let begin = (): void => undefined
      const hasBegun = new Promise<void>((resolve) => {
        begin = resolve
      })
      const { socket } = await openEvents(`${mode === 'active' ? '/sse' : '/silent'}?id=${id}`, begin, side)
      await Promise.race([hasBegun, sleep(3_000)])
      await sleep(20 + Math.random() * 60)
      if (id.startsWith(own)) leftUs.set(id, nowUs())
      socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: 50 }, leaveNext))
  await sleep(numberOf('wait', 1_000))
  const seenUs = await control('/ctl/aborts')
  const { othersPct } = close()
  const tookMs = [...leftUs].flatMap(([id, us]) => (seenUs[id] === undefined ? [] : [(seenUs[id] - us) / 1_000]))
  const sorted = Float64Array.from(tookMs).sort()
  await control('/ctl/reset')
  const figures = { wanted, seen: sorted.length, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99), othersPct }
  return [{ measure: `abort ${mode}`, figures }]
}
