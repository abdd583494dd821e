/** Whoever wants to hear of calls as they happen, inside the process: the live feed builds on it. */
import type { Fact } from '../core/fact.ts'
import type { LedgerView } from '../core/ledger.ts'
import type { CallRecord } from '../core/record.ts'
import type { Sink } from '../journal/sink.ts'

export interface LiveListener {
  /** Everything but moved bytes and single events, which come by the thousand. */
  fact?(view: LedgerView, fact: Fact): void
  settled?(record: CallRecord): void
}

export interface Live {
  readonly sink: Sink
  /** Gives the way to stop listening. A listener that throws is heard of no more. */
  subscribe(listener: LiveListener): () => void
}

export function createLive(): Live {
  const listeners = new Set<LiveListener>()

  function tellAll(tell: (listener: LiveListener) => void): void {
    for (const listener of listeners) {
      try {
        tell(listener)
      } catch {
        listeners.delete(listener)
      }
    }
  }

  // Apart, for a function makes room for what its closures hold as soon as it is called: most often nobody listens.
  const tellFact = (view: LedgerView, fact: Fact): void => tellAll((listener) => listener.fact?.(view, fact))
  const tellSettled = (record: CallRecord): void => tellAll((listener) => listener.settled?.(record))

  return {
    sink: {
      name: 'live',
      skipsTraffic: true,
      fact(view, fact) {
        if (listeners.size > 0) tellFact(view, fact)
      },
      settled(record) {
        if (listeners.size > 0) tellSettled(record)
      },
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
