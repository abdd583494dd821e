/** Connections to the server that wait for a request, the latest last: it is the next to be used, and only while it is safely fresh. */
import type { Socket } from 'node:net'
import type { Timer } from '../core/clock.ts'
import { realClock as clock } from './real-clock.ts' // a server's patience is real, whatever the exchanges' clock says

/** Servers close idle connections, commonly after 5 s; a request that meets the close is lost, and none is sent twice. */
const IDLE_MAX_MS = 4_000
const HINT_MARGIN_MS = 1_000
const KEPT_MAX = 256

/** How long a connection whose last answer said `Keep-Alive: timeout=…` may wait and still be used. */
export function freshMs(keepAlive: string | null | undefined): number {
  if (keepAlive === null || keepAlive === undefined) return IDLE_MAX_MS
  const hint = /(?:^|[,\s])timeout=(\d+)/i.exec(keepAlive)?.[1]
  return hint === undefined ? IDLE_MAX_MS : Math.min(IDLE_MAX_MS, Number(hint) * 1_000 - HINT_MARGIN_MS)
}

interface Entry<Kept extends Socket> {
  readonly socket: Kept
  /** What was read from it when it fell idle: more by the time it is wanted answers nothing, and what follows could be mistaken. */
  readonly bytesRead: number
  readonly untilMs: number
}

export interface KeptSockets<Kept extends Socket> {
  /** One whose answer was whole and allows it; `keepAlive`: that answer's hint. */
  put(socket: Kept, keepAlive: string | null): void
  take(): Kept | null
  close(): void
}

/** One timer for all of them. */
export function createKept<Kept extends Socket>(): KeptSockets<Kept> {
  let kept: Entry<Kept>[] = []
  let timer: Timer | null = null
  let timerAtMs = Infinity

  function arm(atMs: number): void {
    if (atMs >= timerAtMs) return
    timer?.cancel()
    timerAtMs = atMs
    timer = clock.after(Math.max(0, atMs - clock.nowMs()), sweep)
  }

  function sweep(): void {
    timerAtMs = Infinity
    const nowMs = clock.nowMs()
    for (const { socket, untilMs } of kept) if (untilMs <= nowMs) socket.destroy()
    kept = kept.filter(({ socket }) => !socket.destroyed)
    if (kept.length > 0) arm(Math.min(...kept.map(({ untilMs }) => untilMs)))
  }

  return {
    put(socket, keepAlive) {
      const idleMs = freshMs(keepAlive)
      const mayBeUsed = socket.writable && socket.readableLength === 0
      if (!mayBeUsed || idleMs <= 0 || kept.length >= KEPT_MAX) return void socket.destroy()
      const untilMs = clock.nowMs() + idleMs
      kept.push({ socket, bytesRead: socket.bytesRead, untilMs })
      arm(untilMs)
    },
    take() {
      for (let one = kept.pop(); one !== undefined; one = kept.pop()) {
        const { socket, bytesRead, untilMs } = one
        if (socket.destroyed || !socket.writable) continue
        if (untilMs > clock.nowMs() && socket.bytesRead === bytesRead && socket.readableLength === 0) return socket
        socket.destroy()
      }
      return null
    },
    close: () => timer?.cancel(),
  }
}
