/** The way out: the client's request is read, understood in passing, and sent to the server. */
import { randomBytes } from 'node:crypto'
import type { AskMeaning } from '../core/mcp/ask.ts'
import { readAsk } from '../core/mcp/ask.ts'
import type { Ask, RawHeaders, Request } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import { childTraceparent, parseTraceparent } from '../core/trace-context.ts'
import { upstreamEventsOf } from './answering.ts'
import type { Collector } from './collector.ts'
import { createCollector } from './collector.ts'
import type { Exchange } from './exchange.ts'
import { beginLine, beginTurn, endTurn } from './exchange.ts'
import { endToEnd, framingOf, withHeader } from './headers.ts'

export interface Asking {
  readonly body: Collector
  traceparent: string | null
  /** The request's last byte arrived. */
  hasAsked: boolean
  isUnderstood: boolean
  /** Bytes that wait until the seats are decided; null once they are. */
  waiting: Uint8Array[] | null
}

export const createAsking = (): Asking => ({
  body: createCollector(),
  traceparent: null,
  hasAsked: false,
  isUnderstood: false,
  waiting: [],
})

export function startAsking(x: Exchange): void {
  const { req, ports, asking } = x
  const inject = ports.inject()
  const trace = inject === 'none' ? null : childTraceparent(parseTraceparent(headerOf(req.rawHeaders, 'traceparent')), hex)
  if (inject === 'header' || inject === 'both') asking.traceparent = trace?.header ?? null
  x.tell({
    kind: 'opened',
    atMs: x.turnMs,
    wallMs: ports.clock.wallMs(),
    method: req.method ?? '',
    target: req.url ?? '',
    rawHeaders: req.rawHeaders,
    traceId: trace?.traceId ?? null,
    spanId: trace?.spanId ?? null,
    connection: x.connection,
  })
  if (!x.planner.needsBody(req.method ?? '', req.url ?? '', req.rawHeaders)) begin(x, null)
  req.on('data', (chunk: Uint8Array) => onBytes(x, chunk))
  req.on('end', () => onEnd(x))
  req.on('error', () => undefined) // leaving shows in the socket
  endTurn(x)
}

const hex = (bytes: number): string => randomBytes(bytes).toString('hex')

function begin(x: Exchange, ask: AskMeaning | null): void {
  const { req, asking } = x
  const waiting = asking.waiting ?? []
  asking.waiting = null
  const line = x.line ?? beginLine(x, ask)
  line.fromClient({ is: 'request', method: req.method ?? '', target: req.url ?? '', rawHeaders: endToEnd(req.rawHeaders) }, x.turnMs)
  for (const bytes of waiting) line.fromClient({ is: 'piece', bytes, mark: null }, x.turnMs)
}

function onBytes(x: Exchange, chunk: Uint8Array): void {
  if (x.isFinished) return
  const nowMs = beginTurn(x)
  const { asking } = x
  x.tell({ kind: 'moved', atMs: nowMs, flow: 'request', bytes: chunk.length })
  asking.body.take(chunk)
  if (asking.body.isTooLong()) tellUnderstood(x)
  if (asking.waiting !== null) {
    asking.waiting.push(chunk)
    if (asking.body.isTooLong()) begin(x, null)
  } else x.line?.fromClient({ is: 'piece', bytes: chunk, mark: null }, nowMs)
  endTurn(x)
}

function onEnd(x: Exchange): void {
  if (x.isFinished) return
  const nowMs = beginTurn(x)
  const ask = tellUnderstood(x)
  x.tell({ kind: 'asked', atMs: nowMs })
  if (x.asking.waiting !== null) begin(x, ask)
  x.asking.hasAsked = true
  x.line?.fromClient({ is: 'asked', rawTrailers: x.req.rawTrailers }, nowMs)
  endTurn(x)
}

/** What the request says is told once, as soon as its body is there or nothing more can be learnt. */
export function tellUnderstood(x: Exchange): AskMeaning | null {
  const { asking, req } = x
  if (asking.isUnderstood) return null
  asking.isUnderstood = true
  const head = { method: req.method ?? '', target: req.url ?? '', rawHeaders: req.rawHeaders }
  const ask = readAsk(head, req.complete ? asking.body.text() : null)
  x.tell({ kind: 'understood', atMs: x.turnMs, ask })
  return ask
}

/** The server's end of the line. */
export function toServer(x: Exchange, signal: Ask): void {
  switch (signal.is) {
    case 'request':
      x.leg = x.ports.upstream.dial(outgoing(x, signal), framingOf(x.req.rawHeaders) === 'chunked', upstreamEventsOf(x))
      return
    case 'piece':
      if (x.leg?.write(signal.bytes) === false) x.pressed.server = true
      return
    case 'asked':
      return x.leg?.end(signal.rawTrailers)
    case 'half':
      return // the line makes it a loss at this edge
    default:
      if (x.leg === null || x.isServerOver) return
      x.isServerOver = true
      x.leg.lose(signal.ending)
      x.tell({ kind: 'told', atMs: x.turnMs, ending: signal.ending })
  }
}

/** `Expect` is answered here, and our own span is the server's parent. */
function outgoing(x: Exchange, request: Request): Request {
  const rawHeaders: RawHeaders =
    x.asking.traceparent === null ? request.rawHeaders : withHeader(request.rawHeaders, 'traceparent', x.asking.traceparent)
  return { ...request, rawHeaders: withoutExpect(rawHeaders) }
}

function withoutExpect(rawHeaders: RawHeaders): RawHeaders {
  if (headerOf(rawHeaders, 'expect') === null) return rawHeaders
  return rawHeaders.filter((_, at) => rawHeaders[at - (at % 2)]?.toLowerCase() !== 'expect')
}
