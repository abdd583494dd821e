/** WebSocket peers on both sides of the sidecar's data path: a `ws` server and clients, or raw frames where `ws` would be too polite. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { ClientOptions, ServerOptions } from 'ws'
import { WebSocket, WebSocketServer } from 'ws'
import { rawClient } from './raw-client.ts'
import type { RawConnection } from './raw-server.ts'
import type { RawSocket } from './raw-socket.ts'
import { whenTestEnds } from './raw-socket.ts'

export interface WsServer {
  readonly url: URL
  readonly port: number
  readonly http: Server
  /** The n-th session that was accepted (0: the first), as soon as it is there. */
  session(index?: number): Promise<WsSession>
  /** Handshakes and ordinary requests, in order. */
  readonly requests: readonly IncomingMessage[]
}

export interface WsSession {
  readonly ws: WebSocket
  readonly socket: Socket
  /** What came: messages, pings and pongs, in order. */
  readonly came: readonly Came[]
  /** Waits until that many came. */
  untilCame(count: number): Promise<readonly Came[]>
  /** How the session ended, by its Close frame (1005: one without a code, 1006: none). */
  readonly closed: Promise<{ readonly code: number; readonly reason: string; readonly atMs: number }>
}

export interface Came {
  readonly is: 'text' | 'binary' | 'ping' | 'pong'
  readonly bytes: Buffer
}

export interface WsServerOptions extends ServerOptions {
  /** Answers the handshake itself; true: it did. */
  readonly refuse?: (socket: Socket, req: IncomingMessage) => boolean
  readonly onSession?: (session: WsSession) => void
}

export function watchSession(ws: WebSocket, socket: Socket): WsSession {
  const came: Came[] = []
  const waiters = new Set<() => void>()
  const take = (is: Came['is'], bytes: Buffer): void => {
    came.push({ is, bytes })
    for (const look of [...waiters]) look()
  }
  ws.on('message', (bytes, isBinary) => take(isBinary ? 'binary' : 'text', bytes as Buffer))
  ws.on('ping', (bytes) => take('ping', bytes))
  ws.on('pong', (bytes) => take('pong', bytes))
  ws.on('error', () => undefined)
  const closed = new Promise<{ code: number; reason: string; atMs: number }>((resolve) => {
    ws.on('close', (code, reason) => resolve({ code, reason: reason.toString(), atMs: performance.now() }))
  })
  return {
    ws,
    socket,
    came,
    closed,
    untilCame: (count) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (came.length < count) return
          clearTimeout(timer)
          waiters.delete(look)
          resolve(came)
        }
        const timer = setTimeout(() => reject(new Error(`waited for ${count}, came: ${came.map(({ is }) => is).join(', ')}`)), 10_000)
        waiters.add(look)
        look()
      }),
  }
}

export async function wsServer({ refuse = () => false, onSession, ...options }: WsServerOptions = {}): Promise<WsServer> {
  const http = createServer((req, res) => {
    requests.push(req)
    res.end('plain')
  })
  const requests: IncomingMessage[] = []
  const sessions: WsSession[] = []
  const waiters = new Set<() => void>()
  const server = new WebSocketServer({ noServer: true, autoPong: false, maxPayload: 67_108_864, ...options })
  http.on('upgrade', (req, socket, head) => {
    requests.push(req)
    if (refuse(socket as Socket, req)) return
    server.handleUpgrade(req, socket, head, (ws) => {
      const session = watchSession(ws, socket as Socket)
      sessions.push(session)
      onSession?.(session)
      for (const look of [...waiters]) look()
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  whenTestEnds(() => {
    for (const { ws } of sessions) ws.terminate()
    http.close()
    http.closeAllConnections()
  })
  const { port } = http.address() as AddressInfo
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    port,
    http,
    requests,
    session: (index = 0) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const session = sessions[index]
          if (session === undefined) return
          clearTimeout(timer)
          waiters.delete(look)
          resolve(session)
        }
        const timer = setTimeout(() => reject(new Error(`waited for session ${index}; ${sessions.length} came`)), 10_000)
        waiters.add(look)
        look()
      }),
  }
}

/** An echo of whatever comes, pings as pongs. */
export function echo({ ws }: WsSession): void {
  ws.on('message', (bytes, isBinary) => ws.send(bytes, { binary: isBinary }))
  ws.on('ping', (bytes) => ws.pong(bytes))
}

export interface WsClientOptions extends ClientOptions {
  readonly path?: string
  readonly protocols?: readonly string[]
}

/** A client whose session is open. */
export async function wsClient(
  port: number,
  { path = '/mcp', protocols = [], ...options }: WsClientOptions = {},
): Promise<WsSession & { readonly response: IncomingMessage }> {
  const ws = new WebSocket(`ws://127.0.0.1:${port}${path}`, [...protocols], {
    autoPong: false,
    perMessageDeflate: false,
    maxPayload: 67_108_864,
    ...options,
  })
  const socket = new Promise<Socket>((resolve) => ws.once('upgrade', ({ socket: it }) => resolve(it)))
  const response = new Promise<IncomingMessage>((resolve) => ws.once('upgrade', resolve))
  const opened = once(ws, 'open')
  const session = watchSession(ws, null as never)
  whenTestEnds(() => ws.terminate())
  await opened
  return { ...session, socket: await socket, response: await response }
}

/** A client that is to be refused: what it was answered. */
export async function refusedClient(
  port: number,
  { path = '/mcp', ...options }: WsClientOptions = {},
): Promise<{ status: number; headers: IncomingMessage['headers']; rawHeaders: readonly string[]; body: string }> {
  const ws = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false, ...options })
  ws.on('error', () => undefined)
  whenTestEnds(() => ws.terminate())
  const [, res] = (await once(ws, 'unexpected-response')) as [unknown, IncomingMessage]
  const pieces: Buffer[] = []
  for await (const piece of res) pieces.push(piece as Buffer)
  return { status: res.statusCode ?? 0, headers: res.headers, rawHeaders: res.rawHeaders, body: Buffer.concat(pieces).toString() }
}

/** The head of a handshake, for raw clients. */
export const handshakeText = (more: readonly string[] = [], target = '/mcp'): string =>
  [
    `GET ${target} HTTP/1.1`,
    'Host: example.test',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...more,
    '',
    '',
  ].join('\r\n')

/** A client's frame: masked with zeros, so that its payload reads as it is. */
export function rawFrame(opcode: number, payload: string | Uint8Array = '', { fin = true } = {}): Buffer {
  const bytes = Buffer.from(payload as string)
  if (bytes.length > 125) throw new Error('short frames only')
  return Buffer.concat([Buffer.of((fin ? 0x80 : 0) | opcode, 0x80 | bytes.length, 0, 0, 0, 0), bytes])
}

/** A raw server's handler that accepts the handshake and leaves the session to the test. */
export async function acceptRaw(connection: RawConnection): Promise<void> {
  await connection.request()
  const key = /sec-websocket-key: (.*)\r\n/i.exec(connection.text())?.[1] ?? ''
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  await connection.send(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
}

/** A raw client whose session is open. */
export async function rawSession(port: number): Promise<RawSocket> {
  const client = await rawClient(port)
  client.send(handshakeText())
  await client.until('\r\n\r\n')
  return client
}
