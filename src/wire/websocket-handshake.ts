/** The opening of a WebSocket session: which requests ask for one, what goes to the server, what its answer must be, and the client's. */
import { createHash, randomBytes } from 'node:crypto'
import http from 'node:http'
import type { Socket } from 'node:net'
import type { Head, RawHeaders, Request } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import { pairsOf, withHeader } from './headers.ts'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11' // RFC 6455 §1.3
const VERSION = '13'

export const newKey = (): string => randomBytes(16).toString('base64')
const acceptOf = (key: string): string =>
  createHash('sha1')
    .update(key + GUID)
    .digest('base64')

const lists = (value: string | null, word: string): boolean =>
  (value ?? '').split(',').some((option) => option.trim().toLowerCase() === word)

/** A handshake that RFC 6455 allows. Any other upgrade is an ordinary request, whose `Upgrade` ends at this hop. */
export function asksForWebSocket({ method, httpVersion, rawHeaders }: http.IncomingMessage): boolean {
  if (method !== 'GET' || httpVersion !== '1.1' || !lists(headerOf(rawHeaders, 'upgrade'), 'websocket')) return false
  const hasBody = headerOf(rawHeaders, 'transfer-encoding') !== null || Number(headerOf(rawHeaders, 'content-length') ?? 0) !== 0
  const isKey = /^[+/0-9A-Za-z]{22}==$/.test(headerOf(rawHeaders, 'sec-websocket-key') ?? '')
  return !hasBody && isKey && headerOf(rawHeaders, 'sec-websocket-version') === VERSION
}

export interface UpgradeGate {
  /** For `http.createServer`. */
  readonly IncomingMessage: typeof http.IncomingMessage
  keep(server: http.Server, mayUpgrade: (req: http.IncomingMessage) => boolean): void
}

/**
 * Which requests are upgraded: once anybody listens for upgrades, Node would serve none that asks for another as an ordinary one.
 * It counts the listeners when it has read such a head, so each head is given its own answer then. An accessor on each request
 * instead would cost every one of them many times what reading its head does.
 */
export function createUpgradeGate(): UpgradeGate {
  let latest: http.IncomingMessage | null = null
  function NotedMessage(socket: Socket): http.IncomingMessage {
    latest = new http.IncomingMessage(socket)
    return latest
  }
  return {
    IncomingMessage: NotedMessage as unknown as typeof http.IncomingMessage,
    keep(server, mayUpgrade) {
      const count = server.listenerCount.bind(server)
      server.listenerCount = (event: string | symbol) => (event === 'upgrade' && latest !== null && !mayUpgrade(latest) ? 0 : count(event))
    },
  }
}

/** As it goes to the server: all the client's headers but its key, which is ours, and its extensions: none is offered. */
export function handshakeOf(request: Request, key: string): Request {
  const kept = without(request.rawHeaders, ['sec-websocket-extensions'])
  return { ...request, rawHeaders: [...withHeader(kept, 'sec-websocket-key', key), 'Connection', 'Upgrade', 'Upgrade', 'websocket'] }
}

/** Why a 101 is no answer to our handshake; null: it is. */
export function whyNoSession(rawHeaders: RawHeaders, key: string): string | null {
  if (!lists(headerOf(rawHeaders, 'upgrade'), 'websocket')) return 'its Upgrade is not "websocket"'
  if (headerOf(rawHeaders, 'sec-websocket-accept') !== acceptOf(key)) return 'its Sec-WebSocket-Accept is not that of our key'
  return headerOf(rawHeaders, 'sec-websocket-extensions') === null ? null : 'it has an extension that nobody offered'
}

/** The client's 101: the server's own headers, and what belongs to this connection. Latin1 text. */
export function switchingHead({ reason, rawHeaders }: Head, clientsKey: string): string {
  const own = ['Upgrade', 'websocket', 'Connection', 'Upgrade', 'Sec-WebSocket-Accept', acceptOf(clientsKey)]
  const kept = without(rawHeaders, ['upgrade', 'connection', 'sec-websocket-accept', 'sec-websocket-extensions'])
  const lines = pairsOf([...own, ...kept]).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 101 ${reason === '' ? 'Switching Protocols' : reason}\r\n${lines.join('')}\r\n`
}

function without(rawHeaders: RawHeaders, names: readonly string[]): string[] {
  return pairsOf(rawHeaders).flatMap(([name, value]) => (names.includes(name.toLowerCase()) ? [] : [name, value]))
}
