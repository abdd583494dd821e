/** The connections kept to the server: one is used again only while it is safely fresh. */
import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { readFirst } from './read-first.ts'

/** Servers close idle connections, commonly after 5 s; a request that meets the close is lost, and none is sent twice. */
const IDLE_MAX_MS = 4_000
const HINT_MARGIN_MS = 1_000
const HEADER_BYTES_MAX = 65_536

/** How long a connection whose last answer said `Keep-Alive: timeout=…` may wait and still be used. */
export function freshMs(keepAlive: string | undefined): number {
  const hint = /(?:^|[,\s])timeout=(\d+)/i.exec(keepAlive ?? '')?.[1]
  return hint === undefined ? IDLE_MAX_MS : Math.min(IDLE_MAX_MS, Number(hint) * 1_000 - HINT_MARGIN_MS)
}

type PooledSocket = Socket & { _httpMessage?: { res?: http.IncomingMessage } }

/** Node's two documented hooks on the pool, and the one place where a request passes on its way in. */
interface Hooks {
  createConnection(...args: unknown[]): Socket
  keepSocketAlive(socket: PooledSocket): boolean
  reuseSocket(socket: Socket, request: http.ClientRequest): void
  addRequest(request: http.ClientRequest & { maxHeaderSize?: number; maxHeadersCount?: number }, ...rest: unknown[]): void
}

/** Bytes on an idle connection answer nothing: what follows on it could be mistaken. */
function giveUp(this: Socket): void {
  this.destroy()
}

/** Node's agent with those replaced. No `maxSockets`: a queued request would wait unseen. */
export function createPool(protocol: string): http.Agent {
  const agent = protocol === 'https:' ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true })
  const hooks = agent as unknown as Hooks
  hooks.keepSocketAlive = (socket) => {
    const idleMs = freshMs(socket._httpMessage?.res?.headers['keep-alive'] as string | undefined)
    if (idleMs <= 0 || !socket.writable || socket.readableLength > 0) return false
    socket.unref()
    socket.setTimeout(idleMs) // the agent destroys a free connection at its `timeout`
    socket.on('data', giveUp)
    return true
  }
  const reuseSocket = hooks.reuseSocket.bind(agent)
  hooks.reuseSocket = (socket, request) => {
    reuseSocket(socket, request) // takes the idle connection's error listener off, too
    socket.off('data', giveUp)
    socket.setTimeout(0) // else an earlier hint would end a slow answer
  }
  const createConnection = hooks.createConnection.bind(agent)
  hooks.createConnection = (...args) => {
    const socket = createConnection(...args)
    readFirst(socket)
    return socket
  }
  const addRequest = hooks.addRequest.bind(agent)
  hooks.addRequest = (request, ...rest) => {
    request.maxHeaderSize = HEADER_BYTES_MAX // http-proxy hands no such option on
    request.maxHeadersCount = 0 // by size alone: beyond a count Node would drop them unseen
    addRequest(request, ...rest)
  }
  return agent
}
