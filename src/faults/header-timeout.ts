/** Answers in the server's place when its headers do not come in time. */
import { strict } from '../hops/shape.ts'
import { faultKind, seat } from './fault.ts'
import { limitOf, timer, timerFields } from './timer.ts'

export const headerTimeoutFault = faultKind({
  key: 'header-timeout',
  docs: 'Answers 504 (or `answer`) when no headers came `after` the request had passed.',
  at: 'client',
  schema: strict(timerFields),
  deed(name, asked) {
    const limit = limitOf(asked)
    return seat(timer(name, { kind: 'header_timeout', limits: { headers: limit }, answer: limit.answer, ending: limit.ending }))
  },
})
