/** A hop's client side: how it takes a leaving or an unreading client, and what it makes of a loss behind it. */
import type { Answer } from '../core/answer.ts'
import { sendAnswer } from '../core/answer.ts'
import type { Seat, SeatPlan } from '../core/seat.ts'
import type { Ask, Cause, Head, Lost } from '../core/signal.ts'
import { clientAbort, cutting, lost } from '../core/signal.ts'
import type { OwnCut, OwnCuts } from './compile.ts'
import { createFarewell } from './farewell.ts'
import type { AbortManner, Hop, UpstreamManner } from './hop.ts'

/** `isNearest`: no hop stands between this one and the server, so a refused connection is its own. */
export function doorSeat(hop: Hop, own: OwnCuts, { isNearest, clientSend }: { isNearest: boolean; clientSend: Cause }): SeatPlan {
  const { name, clientAbort: abort, upstreamLoss } = hop
  return {
    name,
    sit(out) {
      let passed: Head | null = null
      const farewell = createFarewell(out)

      function leave(manner: AbortManner, upstream: 'fin' | 'rst', cause: Cause): void {
        const told: UpstreamManner = manner === 'at-once' ? upstream : manner === 'never' ? 'none' : manner
        farewell.say(told, upstream, cause)
      }
      function answerOrClose(answer: Answer | null, cause: Cause): void {
        if (answer === null) out.toClient({ ...lost('fin', cause), isBare: true })
        else sendAnswer(out, answer, cause)
      }
      /** This hop's own doing: its answer if no head has passed, else its ending. */
      function cutOff({ answer, ending }: OwnCut, cause: Cause): void {
        if (passed === null && answer !== null) return sendAnswer(out, answer, cause)
        if (ending === 'silent') return out.toClient({ ...lost('fin', cause), isSilent: true })
        if (passed === null) return out.toClient({ ...lost(ending === 'rst' ? 'rst' : 'fin', cause), isBare: true })
        out.toClient(cutting(ending, passed, cause))
      }
      function takeLoss(loss: Lost): void {
        const { ending, cause } = loss
        const cut = own.get(cause) ?? (isOwnConnect(cause) ? connectCut : undefined)
        if (cut !== undefined) return cutOff(cut, cause)
        if (loss.isSilent === true || upstreamLoss === undefined) return out.toClient(loss)
        if (passed !== null) return out.toClient(cutting(upstreamLoss.midStream[ending] === 'clean' ? 'clean' : 'fin', passed, cause))
        const isRefused = isNearest && cause.kind === 'unreachable' && upstreamLoss.refused !== undefined
        answerOrClose(isRefused ? (upstreamLoss.refused ?? null) : upstreamLoss.beforeHeaders, cause)
      }
      const connectCut: OwnCut = { answer: hop.connect?.answer ?? null, ending: 'fin' }
      const isOwnConnect = (cause: Cause): boolean => cause.kind === 'unreachable' && cause.seat === name

      let isGone = false // the client; it needs no more reading
      function fromClient(signal: Ask): void {
        if (signal.is === 'lost') isGone = true
        if (abort === undefined) return out.toServer(signal)
        const manner = passed === null ? abort.beforeHeaders : abort.midStream
        if (signal.is === 'lost') return leave(manner, abort.upstream, signal.cause)
        if (signal.is !== 'half' || abort.halfClose === 'forward') return out.toServer(signal)
        if (abort.halfClose === 'tolerate') return
        isGone = true
        out.toClient(lost('fin', clientAbort))
        leave(manner, abort.upstream, clientAbort)
      }

      const seat: Seat = {
        fromServer(signal, atMs) {
          if (signal.is === 'lost') return takeLoss(signal)
          if (signal.is === 'head') passed = signal
          if (signal.is === 'end') out.wakeAt(null)
          out.toClient(signal)
          farewell.wrote(signal, atMs)
        },
      }
      if (abort !== undefined || hop.clientSend !== undefined) seat.fromClient = fromClient
      if (hop.clientSend === undefined) return seat
      const { afterMs, ending, upstream } = hop.clientSend
      let isVetoed = false
      seat.pressed = (side, isBlocked, atMs) => {
        out.hold(side === 'client' ? 'server' : 'client', isBlocked)
        if (side === 'client' && !isVetoed) out.wakeAt(isBlocked ? atMs + afterMs : null)
      }
      seat.wake = () => {
        if (isGone) return
        isVetoed = !out.mayCut(clientSend)
        if (isVetoed) return out.note({ is: 'decided', what: 'capped' })
        cutOff({ answer: null, ending }, clientSend)
        farewell.say(upstream, ending === 'silent' ? 'rst' : 'fin', clientSend)
      }
      return seat
    },
  }
}
