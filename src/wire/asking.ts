/** The way out: the client's request is read, understood in passing, and sent to the server. */
import type { IncomingMessage } from 'node:http'
import type { Inject } from '../config/snapshot.ts'
import type { Fact } from '../core/fact.ts'
import type { AskMeaning } from '../core/mcp/ask.ts'
import { readAsk } from '../core/mcp/ask.ts'
import type { Ask, Break, RawHeaders, Request } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import type { ChildContext } from '../core/trace-context.ts'
import { childTraceparent, parseTraceparent } from '../core/trace-context.ts'
import { ANSWERING_EVENTS, loseServer } from './answering.ts'
import type { Collector } from './collector.ts'
import { collect, collectedBytes, createCollector, isTooLong, letGo, mayHold } from './collector.ts'
import type { Exchange, OwnRequest } from './exchange.ts'
import { beginLine, headOf } from './exchange.ts'
import { endToEnd, framingOf, withHeader } from './headers.ts'
import type { HeldRequest, SplicedRequest } from './meta-injection.ts'
import { canSplice, isTooLongToSplice, spliceRequest } from './meta-injection.ts'
import { randomHex } from './random-hex.ts'
import { dialRetrying } from './retry.ts'
import { beginTurn, endTurn, settleTurn } from './turn.ts'

export interface Asking {
  readonly body: Collector
  /** Our span of the client's trace; null: none is given upstream, or the body must be looked at first. */
  trace: ChildContext | null
  /** It was told when the exchange opened. */
  isTraceTold: boolean
  readonly inject: Inject
  /** The request's last byte arrived. */
  isHandedOver: boolean
  isUnderstood: boolean
  /** What waits at the server's edge to be spliced. */
  held: HeldRequest | null
  /** Bytes that wait until the seats are decided; null once they are. */
  waiting: Uint8Array[] | null
}

export const createAsking = (inject: Inject): Asking => ({
  body: createCollector(),
  trace: null,
  isTraceTold: false,
  inject,
  isHandedOver: false,
  isUnderstood: false,
  held: null,
  waiting: [],
})

export function startAsking(x: Exchange): void {
  const { req, asking } = x
  const incoming = parseTraceparent(headerOf(req.rawHeaders, 'traceparent'))
  const isTraceInBody = asking.inject !== 'none' && incoming === null && mayCarryTrace(req)
  if (asking.inject !== 'none' && !isTraceInBody) asking.trace = childTraceparent(incoming, randomHex)
  asking.isTraceTold = asking.trace !== null
  x.tell(openedFact(x))
  if (!isTraceInBody && !x.planner.needsBody(headOf(req))) begin(x, null)
  req.on('data', onData)
  req.on('end', onRequestEnd)
  settleTurn(x)
}

function openedFact({ turnMs, ports, req, asking, home }: Exchange): Fact {
  const fact = {
    kind: 'opened' as const,
    atMs: turnMs,
    wallMs: ports.clock.wallMs(),
    method: req.method ?? '',
    target: req.url ?? '',
    rawHeaders: req.rawHeaders,
    traceId: asking.trace?.traceId ?? null,
    spanId: asking.trace?.spanId ?? null,
    connection: home.number,
    remote: req.socket.remoteAddress ?? '',
  }
  if (fact.remote !== '') return fact
  const { remote: _, ...known } = fact // it has left already
  return known
}

/** A trace may come in the body's `_meta` instead of a header; a body this small is there at once, so it is read first. */
const TRACE_BODY_BYTES_MAX = 65_536

function mayCarryTrace({ method, rawHeaders }: IncomingMessage): boolean {
  const bytes = Number(headerOf(rawHeaders, 'content-length') ?? Infinity)
  return bytes <= TRACE_BODY_BYTES_MAX && bytes > 0 && canSplice({ method: method ?? '', rawHeaders })
}

function begin(x: Exchange, ask: AskMeaning | null): void {
  const { req, asking } = x
  const waiting = asking.waiting ?? []
  asking.waiting = null
  const line = x.line ?? beginLine(x, ask)
  const { method, target, rawHeaders } = headOf(req)
  line.fromClient({ is: 'request', method, target, rawHeaders: endToEnd(rawHeaders) }, x.turnMs)
  for (const bytes of waiting) line.fromClient({ is: 'piece', bytes, mark: null }, x.turnMs)
}

// Node calls with the emitter as `this`.

function onData(this: OwnRequest, chunk: Uint8Array): void {
  if (this.exchange !== undefined) onBytes(this.exchange, chunk)
}

function onRequestEnd(this: OwnRequest): void {
  if (this.exchange !== undefined) onEnd(this.exchange)
}

function onBytes(x: Exchange, chunk: Uint8Array): void {
  if (x.isFinished) return
  const nowMs = beginTurn(x)
  const { asking } = x
  x.tell({ kind: 'moved', atMs: nowMs, flow: 'request', bytes: chunk.length })
  collect(asking.body, chunk)
  if (isTooLong(asking.body)) tellUnderstood(x)
  if (asking.waiting !== null) {
    asking.waiting.push(chunk)
    if (isTooLong(asking.body)) begin(x, null)
  } else x.line?.fromClient({ is: 'piece', bytes: chunk, mark: null }, nowMs)
  endTurn(x)
}

function onEnd(x: Exchange): void {
  if (x.isFinished) return
  const nowMs = beginTurn(x)
  const ask = mayReadLater(x) ? tellUnread(x) : tellUnderstood(x)
  x.tell({ kind: 'asked', atMs: nowMs })
  if (x.asking.waiting !== null) begin(x, ask)
  letGo(x.asking.body) // a stream may live for hours
  x.line?.fromClient({ is: 'asked', rawTrailers: x.req.rawTrailers }, nowMs)
  endTurn(x)
}

const isTraceKnown = ({ trace, inject }: Asking): boolean => trace !== null || inject === 'none'

/** Nobody sits who wants to know what it says; where its body was waited for in case it names a trace, it names none; and it is not long. */
function mayReadLater({ line, planner, asking }: Exchange): boolean {
  const isFree = line === null ? planner.seatsNobody : line.isEmpty()
  if (!isFree || asking.body.bytes > TRACE_BODY_BYTES_MAX) return false
  return isTraceKnown(asking) || !mayHold(asking.body, 'traceparent')
}

/** The server has it sooner: what it says is read with the books, while the server works. */
function tellUnread(x: Exchange): null {
  const { asking, req } = x
  if (asking.isUnderstood) return null
  asking.isUnderstood = true
  if (!isTraceKnown(asking)) asking.trace = childTraceparent(null, randomHex)
  const trace = asking.isTraceTold ? null : asking.trace
  x.tell({ kind: 'unread', atMs: x.turnMs, head: headOf(req), body: req.complete ? collectedBytes(asking.body) : null, trace })
  return null
}

/** What the request says is told once, as soon as its body is there or nothing more can be learnt. */
export function tellUnderstood(x: Exchange): AskMeaning | null {
  const { asking, req } = x
  if (asking.isUnderstood) return null
  asking.isUnderstood = true
  const ask = readAsk(headOf(req), req.complete ? collectedBytes(asking.body) : null)
  if (asking.isTraceTold || asking.inject === 'none') {
    x.tell({ kind: 'understood', atMs: x.turnMs, ask })
    return ask
  }
  asking.trace ??= childTraceparent(parseTraceparent(ask.requests[0]?.traceparent), randomHex)
  const { traceId, spanId } = asking.trace
  x.tell({ kind: 'understood', atMs: x.turnMs, ask, traceId, spanId })
  return ask
}

/** The server's end of the line. */
export function toServer(x: Exchange, signal: Ask): void {
  const { asking } = x
  switch (signal.is) {
    case 'request':
      if (givesMeta(asking) && canSplice(signal)) asking.held = { request: signal, pieces: [], bytes: 0 }
      else dial(x, signal)
      return
    case 'piece':
      return sendPiece(x, signal.bytes)
    case 'asked':
      asking.isHandedOver = true
      if (asking.held !== null && asking.trace !== null) sendHeld(x, spliceRequest(asking.held, asking.trace.header))
      return x.leg?.verbs.end(x.leg, signal.rawTrailers)
    case 'half':
      return // the line makes it a loss at this edge
    default:
      return loseLeg(x, signal.ending)
  }
}

function sendPiece(x: Exchange, bytes: Uint8Array): void {
  const { held } = x.asking
  if (held === null) {
    if (x.leg?.verbs.write(x.leg, bytes) === false) x.pressed.server = true
    return
  }
  held.pieces.push(bytes)
  held.bytes += bytes.length
  if (isTooLongToSplice(held)) sendHeld(x, { request: held.request, body: Buffer.concat(held.pieces) })
}

function sendHeld(x: Exchange, { request, body }: SplicedRequest): void {
  x.asking.held = null
  dial(x, request)
  sendPiece(x, body)
}

function loseLeg(x: Exchange, ending: Break): void {
  x.asking.held = null
  if (x.isServerOver) return
  x.isServerOver = true
  if (x.leg === null) return
  x.leg.verbs.lose(x.leg, ending)
  x.tell({ kind: 'told', atMs: x.turnMs, ending })
}

function dial(x: Exchange, request: Request): void {
  const sent = { request: outgoing(x, request), isChunked: framingOf(x.req.rawHeaders) === 'chunked' }
  const retry = x.seating?.retry ?? null
  const told = (): void => x.tell({ kind: 'notice', atMs: x.turnMs, what: 'request-sent-again-by-hop' })
  const leg =
    retry === null
      ? x.ports.upstream.dial(sent.request, sent.isChunked, ANSWERING_EVENTS, x)
      : dialRetrying(x.ports.upstream, retry, sent, { events: ANSWERING_EVENTS, owner: x, told })
  x.leg = leg
  const limit = x.seating?.connect ?? null
  if (limit === null) return
  x.connectTimer = x.ports.clock.after(limit.afterMs, () => {
    if (leg.verbs.isConnected(leg) || x.isServerOver) return
    leg.verbs.lose(leg, 'rst')
    loseServer(x, 'fin', limit.cause)
  })
}

const givesMeta = ({ inject, trace }: Asking): boolean => trace !== null && (inject === 'meta' || inject === 'both')
const givesHeader = ({ inject, trace }: Asking): boolean => trace !== null && (inject === 'header' || inject === 'both')

/** `Expect` is answered here, and our own span is the server's parent. */
function outgoing({ asking }: Exchange, request: Request): Request {
  const isTold = givesHeader(asking) && asking.trace !== null
  const rawHeaders: RawHeaders = isTold ? withHeader(request.rawHeaders, 'traceparent', asking.trace?.header ?? '') : request.rawHeaders
  return { is: 'request', method: request.method, target: request.target, rawHeaders: withoutExpect(rawHeaders) }
}

function withoutExpect(rawHeaders: RawHeaders): RawHeaders {
  if (headerOf(rawHeaders, 'expect') === null) return rawHeaders
  return rawHeaders.filter((_, at) => rawHeaders[at - (at % 2)]?.toLowerCase() !== 'expect')
}
