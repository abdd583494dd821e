/**
 * One exchange on sockets: what arrives becomes signals for the line, what the line decides is done,
 * and all that is seen is told as facts. State and turns are here; the two directions in asking.ts and answering.ts.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Inject } from '../config/snapshot.ts'
import type { Place } from '../core/bag.ts'
import type { Clock, Timer } from '../core/clock.ts'
import type { EndsOf } from '../core/empty-line.ts'
import { createEmptyLine } from '../core/empty-line.ts'
import type { Line } from '../core/ends.ts'
import type { Tell } from '../core/fact.ts'
import { createLine } from '../core/line.ts'
import type { AskMeaning } from '../core/mcp/ask.ts'
import { shadowed } from '../core/shadowed-line.ts'
import type { Break, Cause, Ending, Request } from '../core/signal.ts'
import { clientAbort, clientReset, lost } from '../core/signal.ts'
import type { Release } from '../faults/control.ts'
import type { Answering } from './answering.ts'
import { createAnswering, toClient } from './answering.ts'
import type { Asking } from './asking.ts'
import { createAsking, startAsking, tellUnderstood, toServer } from './asking.ts'
import { collectedText } from './collector.ts'
import type { Downstream } from './downstream.ts'
import { createDownstream } from './downstream.ts'
import type { LinePlanner, Seating } from './line-planner.ts'
import { createSeatedEnds } from './seated-ends.ts'
import { beginTurn, endTurn } from './turn.ts'
import type { UpstreamLeg, UpstreamPort } from './upstream-port.ts'

export interface ExchangeLimits {
  readonly heldBytesPerExchange: number
  readonly heldBytesTotal: number
}

/** Bytes held by all exchanges. */
export interface HeldMeter {
  totalBytes: number
}

export interface ExchangePorts {
  readonly clock: Clock
  readonly upstream: UpstreamPort
  readonly upstreamName: string
  readonly openRecord: () => { readonly id: string; readonly tell: Tell }
  /** The configuration in force, asked once per exchange. */
  readonly planner: () => LinePlanner
  readonly inject: () => Inject
  readonly limits: ExchangeLimits
  readonly held: HeldMeter
  /** Whether the server could be reached, told by each attempt. */
  readonly reached: (isUp: boolean) => void
  readonly random: () => number
  readonly isDraining: () => boolean
}

export interface Exchange {
  readonly id: string
  readonly ports: ExchangePorts
  readonly req: IncomingMessage
  readonly downstream: Downstream
  /** A WebSocket session: its body, in both directions, are frames. */
  readonly isSession: boolean
  readonly tell: Tell
  /** In force when it opened; where everything was released since, what is in force now. */
  planner: LinePlanner
  /** The connection it came on. */
  readonly home: Home
  /** Among the open ones. */
  place: Place<Exchange> | null
  readonly asking: Asking
  readonly answering: Answering
  seating: Seating | null
  line: Line | null
  leg: UpstreamLeg | null
  turnMs: number
  timer: Timer | null
  /** While the server has not accepted the connection. */
  connectTimer: Timer | null
  timerAtMs: number
  heldBytes: number
  /** Backpressure noticed inside a turn, told to the line after it. */
  pressed: { client: boolean | null; server: boolean | null }
  /** What of it the line was told last: every close lets go of a client that most often was never held. */
  blocked: { client: boolean; server: boolean }
  isClosed: boolean
  isServerOver: boolean
  isFinished: boolean
  readonly whenFinished: (x: Exchange) => void
}

/** A client's connection, as its exchanges know it. */
export interface Home {
  /** The n-th accepted. */
  readonly number: number
  current: Exchange | null
}

/** So that one function can listen to all requests. */
export type OwnRequest = IncomingMessage & { exchange?: Exchange }

export function openExchange(
  req: IncomingMessage,
  res: ServerResponse,
  home: Home,
  ports: ExchangePorts,
  whenFinished: (x: Exchange) => void,
): Exchange {
  const downstream = createDownstream(req, res, ports.clock)
  const x = createExchange({ req, downstream, home, isSession: false }, ports, whenFinished)
  startAsking(x)
  return x
}

export function createExchange(
  { req, downstream, home, isSession }: Pick<Exchange, 'req' | 'downstream' | 'home' | 'isSession'>,
  ports: ExchangePorts,
  whenFinished: (x: Exchange) => void,
): Exchange {
  const { id, tell } = ports.openRecord()
  // Every key by its name: one that follows a spread gives each object a shape of its own, and a price for all who read it.
  const x: Exchange = {
    req,
    downstream,
    home,
    place: null,
    isSession,
    id,
    ports,
    tell,
    planner: ports.planner(),
    asking: createAsking(ports.inject()),
    answering: createAnswering(),
    seating: null,
    line: null,
    leg: null,
    turnMs: ports.clock.nowMs(),
    timer: null,
    connectTimer: null,
    timerAtMs: Infinity,
    heldBytes: 0,
    pressed: { client: null, server: null },
    blocked: { client: false, server: false },
    isClosed: false,
    isServerOver: false,
    isFinished: false,
    whenFinished,
  }
  ;(req as OwnRequest).exchange = x
  return x
}

/** The matches are decided: seats are taken and time begins for them. */
export function beginLine(x: Exchange, ask: AskMeaning | null): Line {
  const { home, isSession } = x
  const bodyText = (): string | null => (ask === null ? null : collectedText(x.asking.body))
  const seating = x.planner.seat({ ask, head: headOf(x.req), bodyText, connection: home.number, isSession, atMs: x.turnMs })
  const line = seating.plans.length === 0 && seating.shadows.length === 0 ? createEmptyLine(ENDS, x) : seatedLine(x, seating)
  x.seating = seating
  x.line = line
  for (const { seat, note } of seating.notes) x.tell({ kind: 'noted', atMs: x.turnMs, seat, note })
  line.open(x.turnMs)
  return line
}

/** The two ends of every exchange's line. */
const ENDS: EndsOf<Exchange> = {
  toClient,
  toServer,
  hold,
  closed(x, cause, ending) {
    tellUnderstood(x)
    tellClosed(x, cause, x.answering.endedAs ?? ending)
  },
}

function seatedLine(x: Exchange, seating: Seating): Line {
  const line = createLine(seating.plans, createSeatedEnds(ENDS, x, seating), x.ports.random)
  if (seating.shadows.length === 0) return line
  return shadowed(line, seating.shadows, (cause, atMs) => x.tell({ kind: 'would_cut', atMs, cause }))
}

/** The request's head as it came. */
export const headOf = ({ method, url, rawHeaders }: IncomingMessage): Request => ({
  is: 'request',
  method: method ?? '',
  target: url ?? '',
  rawHeaders,
})

/** Faults or a path were taken away: their seats leave, what they held goes on, and pending cuts lapse. */
export function releaseSeats(x: Exchange, releases: readonly Release[]): void {
  if (x.isFinished) return
  if (x.line === null || x.seating === null) {
    x.planner = x.ports.planner()
    return
  }
  const names = x.seating.namesReleasedBy(releases)
  if (names.size === 0) return
  x.line.release(names, beginTurn(x))
  endTurn(x)
}

function hold(x: Exchange, from: 'client' | 'server', isHeld: boolean): void {
  if (from === 'server') {
    if (isHeld) x.leg?.verbs.pause(x.leg)
    else x.leg?.verbs.resume(x.leg)
  } else if (isHeld) x.downstream.verbs.pauseRequest(x.downstream)
  else x.downstream.verbs.resumeRequest(x.downstream)
}

/** The client's connection closed, by FIN or RST, before the exchange was over. `isHalf`: it may still read. */
export function clientLeft(x: Exchange, ending: Break, isHalf: boolean): void {
  if (x.isClosed && x.isServerOver) return
  const nowMs = beginTurn(x)
  const line = x.line ?? beginLine(x, null)
  if (isHalf) line.fromClient({ is: 'half' }, nowMs)
  else {
    line.fromClient(lost(ending, ending === 'rst' ? clientReset : clientAbort), nowMs)
    x.pressed.client = false // nobody is there to be slow
  }
  endTurn(x)
}

/** Cuts at the client's edge, now: an operator, or the end of the process. */
export function orderCut(x: Exchange, ending: Break, cause: Cause): void {
  if (x.isClosed) return
  const nowMs = beginTurn(x)
  const line = x.line ?? beginLine(x, null)
  line.order(ending, cause, nowMs)
  endTurn(x)
}

export function tellClosed(x: Exchange, cause: Cause, ending: Ending): void {
  x.isClosed = true
  x.pressed.client = false // where the server is read on, a client that did not read must not hold it
  x.tell({ kind: 'closed', atMs: x.turnMs, cause, ending })
  if (x.leg === null) x.isServerOver = true
}
