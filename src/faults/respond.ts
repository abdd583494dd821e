/** Answers in the server's place; the server is never asked. */

import type { Answer } from '../core/answer.ts'
import { sendAnswer } from '../core/answer.ts'
import type { SeatPlan } from '../core/seat.ts'
import type { Cause } from '../core/signal.ts'
import { lost } from '../core/signal.ts'

export function respond(name: string, answer: Answer): SeatPlan {
  const cause: Cause = { kind: 'fault', seat: name }
  return {
    name,
    sit: (out) => ({
      fromClient(signal) {
        if (signal.is !== 'request') return
        sendAnswer(out, answer, cause)
        out.toServer(lost('fin', cause))
      },
    }),
  }
}
