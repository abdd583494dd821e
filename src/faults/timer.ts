/** The three timer faults: a hop's limits, whose cut takes its form right there, since no door stands in front of it. */
import { z } from 'zod'
import type { Answer } from '../core/answer.ts'
import { sendAnswer } from '../core/answer.ts'
import type { SeatPlan } from '../core/seat.ts'
import type { CauseKind, Ending, Head } from '../core/signal.ts'
import { cutting, lost } from '../core/signal.ts'
import type { Hop } from '../hops/hop.ts'
import { limitsSeat } from '../hops/limits.ts'
import { fired } from './body-shape.ts'
import { causeOf } from './fault.ts'
import type { AnswerForm } from './fault-values.ts'
import { answerForm, answerOf, durationText, ending, msOf, upstreamBreak } from './fault-values.ts'

export const timerFields = {
  after: durationText,
  ending: ending.optional(),
  upstream: upstreamBreak.optional(),
  answer: z
    .union([z.literal('none'), answerForm])
    .optional()
    .describe('Where no head has passed; none: a bare close'),
}

export interface TimerForm {
  readonly after: string
  readonly ending?: Ending | undefined
  readonly upstream?: 'fin' | 'rst' | 'none' | undefined
  readonly answer?: 'none' | AnswerForm | undefined
}

const GATEWAY_TIMEOUT: Answer = {
  status: 504,
  reason: '',
  rawHeaders: ['Content-Type', 'text/plain; charset=utf-8'],
  body: 'Gateway Timeout\n',
}

/** The form as a limit, its defaults filled in: FIN towards both sides, a 504 before the head. */
export function limitOf({ after, ending = 'fin', upstream = 'fin', answer }: TimerForm) {
  const own = answer === 'none' ? null : answer === undefined ? GATEWAY_TIMEOUT : answerOf(answer)
  return { afterMs: msOf(after), answer: own, ending, upstream }
}

export interface TimerAsked {
  readonly kind: Extract<CauseKind, 'header_timeout' | 'idle_timeout' | 'max_duration'>
  readonly limits: Pick<Hop, 'headers' | 'idle' | 'total'>
  readonly answer: Answer | null
  readonly ending: Ending
}

export function timer(name: string, { kind, limits, answer, ending }: TimerAsked): SeatPlan {
  const cause = causeOf(name, kind)
  const hop: Hop = { name, preset: 'fault', ...limits }
  const plan = limitsSeat(hop, { headers: cause, idle: cause, total: cause })
  return {
    name,
    sit(out, random) {
      let passed: Head | null = null
      function cutOff(): void {
        fired(out)
        if (passed !== null) out.toClient(cutting(ending, passed, cause))
        else if (answer !== null) sendAnswer(out, answer, cause)
        else out.toClient({ ...lost(ending === 'rst' ? 'rst' : 'fin', cause), isBare: true })
      }
      const shaping: typeof out = {
        ...out,
        toClient(signal) {
          if (signal.is === 'lost' && signal.cause === cause) return cutOff()
          if (signal.is === 'head') passed = signal
          out.toClient(signal)
        },
      }
      return plan.sit(shaping, random)
    },
  }
}
