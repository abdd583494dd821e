/** The probe's line to the sidecar: a bounded queue and a WebSocket that comes and goes. Nothing here throws or waits. */
import { connect, type NetConnectOpts, type Socket } from 'node:net'
import { WebSocket } from 'ws'

/** Time, lent by the caller. */
export interface ProbeTime {
  nowMs(): number
  /** Keeps no process alive. */
  later(delayMs: number, run: () => void): void
  /** Keeps the process alive until it ran or was cancelled. */
  wait(delayMs: number, run: () => void): { cancel(): void }
}

export interface ProbeCounts {
  readonly sent: number
  /** The queue was full, or the report too old when the sidecar came back. */
  readonly dropped: number
  /** What the sidecar called no report. */
  readonly refused: number
}

export interface ProbeLink {
  send(text: string): void
  /** True when all is on its way, false when that took longer. */
  flush(limitMs: number): Promise<boolean>
  counts(): ProbeCounts
  close(): void
}

const QUEUE_MAX = 1_000
const OLD_MS = 60_000
const UNSENT_BYTES_MAX = 262_144
const [RETRY_FIRST_MS, RETRY_MAX_MS] = [100, 10_000]
const HANDSHAKE_MS = 5_000

interface Queued {
  readonly text: string
  readonly atMs: number
}

/** `url`: null switches it off. */
export function createProbeLink(url: URL | null, time: ProbeTime): ProbeLink {
  const queue: Queued[] = []
  const counts = { sent: 0, dropped: 0, refused: 0 }
  let socket: WebSocket | null = null
  let state: 'away' | 'connecting' | 'open' | 'resting' | 'closed' = 'away'
  let retryMs = RETRY_FIRST_MS
  let inFlight = 0
  const idle = new Set<() => void>()

  function pump(): void {
    if (state === 'away' && queue.length > 0) open()
    while (state === 'open' && socket !== null && socket.bufferedAmount < UNSENT_BYTES_MAX) {
      const next = queue.shift()
      if (next === undefined) break
      if (time.nowMs() - next.atMs > OLD_MS) counts.dropped += 1
      else write(socket, next)
    }
    if (queue.length === 0 && inFlight === 0) for (const resolve of idle) resolve()
  }

  function write(to: WebSocket, next: Queued): void {
    inFlight += 1
    to.send(next.text, (error) => {
      inFlight -= 1
      if (error === undefined || error === null) counts.sent += 1
      else queue.unshift(next) // the line broke under it; a report that arrives twice does no harm
      pump()
    })
  }

  function open(): void {
    if (url === null) return
    state = 'connecting'
    try {
      const plain = url.protocol === 'ws:' ? { createConnection: connectUnref as typeof connect } : {}
      socket = new WebSocket(url, { handshakeTimeout: HANDSHAKE_MS, perMessageDeflate: false, maxPayload: 65_536, ...plain })
    } catch {
      rest()
      return
    }
    const mine = socket
    mine.on('upgrade', (response) => response.socket.unref())
    mine.on('open', () => {
      state = 'open'
      retryMs = RETRY_FIRST_MS
      pump()
    })
    mine.on('message', () => (counts.refused += 1))
    mine.on('error', () => mine.terminate())
    mine.on('close', () => {
      if (socket === mine) rest()
    })
  }

  function rest(): void {
    socket = null
    if (state === 'closed') return
    state = 'resting'
    time.later(retryMs, () => {
      if (state !== 'resting') return
      state = 'away'
      pump()
    })
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS)
  }

  return {
    send(text) {
      if (url === null || state === 'closed') return
      if (queue.length >= QUEUE_MAX) {
        queue.shift()
        counts.dropped += 1
      }
      queue.push({ text, atMs: time.nowMs() })
      pump()
    },
    flush: (limitMs) =>
      new Promise((resolve) => {
        if (queue.length === 0 && inFlight === 0) return resolve(true)
        const whenIdle = (): void => done(true)
        const timer = time.wait(limitMs, () => done(false))
        const done = (isSent: boolean): void => {
          idle.delete(whenIdle)
          timer.cancel()
          resolve(isSent)
        }
        idle.add(whenIdle)
      }),
    counts: () => ({ ...counts }),
    close() {
      state = 'closed'
      counts.dropped += queue.splice(0).length
      socket?.terminate()
    },
  }
}

/** A connection that keeps no process alive. `ws` puts the URL's path where `net` expects that of a Unix socket. */
function connectUnref(options: NetConnectOpts): Socket {
  return connect({ ...options, path: undefined } as NetConnectOpts).unref()
}
