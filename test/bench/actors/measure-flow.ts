/** The measures of what flows: small requests, events, and one large body. */
import type { FigureSet, Figures, Side, Span } from './load.ts'
import { connect, control, emit, host, inTurn, numberOf, openEvents, openWindow, perUnitUs, quantile, spanOf } from './load.ts'
import { argOf, nowUs, requestOf, sleep } from './wire-words.ts'

const RTT_SPAN: Span = { warmMs: 700, warmCount: 20_000, ms: 1_500, count: 4_000 }
const EVENTS_SPAN: Span = { warmMs: 1_000, warmCount: 6_000, ms: 2_500, count: 5_000 }

/** Small JSON calls over kept connections, at each concurrency asked for. */
export const measureRtt = (): Promise<void> =>
  inTurn(async (side, isFirst) => {
    const sets: FigureSet[] = []
    for (const concurrency of argOf('c', '64,1').split(',').map(Number)) {
      sets.push({ measure: `rtt c=${concurrency}`, figures: await rtt(concurrency, side, spanOf(isFirst, RTT_SPAN)) })
    }
    return sets
  })

export async function rtt(concurrency: number, to: Side, { warmMs, warmCount, ms, count } = spanOf(false, RTT_SPAN)): Promise<Figures> {
  const request = requestOf(host, '/rtt')
  const state = { isOn: false, isOver: false, warm: 0, done: 0, errors: 0, tookUs: [] as number[] }
  const sockets = await Promise.all(Array.from({ length: concurrency }, () => connect(undefined, to)))
  for (const socket of sockets) {
    let sentUs = 0
    let text = ''
    const send = (): void => {
      sentUs = nowUs()
      socket.write(request)
    }
    socket.on('close', () => {
      if (!state.isOver) state.errors += 1
    })
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1')
      if (!isWhole(text)) return
      if (!text.startsWith('HTTP/1.1 200')) state.errors += 1
      text = ''
      if (state.isOn) state.tookUs.push(nowUs() - sentUs)
      if (state.isOn) state.done += 1
      else state.warm += 1
      if (!state.isOver) send()
    })
    send()
  }
  await lasting(warmMs, () => state.warm >= warmCount / (concurrency === 1 ? 2 : 1))
  const close = openWindow(to)
  state.isOn = true
  await lasting(ms, () => state.done >= count)
  state.isOn = false
  const { seconds, cpuS, othersPct } = close()
  state.isOver = true
  for (const socket of sockets) socket.destroy()
  const sorted = Float64Array.from(state.tookUs).sort()
  return {
    rps: state.done / seconds,
    p50Us: quantile(sorted, 0.5),
    p99Us: quantile(sorted, 0.99),
    cpuUsPerRequest: perUnitUs(cpuS, state.done, to),
    errors: state.errors,
    othersPct,
  }
}

const LASTING_TIMES_MAX = 12
/** What ends with a window has its time, before another proxy is measured. */
const SETTLE_MS = 120

/** So long, and on a busy machine longer, until enough was done to say something; at most twelve times as long. */
async function lasting(ms: number, isEnough: () => boolean): Promise<void> {
  const startUs = nowUs()
  await sleep(ms)
  while (!isEnough() && nowUs() - startUs < ms * 1_000 * LASTING_TIMES_MAX) await sleep(20)
}

/** By its length, or by its last chunk. */
function isWhole(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
  return length === undefined ? text.indexOf('0\r\n\r\n', headEnd) >= 0 : text.length >= headEnd + 4 + Number(length)
}

/** Many streams of small events: from being made at the server to being read by the client. */
export const measureEvents = (): Promise<void> =>
  inTurn(async (side, isFirst) => [{ measure: 'events', figures: await events(side, spanOf(isFirst, EVENTS_SPAN)) }])

/** Streams of its own each time, for a timeline takes only so much. */
async function events(side: Side, { warmMs, warmCount, ms, count }: Span): Promise<Figures> {
  const tookUs: number[] = []
  let isOn = false
  let warm = 0
  await control('/ctl/reset')
  for (let at = 0; at < numberOf('streams', 64); at += 1) {
    await openEvents(
      '/sse',
      (stampUs) => {
        if (isOn) tookUs.push(nowUs() - stampUs)
        else warm += 1
      },
      side,
    )
  }
  await control(`/ctl/rate?r=${numberOf('rate', 200)}`)
  await lasting(warmMs, () => warm >= warmCount)
  const before = await control('/ctl/stats')
  const close = openWindow(side)
  isOn = true
  await lasting(ms, () => tookUs.length >= count)
  isOn = false
  const { seconds, cpu, cpuS, othersPct } = close()
  const after = await control('/ctl/stats')
  await control('/ctl/reset')
  await sleep(SETTLE_MS)
  const sorted = Float64Array.from(tookUs).sort()
  return {
    deliveredPerS: sorted.length / seconds,
    emittedPerS: ((after['emitted'] ?? 0) - (before['emitted'] ?? 0)) / seconds,
    p50Us: quantile(sorted, 0.5),
    p99Us: quantile(sorted, 0.99),
    cpuUsPerEvent: perUnitUs(cpuS, sorted.length, side),
    userUsPerEvent: perUnitUs(cpu.userS, sorted.length, side),
    reports: (after['reports'] ?? 0) - (before['reports'] ?? 0),
    othersPct,
  }
}

/** One large body of known length. */
export async function measureBulk(): Promise<void> {
  const mib = numberOf('mb', 200)
  for (let time = 0; time < numberOf('times', 2); time += 1) {
    const socket = await connect()
    const close = openWindow()
    let head = ''
    let got = -1
    await new Promise<void>((resolve) => {
      socket.on('close', () => resolve())
      socket.on('data', (bytes: Buffer) => {
        if (got >= 0) got += bytes.length
        else {
          head += bytes.toString('latin1')
          const headEnd = head.indexOf('\r\n\r\n')
          if (headEnd >= 0) got = head.length - headEnd - 4
        }
        if (got >= mib << 20) resolve()
      })
      socket.write(requestOf(host, `/bulk?mb=${mib}`))
    })
    const { seconds, cpuS, othersPct } = close()
    socket.destroy()
    const isWholeBody = got >= mib << 20
    emit('bulk', { mbPerS: isWholeBody ? mib / seconds : null, cpuMsPerMb: (perUnitUs(cpuS, mib) ?? 0) / 1_000, othersPct })
  }
}
