/** When a hop's `headers`, `idle` and `total` are due. Numbers only: who cuts, and how, is the limits seat's. */
import { isEvent, meaningOf } from '../core/meaning.ts'
import type { Piece } from '../core/signal.ts'
import type { Hop, Limit } from './hop.ts'

export type LimitKind = 'headers' | 'idle' | 'total'

/** Plain numbers that the functions below are given: closures for every hop of every exchange cost more than all that they do. */
export interface Deadlines {
  readonly idle: Hop['idle']
  readonly total: Hop['total']
  readonly headers: Limit | undefined
  /** There is no wait for headers of its own: the idle limit is that as well. */
  readonly idleCoversWait: boolean
  headersDueMs: number
  idleDueMs: number
  totalDueMs: number
  /** Not to cut any more in this exchange. */
  lapsed: readonly LimitKind[]
  /** The last arming, which `rearm` counts from. */
  idleArmedMs: number
  hasAsked: boolean
  hasHead: boolean
  isOver: boolean
  blockedSinceMs: number | null
}

const NEVER = Infinity
const NO_KINDS: readonly LimitKind[] = []

export const createDeadlines = ({ idle, total, headers }: Hop): Deadlines => ({
  idle,
  total,
  headers: headers === 'none' ? undefined : headers,
  idleCoversWait: headers === undefined,
  headersDueMs: NEVER,
  idleDueMs: NEVER,
  totalDueMs: NEVER,
  lapsed: NO_KINDS,
  idleArmedMs: -Infinity,
  hasAsked: false,
  hasHead: false,
  isOver: false,
  blockedSinceMs: null,
})

const mayArm = ({ isOver, lapsed }: Deadlines, kind: LimitKind): boolean => !isOver && !lapsed.includes(kind)

function armHeaders(due: Deadlines, atMs: number): void {
  if (due.headers !== undefined && mayArm(due, 'headers')) due.headersDueMs = atMs + due.headers.afterMs
}
function armTotal(due: Deadlines, atMs: number, from: 'request' | 'headers'): void {
  if (due.total?.from === from && mayArm(due, 'total')) due.totalDueMs = atMs + due.total.afterMs
}
function armIdle(due: Deadlines, atMs: number): void {
  if (due.idle === undefined) return
  if (mayArm(due, 'idle')) due.idleDueMs = atMs + due.idle.afterMs
  due.idleArmedMs = atMs
}
function sawTraffic(due: Deadlines, atMs: number): void {
  if (due.idle !== undefined && (due.idleDueMs === NEVER || atMs - due.idleArmedMs >= due.idle.rearmMs)) armIdle(due, atMs)
}
const coversRequest = ({ idle }: Deadlines): boolean => idle?.direction === 'both'
const standsStill = ({ blockedSinceMs }: Deadlines): boolean => blockedSinceMs !== null
const totalTimerMs = ({ total, totalDueMs }: Deadlines): number => (total?.at === 'next-write' ? NEVER : totalDueMs)

/** The request's head or a part of its body passed. */
export function passedRequest(due: Deadlines, atMs: number): void {
  if (coversRequest(due)) sawTraffic(due, atMs) // after `asked` only a WebSocket session has more
}

/** The request was sent once more: the wait for its head begins anew; a total runs on. */
export function askedAgain(due: Deadlines, atMs: number): void {
  armHeaders(due, atMs)
  if (due.idleCoversWait) armIdle(due, atMs)
}

export function passedAsked(due: Deadlines, atMs: number): void {
  due.hasAsked = true
  if (!due.hasHead) armHeaders(due, atMs)
  armTotal(due, atMs, 'request')
  if (!due.hasHead && !due.idleCoversWait) due.idleDueMs = NEVER
  else if (due.idleDueMs === NEVER) armIdle(due, atMs)
  else sawTraffic(due, atMs)
}

export function passedHead(due: Deadlines, atMs: number): void {
  due.hasHead = true
  due.headersDueMs = NEVER
  armTotal(due, atMs, 'headers')
  if (due.hasAsked || coversRequest(due)) sawTraffic(due, atMs)
}

export function passedPiece(due: Deadlines, piece: Piece, atMs: number): void {
  if (due.idle !== undefined && (due.hasAsked || coversRequest(due)) && counts(due.idle.counts, piece)) sawTraffic(due, atMs)
}

export function passedInterim(due: Deadlines, atMs: number): void {
  if (due.hasAsked && due.idleCoversWait) sawTraffic(due, atMs)
}

/** The client takes no more, or does again: what waits for the server's bytes stands still meanwhile; `total` runs on. */
export function standStill(due: Deadlines, isBlocked: boolean, atMs: number): void {
  if (isBlocked) {
    due.blockedSinceMs ??= atMs
    return
  }
  if (due.blockedSinceMs === null) return
  const stoodStillMs = atMs - due.blockedSinceMs
  due.blockedSinceMs = null
  due.headersDueMs += stoodStillMs
  due.idleDueMs += stoodStillMs
  due.idleArmedMs += stoodStillMs
}

export function disarm(due: Deadlines): void {
  due.isOver = true
  due.headersDueMs = due.idleDueMs = due.totalDueMs = NEVER
}

/** It is not to cut any more in this exchange. */
export function lapse(due: Deadlines, kind: LimitKind): void {
  due.lapsed = [...due.lapsed, kind]
  if (kind === 'headers') due.headersDueMs = NEVER
  else if (kind === 'idle') due.idleDueMs = NEVER
  else due.totalDueMs = NEVER
}

/** When a timer is to fire; Infinity: never. */
export const earliestMs = (due: Deadlines): number =>
  standsStill(due) ? totalTimerMs(due) : Math.min(due.headersDueMs, due.idleDueMs, totalTimerMs(due))

/** Which is reached, by a timer at its time. */
export function reachedBy(due: Deadlines, atMs: number): LimitKind | null {
  if (!standsStill(due) && due.headersDueMs <= atMs) return 'headers'
  if (!standsStill(due) && due.idleDueMs <= atMs) return 'idle'
  return totalTimerMs(due) <= atMs ? 'total' : null
}

/** Whether a total that waits for a write has waited long enough. */
export const isOverdueAtWrite = ({ total, totalDueMs }: Deadlines, atMs: number): boolean => total?.at === 'next-write' && totalDueMs < atMs

/** Whether anything may still cut by itself, now or once the client reads again. */
export const isArmed = (due: Deadlines): boolean => Math.min(due.headersDueMs, due.idleDueMs, totalTimerMs(due)) !== NEVER

function counts(what: 'bytes' | 'events' | 'progress', { mark }: Piece): boolean {
  if (what === 'bytes') return true
  if (mark === null) return false
  return what === 'events' ? isEvent(mark) : meaningOf(mark).is === 'progress'
}
