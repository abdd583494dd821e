/** The measures of what flows: small requests, events, and one large body. */
import type { Figures, Side } from './load.ts'
import { connect, control, emit, host, numberOf, openEvents, openWindow, perUnitUs, quantile } from './load.ts'
import { argOf, nowUs, requestOf, sleep } from './wire-words.ts'

/** Small JSON calls over kept connections, at each concurrency asked for. */
export async function measureRtt(): Promise<void> {
  for (const concurrency of argOf('c', '64,1').split(',').map(Number)) emit(`rtt c=${concurrency}`, await rtt(concurrency))
}

export async function rtt(concurrency: number, to?: Side): Promise<Figures> {
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
  await lasting(numberOf('warm', 700), () => state.warm >= numberOf('warm-count', 20_000) / (concurrency === 1 ? 2 : 1))
  const close = openWindow(to)
  state.isOn = true
  await lasting(numberOf('ms', 1_500), () => state.done >= numberOf('count', 4_000))
  state.isOn = false
  const { seconds, cpuS, othersPct } = close()
  state.isOver = true
  for (const socket of sockets) socket.destroy()
  const sorted = Float64Array.from(state.tookUs).sort()
  return {
    rps: state.done / seconds,
    p50Us: quantile(sorted, 0.5),
    p99Us: quantile(sorted, 0.99),
    cpuUsPerRequest: perUnitUs(cpuS, state.done),
    errors: state.errors,
    othersPct,
  }
}

const LASTING_TIMES_MAX = 12

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
export async function measureEvents(): Promise<void> {
  const streams = numberOf('streams', 64)
  const rate = numberOf('rate', 200)
  const tookUs: number[] = []
  let isOn = false
  let warm = 0
  await control('/ctl/reset')
  for (let at = 0; at < streams; at += 1) {
    await openEvents('/sse', (stampUs) => {
      if (isOn) tookUs.push(nowUs() - stampUs)
      else warm += 1
    })
  }
  await control(`/ctl/rate?r=${rate}`)
  await lasting(numberOf('warm', 1_000), () => warm >= numberOf('warm-count', 6_000))
  const before = await control('/ctl/stats')
  const close = openWindow()
  isOn = true
  await lasting(numberOf('ms', 2_500), () => tookUs.length >= numberOf('count', 5_000))
  isOn = false
  const { seconds, cpu, cpuS, othersPct } = close()
  const after = await control('/ctl/stats')
  const sorted = Float64Array.from(tookUs).sort()
  emit('events', {
    deliveredPerS: sorted.length / seconds,
    emittedPerS: ((after['emitted'] ?? 0) - (before['emitted'] ?? 0)) / seconds,
    p50Us: quantile(sorted, 0.5),
    p99Us: quantile(sorted, 0.99),
    cpuUsPerEvent: perUnitUs(cpuS, sorted.length),
    userUsPerEvent: perUnitUs(cpu.userS, sorted.length),
    reports: (after['reports'] ?? 0) - (before['reports'] ?? 0),
    othersPct,
  })
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
