/** A hop's client side: how it takes a leaving or an unreading client, and what it makes of a loss behind it. */
import type { Answer } from '../core/answer.ts'
import { sendAnswer } from '../core/answer.ts'
import type { Out, Seat, SeatPlan } from '../core/seat.ts'
import type { Ask, Cause, Head, Lost, Reply, Side } from '../core/signal.ts'
import { clientAbort, cutting, lost } from '../core/signal.ts'
import type { OwnCut, OwnCuts } from './compile.ts'
import type { Farewell } from './farewell.ts'
import { createFarewell, sayFarewell, wroteBeforeFarewell } from './farewell.ts'
import type { AbortManner, Hop, UpstreamManner } from './hop.ts'

/** What all seats of one hop share. */
interface Terms {
  readonly hop: Hop
  readonly own: OwnCuts
  /** No hop stands between this one and the server, so a refused connection is its own. */
  readonly isNearest: boolean
  readonly clientSend: Cause
  readonly connectCut: OwnCut
}

/** One seat: its state in itself, its verbs the same functions for all. */
interface DoorSeat extends Seat {
  readonly terms: Terms
  readonly out: Out
  readonly farewell: Farewell
  passed: Head | null
  /** The client; it needs no more reading. */
  isGone: boolean
  /** A cut of an unreading client was not allowed. */
  isVetoed: boolean
}

export function doorSeat(hop: Hop, own: OwnCuts, { isNearest, clientSend }: { isNearest: boolean; clientSend: Cause }): SeatPlan {
  const terms: Terms = { hop, own, isNearest, clientSend, connectCut: { answer: hop.connect?.answer ?? null, ending: 'fin' } }
  const minds = hop.clientAbort !== undefined || hop.clientSend !== undefined
  // An absent verb is a key as well: seats of one shape cost a tenth of those put together from parts.
  const verbs = {
    fromClient: minds ? fromClient : undefined,
    pressed: hop.clientSend === undefined ? undefined : pressed,
    wake: hop.clientSend === undefined ? undefined : wake,
  } as Pick<Required<DoorSeat>, 'fromClient' | 'pressed' | 'wake'>
  return {
    name: hop.name,
    sit(out) {
      const seat: DoorSeat = {
        terms,
        out,
        farewell: createFarewell(),
        passed: null,
        isGone: false,
        isVetoed: false,
        fromServer,
        fromClient: verbs.fromClient,
        pressed: verbs.pressed,
        wake: verbs.wake,
      }
      return seat
    },
  }
}

function leave({ out, farewell }: DoorSeat, manner: AbortManner, upstream: 'fin' | 'rst', cause: Cause): void {
  const told: UpstreamManner = manner === 'at-once' ? upstream : manner === 'never' ? 'none' : manner
  sayFarewell(farewell, out, { manner: told, ending: upstream, cause })
}

function answerOrClose({ out }: DoorSeat, answer: Answer | null, cause: Cause): void {
  if (answer === null) out.toClient({ ...lost('fin', cause), isBare: true })
  else sendAnswer(out, answer, cause)
}

/** This hop's own doing: its answer if no head has passed, else its ending. */
function cutOff({ out, passed }: DoorSeat, { answer, ending }: OwnCut, cause: Cause): void {
  if (passed === null && answer !== null) return sendAnswer(out, answer, cause)
  if (ending === 'silent') return out.toClient({ ...lost('fin', cause), isSilent: true })
  if (passed === null) return out.toClient({ ...lost(ending === 'rst' ? 'rst' : 'fin', cause), isBare: true })
  out.toClient(cutting(ending, passed, cause))
}

function takeLoss(door: DoorSeat, loss: Lost): void {
  const { terms, out, passed } = door
  const { upstreamLoss, name } = terms.hop
  const { ending, cause } = loss
  const isOwnConnect = cause.kind === 'unreachable' && cause.seat === name
  const cut = terms.own.get(cause) ?? (isOwnConnect ? terms.connectCut : undefined)
  if (cut !== undefined) return cutOff(door, cut, cause)
  if (loss.isSilent === true || upstreamLoss === undefined) return out.toClient(loss)
  if (passed !== null) return out.toClient(cutting(upstreamLoss.midStream[ending] === 'clean' ? 'clean' : 'fin', passed, cause))
  const isRefused = terms.isNearest && cause.kind === 'unreachable' && upstreamLoss.refused !== undefined
  answerOrClose(door, isRefused ? (upstreamLoss.refused ?? null) : upstreamLoss.beforeHeaders, cause)
}

function fromClient(this: DoorSeat, signal: Ask): void {
  const { terms, out, passed } = this
  const { clientAbort: abort } = terms.hop
  if (signal.is === 'lost') this.isGone = true
  if (abort === undefined) return out.toServer(signal)
  const manner = passed === null ? abort.beforeHeaders : abort.midStream
  if (signal.is === 'lost') return leave(this, manner, abort.upstream, signal.cause)
  if (signal.is !== 'half' || abort.halfClose === 'forward') return out.toServer(signal)
  if (abort.halfClose === 'tolerate') return
  this.isGone = true
  out.toClient(lost('fin', clientAbort))
  leave(this, manner, abort.upstream, clientAbort)
}

function fromServer(this: DoorSeat, signal: Reply, atMs: number): void {
  const { out, farewell } = this
  if (signal.is === 'lost') return takeLoss(this, signal)
  if (signal.is === 'head') this.passed = signal
  if (signal.is === 'end') out.wakeAt(null)
  out.toClient(signal)
  wroteBeforeFarewell(farewell, out, signal, atMs)
}

/** Only where the hop has a limit on an unreading client. */
function pressed(this: DoorSeat, side: Side, isBlocked: boolean, atMs: number): void {
  const { out, terms, isVetoed } = this
  out.hold(side === 'client' ? 'server' : 'client', isBlocked)
  if (side === 'client' && !isVetoed) out.wakeAt(isBlocked ? atMs + (terms.hop.clientSend?.afterMs ?? Infinity) : null)
}

function wake(this: DoorSeat): void {
  const { out, terms, farewell, isGone } = this
  const { clientSend } = terms.hop
  if (isGone || clientSend === undefined) return
  this.isVetoed = !out.mayCut(terms.clientSend)
  if (this.isVetoed) return out.note({ is: 'decided', what: 'capped' })
  cutOff(this, { answer: null, ending: clientSend.ending }, terms.clientSend)
  const ending = clientSend.ending === 'silent' ? 'rst' : 'fin'
  sayFarewell(farewell, out, { manner: clientSend.upstream, ending, cause: terms.clientSend })
}
