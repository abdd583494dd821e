/** The connections of Node's client to the server: its agent makes them, and which is used again is ours to say. */
import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { headerOf } from '../core/signal.ts'
import { createKept } from './kept.ts'
import { readFirst } from './read-first.ts'
import { SHARED_READ } from './shared-read.ts'

export { freshMs } from './kept.ts'

const HEADER_BYTES_MAX = 65_536

type PooledSocket = Socket & { _httpMessage?: { res?: http.IncomingMessage; shouldKeepAlive: boolean } | null }
type PooledRequest = http.ClientRequest & {
  maxHeaderSize?: number
  maxHeadersCount?: number
  reusedSocket: boolean
  onSocket(socket: Socket): void
}

/** Node's documented hooks on the pool, and the one place where a request passes on its way in. */
interface Hooks {
  createConnection(options: object, ...rest: unknown[]): Socket
  addRequest(request: PooledRequest, ...rest: unknown[]): void
}

export interface Pool {
  readonly agent: http.Agent
  /** Of the request that comes next: it asks for a switch of protocols, and takes the connection with it. */
  isSwitching: boolean
  close(): void
}

const ignore = (): void => undefined

/** Node's agent makes the connections; which is used again is ours to say. No `maxSockets`: a queued request would wait unseen. */
export function createPool(protocol: string): Pool {
  const agent = protocol === 'https:' ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true })
  const hooks = agent as unknown as Hooks
  const kept = createKept<PooledSocket>()
  agent.removeAllListeners('free') // Node's own would look a connection up by name, set its timer and list it anew, each time
  agent.on('free', (socket: PooledSocket) => {
    const { _httpMessage: request } = socket
    if (request?.shouldKeepAlive !== true) return void socket.destroy()
    const keepAlive = headerOf(request.res?.rawHeaders ?? [], 'keep-alive')
    socket._httpMessage = null
    kept.put(socket, keepAlive)
  })
  const createConnection = hooks.createConnection.bind(agent)
  hooks.createConnection = (options, ...rest) => {
    // Onto the agent's own options, made for this connection: a copy of them was seen to keep the socket past its collection.
    if (protocol !== 'https:' && !pool.isSwitching) Object.assign(options, { onread: SHARED_READ })
    const socket = createConnection(options, ...rest)
    readFirst(socket)
    socket.on('error', ignore) // told to the request; an idle one has none
    return socket
  }
  const addRequest = hooks.addRequest.bind(agent)
  hooks.addRequest = (request, ...rest) => {
    request.maxHeaderSize = HEADER_BYTES_MAX // http-proxy hands no such option on
    request.maxHeadersCount = 0 // by size alone: beyond a count Node would drop them unseen
    const socket = pool.isSwitching ? null : kept.take()
    if (socket === null) return addRequest(request, ...rest)
    request.reusedSocket = true
    request.onSocket(socket)
  }
  const pool: Pool = {
    agent,
    isSwitching: false,
    close() {
      kept.close()
      agent.destroy()
    },
  }
  return pool
}
