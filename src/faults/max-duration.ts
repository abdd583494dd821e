/** Cuts so long after the request has passed, however busy the stream is. */
import { strict } from '../hops/shape.ts'
import { faultKind, seat } from './fault.ts'
import { limitOf, timer, timerFields } from './timer.ts'

export const maxDurationFault = faultKind({
  key: 'max-duration',
  docs: "Cuts `after` the request's last byte, however busy the stream is.",
  at: 'client',
  schema: strict(timerFields),
  deed(name, asked) {
    const limit = limitOf(asked)
    const total = { ...limit, from: 'request', at: 'deadline' } as const
    return seat(timer(name, { kind: 'max_duration', limits: { total }, answer: limit.answer, ending: limit.ending }))
  },
})
