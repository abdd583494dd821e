/** The only file that knows http-proxy: dials the server, sends a request exactly as given, and tells what comes back. */
import type http from 'node:http'
import type { Socket } from 'node:net'
import httpProxy from 'http-proxy'
import type { Clock } from '../core/clock.ts'
import type { Break, Request } from '../core/signal.ts'
import { framingOf, pairsOf, withoutTrailerHeader } from './headers.ts'
import { leaveServer } from './parting.ts'
import { createPool } from './pool.ts'
import { wasSeenReset, watchForReset } from './reset.ts'
import type { Fate } from './upstream-fate.ts'
import { fateOf, isResetError } from './upstream-fate.ts'
import type { UpstreamEvents, UpstreamLeg, UpstreamPort } from './upstream-port.ts'

const INTERIM_MAX = 16
const NO_BYTES = Buffer.alloc(0)

interface Leg {
  readonly events: UpstreamEvents
  readonly clock: Clock
  readonly request: Request
  readonly isChunked: boolean
  outgoing: Outgoing | null
  incoming: http.IncomingMessage | null
  /** What was asked before the connection was there. */
  readonly waiting: (() => void)[]
  isPaused: boolean
  isOver: boolean
  lost: Break | null
  /** What Node said of the connection, where it said something. */
  problem: Error | null
  /** What was read from a reused connection before this leg was its. */
  bytesBefore: number
  interims: number
}

type Outgoing = http.ClientRequest & {
  _storeHeader(firstLine: string, headers: readonly string[]): void
}

const ignore = (): void => undefined
const noPipe = { pipe: ignore }
const standInSocket = { destroyed: false }
const standInAnswer = { headersSent: true, finished: true }

export function createUpstream(origin: URL, clock: Clock): UpstreamPort {
  // Without an agent http-proxy would send "Connection: close" and so change the request.
  const pool = createPool(origin.protocol)
  const proxy = httpProxy.createProxyServer({
    target: origin.origin,
    agent: pool.agent,
    selfHandleResponse: true,
    ignorePath: true, // the head goes out as it came: whatever is made of the path is not used
    ssl: { setHost: false } as never, // what each request's options are made on: nor is a Host header of Node's
    buffer: noPipe as never, // bodies are written by the leg, piece by piece
  })
  // Without options of its own a request shares the proxy's: else they are copied, and the target is parsed, each time.
  const web = proxy.web.bind(proxy) as unknown as (standIn: object, answer: object, failed: (error: Error) => void) => void
  // The leg rides on the stand-in: a WeakMap, once old, would keep the legs of all until the next full collection.
  const legOn = (standIn: object): Leg | undefined => (standIn as { readonly leg?: Leg }).leg
  proxy.on('proxyReq', (outgoing, standIn) => onOutgoing(legOn(standIn), outgoing as Outgoing))
  proxy.on('proxyRes', (incoming, standIn) => onIncoming(legOn(standIn), incoming))

  return {
    dial(request, isChunked, events) {
      const leg = createLeg(request, isChunked, events, clock)
      // What http-proxy sees of a request: never the real one, which it would abort by itself.
      const standIn = { method: request.method, url: '/', headers: {}, socket: standInSocket, on: ignore, leg }
      try {
        web(standIn, standInAnswer, (error) => onFailed(leg, error))
      } catch (error) {
        // A method that Node's client will not send, for one.
        queueMicrotask(() => onFailed(leg, error as Error))
      }
      return legOf(leg)
    },
    close: pool.close,
  }
}

function createLeg(request: Request, isChunked: boolean, events: UpstreamEvents, clock: Clock): Leg {
  return {
    events,
    clock,
    request,
    isChunked,
    outgoing: null,
    incoming: null,
    waiting: [],
    isPaused: false,
    isOver: false,
    lost: null,
    problem: null,
    bytesBefore: 0,
    interims: 0,
  }
}

function legOf(leg: Leg): UpstreamLeg {
  const whenReady = (act: (outgoing: Outgoing) => void): void => {
    if (leg.outgoing !== null) act(leg.outgoing)
    else
      leg.waiting.push(() => {
        if (leg.outgoing !== null) act(leg.outgoing)
      })
  }
  return {
    write(bytes) {
      if (leg.lost !== null) return true
      if (leg.outgoing !== null) return leg.outgoing.write(bytes)
      leg.waiting.push(() => leg.outgoing?.write(bytes))
      return true
    },
    end: (rawTrailers) =>
      whenReady((outgoing) => {
        if (leg.lost !== null) return
        if (rawTrailers.length > 0 && outgoing.chunkedEncoding) outgoing.addTrailers(pairsOf(rawTrailers))
        outgoing.end()
      }),
    lose(ending) {
      if (leg.lost !== null) return
      leg.lost = ending
      if (leg.outgoing !== null) leave(leg, leg.outgoing)
    },
    pause() {
      leg.isPaused = true
      leg.incoming?.pause()
    },
    resume() {
      leg.isPaused = false
      leg.incoming?.resume()
    },
    isConnected: () => leg.outgoing?.socket?.connecting === false,
  }
}

/** The connection is there (or being made): what waited goes out. */
function onOutgoing(leg: Leg | undefined, outgoing: Outgoing): void {
  if (leg === undefined) return
  leg.outgoing = outgoing
  if (outgoing.socket !== null) {
    watchForReset(outgoing.socket)
    leg.bytesBefore = outgoing.socket.bytesRead
  }
  if (leg.lost !== null) return leave(leg, outgoing)
  sendHead(leg, outgoing) // before `end`, which would give an empty chunked body a length
  outgoing.on('drain', () => leg.events.drained())
  outgoing.on('information', ({ statusCode, statusMessage, rawHeaders }) => {
    leg.interims += 1
    if (statusCode === 100 || leg.interims > INTERIM_MAX || leg.isOver || leg.lost !== null) return
    leg.events.interim(statusCode, statusMessage, rawHeaders)
  })
  outgoing.on('upgrade', (incoming, socket, head) => {
    if (leg.events.upgraded !== undefined && leg.lost === null) {
      leg.isOver = true
      return leg.events.upgraded(incoming, socket as Socket, head)
    }
    socket.destroy() // Node would do so without a word
    tellLost(leg, { ending: 'fin', kind: 'server_close', detail: 'the server switched protocols (101) without being asked' })
  })
  for (const act of leg.waiting.splice(0)) act()
  if (!outgoing.writableEnded) outgoing.write(NO_BYTES) // the head goes ahead of a slow body
}

/**
 * Node would merge duplicates and http-proxy normalises the path: the head goes out as it came. Stored at once, not by a method put
 * on the request in place of Node's: such a one was seen to keep each request, and all that hangs on it, past its collection.
 */
function sendHead({ request: { method, target, rawHeaders }, isChunked }: Leg, outgoing: Outgoing): void {
  outgoing.useChunkedEncodingByDefault = isChunked
  outgoing._storeHeader(`${method} ${target} HTTP/1.1\r\n`, isChunked ? rawHeaders : withoutTrailerHeader(rawHeaders))
}

function onIncoming(leg: Leg | undefined, incoming: http.IncomingMessage): void {
  if (leg === undefined) return
  leg.incoming = incoming
  if (leg.lost !== null || leg.isOver) {
    incoming.resume()
    return
  }
  const { rawHeaders } = incoming
  const framing = framingOf(rawHeaders)
  leg.events.head(incoming.statusCode ?? 0, incoming.statusMessage ?? '', rawHeaders, framing === 'none' ? 'eof' : framing)
  incoming.on('data', (chunk: Uint8Array) => {
    if (leg.lost === null && !leg.isOver) leg.events.bytes(chunk)
  })
  incoming.on('end', () => {
    // A failure inside a body delimited by the connection's end looks like its end.
    if (framing === 'none' && (leg.problem !== null || breakOf(leg) === 'rst')) return
    if (leg.lost !== null || leg.isOver) return
    leg.isOver = true
    leg.events.end(incoming.rawTrailers)
  })
  // Closed without an end, or after one that was none.
  incoming.on('close', () => tellLost(leg, fateOf(breakOf(leg), 'mid-stream', leg.problem)))
  if (leg.isPaused) incoming.pause()
}

function breakOf({ problem, outgoing }: Leg): Break {
  return (problem !== null && isResetError(problem)) || wasSeenReset(outgoing?.socket ?? null) ? 'rst' : 'fin'
}

function onFailed(leg: Leg, error: Error): void {
  leg.problem ??= error
  if (leg.incoming !== null) return // its 'close' follows
  const { outgoing } = leg
  const isUntouched = outgoing?.reusedSocket === true && outgoing.socket?.bytesRead === leg.bytesBefore
  tellLost(leg, fateOf(breakOf(leg), isUntouched ? 'reused' : 'before-head', error))
}

function tellLost(leg: Leg, fate: Fate): void {
  if (leg.isOver || leg.lost !== null) return
  leg.isOver = true
  leg.events.lost(fate)
}

function leave(leg: Leg, outgoing: Outgoing): void {
  if (leg.isOver) outgoing.destroy()
  else leaveServer(outgoing, leg.incoming, leg.lost ?? 'fin', leg.clock)
}
