/** The only file that knows http-proxy: dials the server, sends a request exactly as given, and tells what comes back. */
import type http from 'node:http'
import type { Socket } from 'node:net'
import httpProxy from 'http-proxy'
import type { Clock } from '../core/clock.ts'
import type { Break, Request } from '../core/signal.ts'
import type { ChunkTakers } from './chunk-lane.ts'
import { framingOf, mayHaveBody } from './headers.ts'
import { leaveServer, UNREAD_WAIT_MS } from './parting.ts'
import { createPool } from './pool.ts'
import { wasSeenReset, watchForReset } from './reset.ts'
import { takeWholeChunks } from './shared-read.ts'
import type { Fate } from './upstream-fate.ts'
import { fateOf, isResetError, UNASKED_SWITCH } from './upstream-fate.ts'
import type { LegVerbs, UpstreamEvents, UpstreamLeg, UpstreamPort } from './upstream-port.ts'
import type { Waiting } from './upstream-send.ts'
import { endRequest, sendWaiting } from './upstream-send.ts'

const INTERIM_MAX = 16

interface Leg extends UpstreamLeg, Waiting {
  readonly events: UpstreamEvents<unknown>
  readonly owner: unknown
  readonly clock: Clock
  outgoing: Outgoing | null
  incoming: Incoming | null
  isPaused: boolean
  /** Its answer's body ends where the connection does. */
  isDelimitedByEnd: boolean
  isOver: boolean
  lost: Break | null
  /** What Node said of the connection, where it said something. */
  problem: Error | null
  /** What was read from a reused connection before this leg was its. */
  bytesBefore: number
  interims: number
}

type Outgoing = http.ClientRequest & { leg: Leg }
type Incoming = http.IncomingMessage & { readonly req: Outgoing }

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
  // Without options of its own a request shares the proxy's, instead of copying them each time.
  const web = proxy.web.bind(proxy) as unknown as (standIn: object, answer: object, failed: (error: Error) => void) => void
  // The leg rides on the stand-in: a WeakMap, once old, would keep the legs of all until the next full collection.
  const legOn = (standIn: object): Leg | undefined => (standIn as { readonly leg?: Leg }).leg
  proxy.on('proxyReq', (outgoing, standIn) => onOutgoing(legOn(standIn), outgoing as Outgoing))
  proxy.on('proxyRes', (incoming, standIn) => onIncoming(legOn(standIn), incoming as Incoming))

  return {
    dial(request, isChunked, events, owner) {
      const leg = createLeg(request, isChunked, events, owner, clock)
      // What http-proxy sees of a request: never the real one, which it would abort by itself.
      const standIn = { method: request.method, url: '/', headers: {}, socket: standInSocket, on: ignore, leg }
      pool.isSwitching = events.upgraded !== undefined
      try {
        web(standIn, standInAnswer, (error) => onFailed(leg, error))
      } catch (error) {
        // A method that Node's client will not send, for one.
        queueMicrotask(() => onFailed(leg, error as Error))
      }
      return leg
    },
    close: pool.close,
  }
}

function createLeg(request: Request, isChunked: boolean, events: UpstreamEvents<unknown>, owner: unknown, clock: Clock): Leg {
  return {
    verbs,
    events,
    owner,
    clock,
    request,
    isChunked,
    outgoing: null,
    incoming: null,
    waitingBytes: [],
    waitingEnd: null,
    isPaused: false,
    isDelimitedByEnd: false,
    isOver: false,
    lost: null,
    problem: null,
    bytesBefore: 0,
    interims: 0,
  }
}

const verbs: LegVerbs = {
  write(leg: Leg, bytes) {
    if (leg.lost !== null) return true
    if (leg.outgoing !== null) return leg.outgoing.write(bytes)
    leg.waitingBytes.push(bytes)
    return true
  },
  end(leg: Leg, rawTrailers) {
    if (leg.outgoing === null) leg.waitingEnd = rawTrailers
    else if (leg.lost === null) endRequest(leg.outgoing, rawTrailers)
  },
  lose(leg: Leg, ending) {
    if (leg.lost !== null) return
    leg.lost = ending
    if (leg.outgoing !== null) leave(leg, leg.outgoing)
  },
  pause(leg: Leg) {
    leg.isPaused = true
    leg.incoming?.pause()
  },
  resume(leg: Leg) {
    leg.isPaused = false
    leg.incoming?.resume()
  },
  isConnected: ({ outgoing }: Leg) => outgoing?.socket?.connecting === false,
}

/** The connection is there (or being made): what waited goes out. */
function onOutgoing(leg: Leg | undefined, outgoing: Outgoing): void {
  if (leg === undefined) return
  leg.outgoing = outgoing
  outgoing.leg = leg
  if (outgoing.socket !== null) {
    watchForReset(outgoing.socket)
    leg.bytesBefore = outgoing.socket.bytesRead
  }
  if (leg.lost !== null) return leave(leg, outgoing)
  outgoing.on('drain', onDrain)
  outgoing.on('information', onInformation as never)
  outgoing.on('upgrade', onUpgrade as never)
  sendWaiting(leg, outgoing)
}

// Node's emitters call with themselves as `this`: one function serves all requests.

function onDrain(this: Outgoing): void {
  const { events, owner } = this.leg
  events.drained(owner)
}

function onInformation(this: Outgoing, { statusCode, statusMessage, rawHeaders }: http.InformationEvent): void {
  const { leg } = this
  leg.interims += 1
  if (statusCode === 100 || leg.interims > INTERIM_MAX || leg.isOver || leg.lost !== null) return
  leg.events.interim(leg.owner, statusCode, statusMessage, rawHeaders)
}

function onUpgrade(this: Outgoing, incoming: http.IncomingMessage, socket: Socket, head: Buffer): void {
  const { leg } = this
  if (leg.events.upgraded !== undefined && leg.lost === null) {
    leg.isOver = true
    return leg.events.upgraded(leg.owner, incoming.statusMessage ?? '', incoming.rawHeaders, socket, head)
  }
  socket.destroy() // Node would do so without a word
  tellLost(leg, UNASKED_SWITCH)
}

function onIncoming(leg: Leg | undefined, incoming: Incoming): void {
  if (leg === undefined) return
  leg.incoming = incoming
  if (leg.lost !== null || leg.isOver) {
    incoming.resume()
    return
  }
  const { rawHeaders } = incoming
  const framing = framingOf(rawHeaders)
  leg.isDelimitedByEnd = framing === 'none'
  leg.events.head(leg.owner, incoming.statusCode ?? 0, incoming.statusMessage ?? '', rawHeaders, framing === 'none' ? 'eof' : framing)
  incoming.on('data', onData)
  incoming.on('end', onEnd)
  incoming.on('close', onClose) // without an end, or after one that was none
  if (leg.isPaused) incoming.pause()
  if (framing === 'chunked' && leg.interims === 0 && mayHaveBody(leg.request.method, incoming.statusCode ?? 0)) {
    takeWholeChunks(incoming.socket, leg.bytesBefore, CHUNKS, leg)
  }
}

/** What the parser would tell as `data`, told while nothing of it waits. */
const CHUNKS: ChunkTakers<Leg> = {
  mayTake: ({ incoming, isOver, isPaused, lost }) =>
    lost === null && !isOver && !isPaused && incoming?.readableFlowing === true && incoming.readableLength === 0,
  take: ({ events, owner }, data) => events.lent(owner, data),
}

function onData(this: Incoming, chunk: Uint8Array): void {
  const { leg } = this.req
  if (leg.lost === null && !leg.isOver) leg.events.bytes(leg.owner, chunk)
}

function onEnd(this: Incoming): void {
  const { leg } = this.req
  // A failure inside a body delimited by the connection's end looks like its end.
  if (leg.isDelimitedByEnd && (leg.problem !== null || breakOf(leg) === 'rst')) return
  if (leg.lost !== null || leg.isOver) return
  leg.isOver = true
  if (!this.req.writableFinished) giveUpLater(this.req, leg.clock)
  leg.events.end(leg.owner, this.rawTrailers)
}

function giveUpLater(outgoing: Outgoing, clock: Clock): void {
  const timer = clock.after(UNREAD_WAIT_MS, () => outgoing.destroy())
  outgoing.once('close', timer.cancel)
}

function onClose(this: Incoming): void {
  const { leg } = this.req
  // What was read while it was paused goes first: Node's own end would wait for it, a break does not.
  const held = leg.isOver || leg.lost !== null ? null : (this.read() as Buffer | null)
  if (held !== null) leg.events.bytes(leg.owner, held)
  if (!leg.isOver && leg.lost === null) tellLost(leg, fateOf(breakOf(leg), 'mid-stream', leg.problem))
  else leg.clock.catchUp(leg.clock.nowMs()) // hundreds that were left may close in one poll
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
  leg.events.lost(leg.owner, fate)
}

function leave(leg: Leg, outgoing: Outgoing): void {
  if (leg.isOver) outgoing.destroy()
  else leaveServer(outgoing, leg.incoming, leg.lost ?? 'fin', leg.clock)
}
