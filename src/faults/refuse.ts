/** Accepts a connection and closes it before anything is read. */
import { oneOf, strict } from '../hops/shape.ts'
import { faultKind } from './fault.ts'

export const refuseFault = faultKind({
  key: 'refuse',
  docs: 'Accepts the connection, then closes it: with a reset unless `ending: fin`.',
  at: 'client',
  schema: strict({ ending: oneOf('rst', 'fin').optional() }),
  deed: (_, asked) => ({ is: 'accept', what: { is: 'refuse', ending: asked.ending ?? 'rst' } }),
})
