/** Tells the correlator of every call as it becomes known, and of its exchange when all of its calls are settled. */
import type { Sink } from '../journal/sink.ts'
import type { Correlator } from './correlate.ts'
import type { PendingReport } from './work-port.ts'

export function registrationSink(correlator: Correlator<PendingReport>): Sink {
  const unsettled = new Map<string, number>() // calls that a batch still has
  return {
    name: 'work registration',
    facts: ['understood'],
    fact(view) {
      const { id, traceId, spanIds, session, openedAtMs } = view
      if (traceId === null) return
      let named = 0
      for (const { requestId, method, tool } of view.calls) {
        if (requestId === null) continue
        named += 1
        correlator.register({ exchangeId: id, traceId, spanIds, requestId, method, tool, session, openedAtMs })
      }
      if (named > 1) unsettled.set(id, named)
    },
    settled(_, { exchangeId }) {
      const left = unsettled.size === 0 ? 0 : (unsettled.get(exchangeId) ?? 1) - 1
      if (left > 0) unsettled.set(exchangeId, left)
      else {
        if (unsettled.size > 0) unsettled.delete(exchangeId)
        correlator.forget(exchangeId) // one it does not know is nothing to it
      }
    },
  }
}
