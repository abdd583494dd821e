/** A hop's client side: how it takes a leaving client, and what it makes of a loss behind it. */
import { sendAnswer } from '../core/answer.ts'
import type { SeatPlan } from '../core/seat.ts'
import type { Cause, Head, Lost } from '../core/signal.ts'
import { clientAbort, cutting, lost } from '../core/signal.ts'
import type { OwnLimits } from './compile.ts'
import type { AbortManner, Hop } from './hop.ts'

export function doorSeat({ name, clientAbort: abort, upstreamLoss }: Hop, own: OwnLimits): SeatPlan {
  return {
    name,
    sit(out) {
      let passed: Head | null = null
      // The client has left and the server is to be told after so many more writes.
      let farewell: { writesLeft: number; cause: Cause } | null = null

      function leave(manner: AbortManner, cause: Cause): void {
        if (farewell !== null || manner === 'never') return
        if (manner === 'at-once') out.toServer(lost(abort.upstream, cause))
        else farewell = { writesLeft: manner.afterWrites, cause }
      }

      function afterLoss({ ending, cause }: Lost): void {
        const limit = own.get(cause)
        if (passed === null) {
          const answer = limit === undefined ? upstreamLoss.beforeHeaders : limit.answer
          if (answer === null) out.toClient(lost('fin', cause))
          else sendAnswer(out, answer, cause)
          return
        }
        const manner = limit?.ending ?? (upstreamLoss.midStream[ending] === 'clean' ? 'clean' : 'fin')
        out.toClient(cutting(manner, passed, cause))
      }

      return {
        fromServer(signal) {
          if (signal.is === 'lost') return afterLoss(signal)
          if (signal.is === 'head') passed = signal
          out.toClient(signal)
          if (farewell === null || signal.is === 'interim') return
          farewell.writesLeft -= 1
          if (farewell.writesLeft === 0) out.toServer(lost(abort.upstream, farewell.cause))
        },
        fromClient(signal) {
          const manner = passed === null ? abort.beforeHeaders : abort.midStream
          if (signal.is === 'lost') return leave(manner, signal.cause)
          if (signal.is !== 'half') return out.toServer(signal)
          if (abort.halfClose === 'tolerate') return
          out.toClient(lost('fin', clientAbort))
          leave(manner, clientAbort)
        },
      }
    },
  }
}
