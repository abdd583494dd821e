/** Tells the correlator of every call as it becomes known, and of its exchange when all of its calls are settled. */
import type { Sink } from '../journal/sink.ts'
import type { Correlator } from './correlate.ts'
import type { PendingReport } from './work-port.ts'

export function registrationSink(correlator: Correlator<PendingReport>): Sink {
  const unsettled = new Map<string, number>() // calls that a batch still has
  return {
    name: 'work registration',
    skipsTraffic: true,
    fact(view, fact) {
      if (fact.kind !== 'understood' || view.traceId === null) return
      const { id, traceId, spanIds, session, openedAtMs } = view
      const named = view.calls.filter(({ requestId }) => requestId !== null)
      if (named.length > 1) unsettled.set(id, named.length)
      for (const { requestId, method, tool } of named) {
        correlator.register({ exchangeId: id, traceId, spanIds, requestId, method, tool, session, openedAtMs })
      }
    },
    settled({ id }) {
      const exchangeId = id.replace(/\..*$/, '')
      const left = (unsettled.get(exchangeId) ?? 1) - 1
      if (left > 0) unsettled.set(exchangeId, left)
      else {
        unsettled.delete(exchangeId)
        correlator.forget(exchangeId) // one it does not know is nothing to it
      }
    },
  }
}
