/** The client's connections: which exchange owns one, who waits behind it, and how its leaving shows. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Bag, Place } from '../core/bag.ts'
import { createBag } from '../core/bag.ts'
import type { Clock } from '../core/clock.ts'
import type { Break } from '../core/signal.ts'
import type { Release } from '../faults/control.ts'
import { createAcceptance } from './acceptance.ts'
import type { Exchange, ExchangePorts, Home } from './exchange.ts'
import { clientLeft, openExchange, releaseSeats } from './exchange.ts'
import { endsInReset } from './reset.ts'
import { press } from './turn.ts'
import { openSession } from './websocket.ts'
import { asksForWebSocket } from './websocket-handshake.ts'

/** Pipelined requests that may wait for their turn; the next is refused in its own. */
const WAITING_MAX = 16

interface Connection extends Home {
  readonly socket: Socket
  place: Place<Connection> | null
  readonly number: number
  waiting: number
  isLeft: boolean
}

/** Where a socket knows its connection. */
const KNOWN = Symbol('connection')
type KnownSocket = Socket & { [KNOWN]?: Connection }
const connectionOf = (socket: KnownSocket): Connection | undefined => socket[KNOWN]

export interface Connections {
  readonly exchanges: Bag<Exchange>
  /** Whether this request is to open a WebSocket session: it asks for one, and nothing before it is under way. */
  mayUpgrade(req: IncomingMessage): boolean
  release(releases: readonly Release[]): void
  closeIdle(): void
  destroyAll(): void
}

export function createConnections(server: Server, ports: ExchangePorts): Connections {
  const connections = createBag<Connection>()
  const exchanges = createBag<Exchange>()
  let accepted = 0

  const acceptance = createAcceptance(server, ports)

  /** An exchange opens (dials, counts, starts timers) only when its response owns the socket. */
  function takeRequest(connection: Connection, req: IncomingMessage, res: ServerResponse): void {
    res.on('error', ignore)
    if (connection.isLeft) {
      req.resume()
      return
    }
    const isRefused = connection.waiting >= WAITING_MAX
    if (res.socket !== null) return begin(connection, req, res, isRefused)
    connection.waiting += 1
    res.once('socket', () => {
      connection.waiting -= 1
      begin(connection, req, res, isRefused)
    })
  }

  function begin(connection: Connection, req: IncomingMessage, res: ServerResponse, isRefused: boolean): void {
    if (connection.isLeft) return void connection.socket.end() // it left while this one waited
    if (isRefused) return refuse(req, res)
    own(connection, openExchange(req, res, connection, ports, whenFinished))
  }

  /** The exchange is the connection's until it is finished. */
  function own(connection: Connection, x: Exchange): void {
    if (!x.isFinished) {
      connection.current = x
      x.place = exchanges.add(x)
    }
    ports.clock.catchUp(x.turnMs)
  }

  function whenFinished(x: Exchange): void {
    if (x.place !== null) exchanges.remove(x.place)
    x.place = null
    if (x.home.current === x) x.home.current = null
  }

  // Before Node's own listeners: a FIN is judged before its parser is told.
  server.on('connection', (socket: KnownSocket) => {
    accepted += 1
    const connection: Connection = { socket, place: null, number: accepted, current: null, waiting: 0, isLeft: false }
    connection.place = connections.add(connection)
    socket[KNOWN] = connection
    socket.on('end', () => onFin(connection))
    socket.on('error', (error: NodeJS.ErrnoException) => onGone(connection, isReset(error) ? 'rst' : 'fin'))
    socket.on('close', () => {
      onGone(connection, 'fin')
      if (connection.place !== null) connections.remove(connection.place)
      catchUp(ports.clock)
    })
    // A response's own `drain` tells only of what Node framed for it.
    socket.on('drain', () => {
      if (connection.current !== null) press(connection.current, 'client', false)
    })
    acceptance.take(socket, connection.number)
    catchUp(ports.clock)
  })
  const take = (req: IncomingMessage, res: ServerResponse): void => {
    const connection = connectionOf(req.socket)
    if (connection !== undefined) takeRequest(connection, req, res)
  }
  server.on('request', take)
  server.on('upgrade', (req: IncomingMessage, socket, head: Buffer) => {
    const connection = connectionOf(socket as Socket)
    if (connection === undefined || connection.isLeft) return void socket.destroy()
    own(connection, openSession({ req, socket: connection.socket, head, home: connection }, ports, whenFinished))
  })
  server.on('connect', (_, socket) => refuseTunnel(connectionOf(socket as Socket), socket as Socket))
  server.on('checkContinue', (req, res) => {
    whenOwned(res, () => res.writeContinue())
    take(req, res)
  })
  server.on('checkExpectation', take)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => onClientError(connectionOf(socket as Socket), socket as Socket, error))
  return {
    exchanges,
    mayUpgrade(req) {
      const connection = connectionOf(req.socket)
      return connection?.current === null && connection.waiting === 0 && asksForWebSocket(req)
    },
    release(releases) {
      acceptance.release(releases)
      for (const x of exchanges) releaseSeats(x, releases)
    },
    closeIdle() {
      for (const { socket, current } of connections) if (current === null) socket.end()
    },
    destroyAll() {
      for (const { socket } of connections) socket.destroy()
    },
  }
}

/** Hundreds may come in one poll, or go. */
const catchUp = (clock: Clock): void => clock.catchUp(clock.nowMs())

const isReset = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE'

const ignore = (): void => undefined

function whenOwned(res: ServerResponse, run: () => void): void {
  if (res.socket !== null) run()
  else res.once('socket', run)
}

function refuse(req: IncomingMessage, res: ServerResponse): void {
  req.resume()
  const body = `impatient-hop: more than ${WAITING_MAX} pipelined requests wait on this connection\n`
  res.writeHead(503, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  })
  res.end(body)
}

/** No forward proxy: without this Node would close the connection unanswered. */
function refuseTunnel(connection: Connection | undefined, socket: Socket): void {
  if (connection?.current !== null || connection.waiting > 0 || !socket.writable) return void socket.destroy()
  socket.end(
    refusal(
      '405 Method Not Allowed',
      'CONNECT is for forward proxies; this one stands in front of one server',
      'Allow: GET, POST, DELETE\r\n',
    ),
    'latin1',
  )
}

/** A client that closes its half before its request was whole can only have left. */
function onFin(connection: Connection): void {
  const { current } = connection
  if (endsInReset(connection.socket)) {
    onGone(connection, 'rst')
    connection.socket.destroy()
    return
  }
  connection.isLeft = true
  if (current?.downstream.verbs.takesFin(current.downstream) === true) return
  if (current !== null && !current.isClosed) {
    clientLeft(current, 'fin', current.req.complete)
    // Nobody minded its half, so it left: there is nothing more to read for it either.
    if (current.isClosed) current.downstream.verbs.cut(current.downstream, 'fin', false)
  }
  if (current === null && connection.waiting === 0) connection.socket.end()
}

function onGone(connection: Connection, ending: Break): void {
  connection.isLeft = true
  if (connection.current !== null) clientLeft(connection.current, ending, false)
}

/** What Node's parser could not read; where an exchange is under way its own ending is told by the socket. */
function onClientError(connection: Connection | undefined, socket: Socket, error: NodeJS.ErrnoException): void {
  if (isReset(error) || !socket.writable || connection?.isLeft === true) {
    socket.destroy(error)
    return
  }
  if (connection?.current === null && connection.waiting === 0) socket.end(refusalOf(error), 'latin1')
  else socket.destroy()
}

function refusalOf({ code }: NodeJS.ErrnoException): string {
  const [status, why]: readonly [string, string] =
    code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'the request head is larger than 64 KiB']
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'the request head did not arrive within 60 s']
        : ['400 Bad Request', `not a valid HTTP/1.1 request (${code ?? 'unknown'})`]
  return refusal(status, why)
}

function refusal(status: string, why: string, more = ''): string {
  const body = `impatient-hop: ${why}\n`
  return `HTTP/1.1 ${status}\r\n${more}Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
}
