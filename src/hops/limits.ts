/** A hop's timers, on what arrives: `headers`, `idle` and `total`. A cut leaves here as a loss; the door makes its form. */
import type { Out, Seat, SeatPlan } from '../core/seat.ts'
import type { Ask, Cause, Lost, Reply, Side } from '../core/signal.ts'
import { lost } from '../core/signal.ts'
import type { Deadlines, LimitKind } from './deadlines.ts'
import {
  askedAgain,
  createDeadlines,
  disarm,
  earliestMs,
  isArmed,
  isOverdueAtWrite,
  lapse,
  passedAsked,
  passedHead,
  passedInterim,
  passedPiece,
  passedRequest,
  reachedBy,
  standStill,
} from './deadlines.ts'
import type { Farewell } from './farewell.ts'
import { createFarewell, sayFarewell, wroteBeforeFarewell } from './farewell.ts'
import type { Hop, Limit } from './hop.ts'

export type LimitCauses = Readonly<Record<LimitKind, Cause>>

/** What all seats of one hop share. */
interface Terms {
  readonly limits: Readonly<Partial<Record<LimitKind, Limit>>>
  readonly causes: LimitCauses
  readonly retriesTimeout: boolean
}

/** One seat: its state in itself, its verbs the same functions for all. */
interface LimitsSeat extends Seat {
  readonly terms: Terms
  readonly out: Out
  readonly due: Deadlines
  readonly farewell: Farewell
  hasHead: boolean
  /** Dropped without a word further in: to this hop just nothing more comes. */
  silence: Lost | null
}

export function limitsSeat(hop: Hop, causes: LimitCauses): SeatPlan {
  const limits: Partial<Record<LimitKind, Limit>> = {
    ...(hop.headers === undefined || hop.headers === 'none' ? {} : { headers: hop.headers }),
    ...(hop.idle === undefined ? {} : { idle: hop.idle }),
    ...(hop.total === undefined ? {} : { total: hop.total }),
  }
  const terms: Terms = { limits, causes, retriesTimeout: hop.request?.retry?.on.includes('timeout') === true }
  return {
    name: hop.name,
    sit(out) {
      const seat: LimitsSeat = {
        terms,
        out,
        due: createDeadlines(hop),
        farewell: createFarewell(),
        hasHead: false,
        silence: null,
        fromClient,
        fromServer,
        wake,
        pressed,
        release,
      }
      return seat
    },
  }
}

function rearm({ out, due, silence }: LimitsSeat): void {
  const atMs = earliestMs(due)
  out.wakeAt(atMs === Infinity ? null : atMs)
  if (silence !== null && !isArmed(due)) out.toClient(silence)
}

/** A wait for the head that is over may be begun anew (`request.retry`). */
function asksAgain({ terms, hasHead, out, due }: LimitsSeat, kind: LimitKind, atMs: number): boolean {
  if (kind === 'total' || hasHead || !terms.retriesTimeout || !out.again()) return false
  askedAgain(due, atMs)
  return true
}

/** Whether it cut. */
function expire({ terms, out, due, farewell }: LimitsSeat, kind: LimitKind, duringWriteMs?: number): boolean {
  const limit = terms.limits[kind]
  const cause = terms.causes[kind]
  if (limit === undefined) return false
  if (!out.mayCut(cause)) {
    out.note({ is: 'decided', what: 'capped' })
    lapse(due, kind)
    return false
  }
  disarm(due)
  out.wakeAt(null)
  out.toClient(lost('fin', cause))
  sayFarewell(farewell, out, { manner: limit.upstream, ending: limit.ending === 'silent' ? 'rst' : 'fin', cause, duringWriteMs })
  return true
}

function fromClient(this: LimitsSeat, signal: Ask, atMs: number): void {
  const { due, out } = this
  if (signal.is === 'lost') disarm(due)
  else if (signal.is === 'asked') passedAsked(due, atMs)
  else if (signal.is !== 'half') passedRequest(due, atMs)
  rearm(this)
  out.toServer(signal)
}

function fromServer(this: LimitsSeat, signal: Reply, atMs: number): void {
  const { due, out } = this
  if (signal.is === 'lost' && signal.isSilent === true && isArmed(due)) {
    this.silence = signal
    return
  }
  const isWrite = signal.is === 'head' || signal.is === 'piece'
  if (isWrite && isOverdueAtWrite(due, atMs) && expire(this, 'total', atMs)) return
  if (signal.is === 'head') this.hasHead = true
  if (signal.is === 'head') passedHead(due, atMs)
  else if (signal.is === 'piece') passedPiece(due, signal, atMs)
  else if (signal.is === 'interim') passedInterim(due, atMs)
  else disarm(due)
  rearm(this)
  out.toClient(signal)
  wroteBeforeFarewell(this.farewell, out, signal, atMs)
}

function wake(this: LimitsSeat, atMs: number): void {
  // More than one may be due at once: where one lapses, or its wait begins anew, the next has its say in the same wake.
  for (let kind = reachedBy(this.due, atMs); kind !== null; kind = reachedBy(this.due, atMs)) {
    if (!asksAgain(this, kind, atMs) && expire(this, kind)) return
  }
  rearm(this)
}

function pressed(this: LimitsSeat, side: Side, isBlocked: boolean, atMs: number): void {
  this.out.hold(side === 'client' ? 'server' : 'client', isBlocked)
  if (side === 'server') return
  standStill(this.due, isBlocked, atMs)
  rearm(this)
}

function release(this: LimitsSeat): void {
  if (this.silence !== null) this.out.toClient(this.silence)
}
