/** The way back: the server's answer becomes signals and facts, and what leaves the line goes to the client. */
import { repliesOf } from '../core/answer.ts'
import type { Break, Cause, Ending, EventMark, Head, Lost, Piece, RawHeaders, Reply } from '../core/signal.ts'
import { complete, headerOf, lost } from '../core/signal.ts'
import type { SseScanner } from '../core/sse-scanner.ts'
import { bodyHasEvents, createSseScanner } from '../core/sse-scanner.ts'
import { tellUnderstood } from './asking.ts'
import type { Collector } from './collector.ts'
import { collect, collectedBytes, createCollector } from './collector.ts'
import type { Exchange } from './exchange.ts'
import { clientLeft } from './exchange.ts'
import { endToEnd, isJson } from './headers.ts'
import { endsInReset } from './reset.ts'
import { beginTurn, endTurn } from './turn.ts'
import type { Fate } from './upstream-fate.ts'
import type { AnswerFraming, UpstreamEvents } from './upstream-port.ts'

const EVENT_BYTES_MAX = 8_388_608

export interface Answering {
  framing: AnswerFraming
  scanner: SseScanner | null
  json: Collector | null
  isHeadSent: boolean
  /** Nobody sits, and what came goes out in this turn: told in one as `passed`. */
  isPassing: boolean
  /** How it was ended in fact, where that may differ from what the line said: answered here in place of a loss, or no reset to be had. */
  endedAs: Ending | null
}

export const createAnswering = (): Answering => ({
  framing: 'sized',
  scanner: null,
  json: null,
  isHeadSent: false,
  isPassing: false,
  endedAs: null,
})

export const ANSWERING_EVENTS: UpstreamEvents<Exchange> = {
  head: (x, status, reason, rawHeaders, framing) => onHead(x, { is: 'head', status, reason, rawHeaders: endToEnd(rawHeaders) }, framing),
  interim(x, status, reason, rawHeaders) {
    const nowMs = beginTurn(x)
    x.line?.fromServer({ is: 'interim', status, reason, rawHeaders: endToEnd(rawHeaders) }, nowMs)
    endTurn(x)
  },
  bytes: onBytes,
  // What is told of its events is read after the poll, when other bytes are where these were.
  lent: (x, chunk) => onBytes(x, x.line?.isEmpty() === true ? Buffer.from(chunk) : exactCopy(chunk)),
  end: onEnd,
  lost: onLost,
  drained(x) {
    beginTurn(x)
    x.pressed.server = false
    endTurn(x)
  },
}

/** Seats may hold it: it takes no more than its size, where a slice of Node's pool would keep the whole pool. */
const exactCopy = (chunk: Uint8Array): Uint8Array => Uint8Array.prototype.slice.call(chunk)

/** A client that closed its side is read no more, so the reset that a write provoked shows only when asked for: before the next. */
function noticeReset(x: Exchange): void {
  const { socket } = x.req
  if (socket.readableEnded && !x.isClosed && endsInReset(socket)) clientLeft(x, 'rst', false)
}

function onHead(x: Exchange, head: Head, framing: AnswerFraming): void {
  noticeReset(x)
  const nowMs = beginTurn(x)
  const { answering } = x
  x.ports.reached(true)
  const why = whyNotPassed(head)
  if (why !== null) {
    x.leg?.verbs.lose(x.leg, 'fin')
    return loseServer(x, 'fin', { kind: 'server_close', seat: null, detail: `the server's answer is not valid HTTP/1.1: ${why}` })
  }
  tellUnderstood(x)
  answering.framing = framing
  if (bodyHasEvents(head.rawHeaders)) answering.scanner = createSseScanner({ eventBytesMax: EVENT_BYTES_MAX })
  else if (bodyIsJson(head.rawHeaders)) answering.json = createCollector()
  x.tell({ kind: 'head', atMs: nowMs, at: 'server', status: head.status, rawHeaders: head.rawHeaders, origin: 'upstream' })
  x.line?.fromServer(head, nowMs)
  endTurn(x)
}

/** What Node's parser takes but no answer of ours can say. */
function whyNotPassed({ status, reason }: Head): string | null {
  if (status < 200 && status !== 101) return `status ${status} is none of an answer`
  return reason !== 'OK' && /[^\t\x20-\x7e\x80-\xff]/.test(reason) ? 'a control character in its reason phrase' : null
}

function bodyIsJson(rawHeaders: RawHeaders): boolean {
  return isJson(headerOf(rawHeaders, 'content-type')) && headerOf(rawHeaders, 'content-encoding') === null
}

function onBytes(x: Exchange, chunk: Uint8Array): void {
  noticeReset(x)
  const nowMs = beginTurn(x)
  const { line } = x
  if (line === null) return
  const { answering } = x
  const { scanner, json } = answering
  answering.isPassing = line.isEmpty() && !x.isClosed
  x.tell({ kind: 'moved', atMs: nowMs, flow: answering.isPassing ? 'passed' : 'seen', bytes: chunk.length })
  if (json !== null) collect(json, chunk)
  if (scanner === null) line.fromServer({ is: 'piece', bytes: chunk, mark: null }, nowMs)
  else if (line.isEmpty()) passWhole(x, scanner, chunk, nowMs)
  else scanner.feed(chunk, (piece) => takePiece(x, piece))
  answering.isPassing = false
  endTurn(x)
}

function takePiece(x: Exchange, piece: Piece): void {
  if (piece.mark !== null) x.tell({ kind: 'event', atMs: x.turnMs, at: 'server', mark: piece.mark })
  x.line?.fromServer(piece, x.turnMs)
}

/** Nobody sits here: the chunk goes out in one write, as it came, and its events are only told. */
function passWhole(x: Exchange, scanner: SseScanner, chunk: Uint8Array, nowMs: number): void {
  let marks: EventMark[] | null = null
  scanner.feed(chunk, ({ mark }) => {
    if (mark === null) return
    x.tell({ kind: 'event', atMs: nowMs, at: 'server', mark })
    if (marks === null) marks = [mark]
    else marks.push(mark)
  })
  x.line?.fromServer({ is: 'piece', bytes: chunk, mark: null }, nowMs)
  if (marks === null || x.isClosed) return
  for (const mark of marks as EventMark[]) x.tell({ kind: 'event', atMs: nowMs, at: 'client', mark })
}

function onEnd(x: Exchange, rawTrailers: RawHeaders): void {
  const nowMs = beginTurn(x)
  x.answering.scanner?.finish((piece) => takePiece(x, piece))
  if (x.answering.json !== null) x.tell({ kind: 'json', atMs: nowMs, bytes: collectedBytes(x.answering.json) })
  x.isServerOver = true
  x.tell({ kind: 'server_over', atMs: nowMs, how: 'clean' })
  x.line?.fromServer({ is: 'end', rawTrailers, cause: complete }, nowMs)
  endTurn(x)
}

function onLost(x: Exchange, { ending, kind, detail, isStale }: Fate): void {
  if (isStale === true) x.tell({ kind: 'notice', atMs: beginTurn(x), what: 'stale-socket' })
  loseServer(x, ending, { kind, seat: null, detail })
}

/** The server's connection is gone, or never came to be. */
export function loseServer(x: Exchange, ending: Break, cause: Cause): void {
  const nowMs = beginTurn(x)
  tellUnderstood(x)
  if (cause.kind === 'unreachable') x.ports.reached(false)
  x.isServerOver = true
  x.tell({ kind: 'server_over', atMs: nowMs, how: ending })
  x.line?.fromServer(lost(ending, cause), nowMs)
  endTurn(x)
}

/** The client's end of the line. */
export function toClient(x: Exchange, signal: Reply): void {
  switch (signal.is) {
    case 'head':
      return sendHead(x, signal)
    case 'interim':
      return x.downstream.verbs.interim(x.downstream, signal)
    case 'piece':
      return sendPiece(x, signal)
    case 'end':
      return x.downstream.verbs.end(x.downstream, signal.rawTrailers)
    default:
      return sendLost(x, signal)
  }
}

function sendHead(x: Exchange, head: Head): void {
  x.answering.isHeadSent = true
  x.downstream.verbs.head(x.downstream, head, x.answering.framing, !x.ports.isDraining())
  x.tell({
    kind: 'head',
    atMs: x.turnMs,
    at: 'client',
    status: head.status,
    rawHeaders: head.rawHeaders,
    origin: head.origin ?? 'upstream',
  })
}

function sendPiece(x: Exchange, { bytes, mark }: Piece): void {
  if (bytes.length > 0) {
    if (!x.downstream.verbs.write(x.downstream, bytes) && isBlocked(x)) x.pressed.client = true
    if (!x.answering.isPassing) x.tell({ kind: 'moved', atMs: x.turnMs, flow: 'sent', bytes: bytes.length })
  }
  if (mark !== null) x.tell({ kind: 'event', atMs: x.turnMs, at: 'client', mark })
}

/** Where nobody sits, so much may wait for the client before the server is held: held at every piece, a large body costs half as much again. */
const BACKLOG_BYTES_MAX = 524_288

const isBlocked = ({ line, downstream }: Exchange): boolean =>
  line?.isEmpty() !== true || downstream.verbs.backlogBytes(downstream) > BACKLOG_BYTES_MAX

/** Before a head, a loss of the server's is a 502 that says why; a cut that asked for a bare close is one. */
function sendLost(x: Exchange, signal: Lost): void {
  const isClose = x.answering.isHeadSent || signal.isBare === true || signal.isSilent === true
  const status = isClose ? null : statusOf(signal.cause)
  if (status !== null) {
    x.answering.endedAs = 'clean'
    const body = `impatient-hop: ${signal.cause.detail ?? signal.cause.kind} (upstream ${x.ports.upstreamName})\n`
    const answer = { status, reason: '', rawHeaders: ['Content-Type', 'text/plain; charset=utf-8'], body }
    for (const reply of repliesOf(answer, signal.cause)) toClient(x, reply)
    return
  }
  if (signal.isCleanImpossible === true) x.tell({ kind: 'notice', atMs: x.turnMs, what: 'clean-became-fin' })
  // To a client of HTTP/1.0 a chunked answer ends by FIN: that of a server that died must not look so.
  const isEndInDisguise = signal.cause.kind === 'server_close' && x.downstream.verbs.endsByClosing(x.downstream)
  x.answering.endedAs = x.downstream.verbs.cut(x.downstream, isEndInDisguise ? 'rst' : signal.ending, signal.isSilent === true)
}

function statusOf({ kind }: Cause): number | null {
  if (kind === 'server_close' || kind === 'server_reset' || kind === 'unreachable') return 502
  return kind === 'shutdown' || kind === 'limit' ? 503 : null
}
