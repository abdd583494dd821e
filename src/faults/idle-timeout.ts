/** Cuts a response that has been silent for so long; the wait for its headers counts. */
import { oneOf, strict } from '../hops/shape.ts'
import { faultKind, seat } from './fault.ts'
import { limitOf, timer, timerFields } from './timer.ts'

const schema = strict({ ...timerFields, counts: oneOf('bytes', 'events', 'progress').optional() })

export const idleTimeoutFault = faultKind({
  key: 'idle-timeout',
  docs: 'Cuts when the response was silent for `after`; `counts` says what is no silence. Before the headers it answers 504.',
  at: 'client',
  schema,
  deed(name, asked) {
    const limit = limitOf(asked)
    const idle = { ...limit, counts: asked.counts ?? 'bytes', direction: 'response', rearmMs: 0 } as const
    return seat(timer(name, { kind: 'idle_timeout', limits: { idle }, answer: limit.answer, ending: limit.ending }))
  },
})
