/** The connections kept to the server: one is used again only while it is safely fresh. */
import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { Timer } from '../core/clock.ts'
import { headerOf } from '../core/signal.ts'
import { readFirst } from './read-first.ts'
import { realClock as clock } from './real-clock.ts' // a server's patience is real, whatever the exchanges' clock says

/** Servers close idle connections, commonly after 5 s; a request that meets the close is lost, and none is sent twice. */
const IDLE_MAX_MS = 4_000
const HINT_MARGIN_MS = 1_000
const KEPT_MAX = 256
const HEADER_BYTES_MAX = 65_536

/** How long a connection whose last answer said `Keep-Alive: timeout=…` may wait and still be used. */
export function freshMs(keepAlive: string | null | undefined): number {
  if (keepAlive === null || keepAlive === undefined) return IDLE_MAX_MS
  const hint = /(?:^|[,\s])timeout=(\d+)/i.exec(keepAlive)?.[1]
  return hint === undefined ? IDLE_MAX_MS : Math.min(IDLE_MAX_MS, Number(hint) * 1_000 - HINT_MARGIN_MS)
}

type PooledSocket = Socket & { _httpMessage?: { res?: http.IncomingMessage; shouldKeepAlive: boolean } | null }
type PooledRequest = http.ClientRequest & {
  maxHeaderSize?: number
  maxHeadersCount?: number
  reusedSocket: boolean
  onSocket(socket: Socket): void
}

/** Node's documented hooks on the pool, and the one place where a request passes on its way in. */
interface Hooks {
  createConnection(...args: unknown[]): Socket
  addRequest(request: PooledRequest, ...rest: unknown[]): void
}

interface Kept {
  readonly socket: PooledSocket
  /** What was read from it when it fell idle: more by the time it is wanted answers nothing, and what follows could be mistaken. */
  readonly bytesRead: number
  readonly untilMs: number
}

/** Those that wait for a request, the latest last: it is the next to be used. One timer for all of them. */
function createKept() {
  let kept: Kept[] = []
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
    put(socket: PooledSocket): void {
      const { _httpMessage: request } = socket
      const idleMs = freshMs(headerOf(request?.res?.rawHeaders ?? [], 'keep-alive'))
      const mayBeUsed = request?.shouldKeepAlive === true && socket.writable && socket.readableLength === 0
      if (!mayBeUsed || idleMs <= 0 || kept.length >= KEPT_MAX) return void socket.destroy()
      socket._httpMessage = null
      const untilMs = clock.nowMs() + idleMs
      kept.push({ socket, bytesRead: socket.bytesRead, untilMs })
      arm(untilMs)
    },
    take(): Socket | null {
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

export interface Pool {
  readonly agent: http.Agent
  close(): void
}

const ignore = (): void => undefined

/** Node's agent makes the connections; which is used again is ours to say. No `maxSockets`: a queued request would wait unseen. */
export function createPool(protocol: string): Pool {
  const agent = protocol === 'https:' ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true })
  const hooks = agent as unknown as Hooks
  const kept = createKept()
  agent.removeAllListeners('free') // Node's own would look a connection up by name, set its timer and list it anew, each time
  agent.on('free', kept.put)
  const createConnection = hooks.createConnection.bind(agent)
  hooks.createConnection = (...args) => {
    const socket = createConnection(...args)
    readFirst(socket)
    socket.on('error', ignore) // told to the request; an idle one has none
    return socket
  }
  const addRequest = hooks.addRequest.bind(agent)
  hooks.addRequest = (request, ...rest) => {
    request.maxHeaderSize = HEADER_BYTES_MAX // http-proxy hands no such option on
    request.maxHeadersCount = 0 // by size alone: beyond a count Node would drop them unseen
    const socket = kept.take()
    if (socket === null) return addRequest(request, ...rest)
    request.reusedSocket = true
    request.onSocket(socket)
  }
  return {
    agent,
    close() {
      kept.close()
      agent.destroy()
    },
  }
}
