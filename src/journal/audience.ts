/** The sinks, spoken to so that none of them can harm the data path: what one throws is told once, and the next is spoken to. */
import type { Fact } from '../core/fact.ts'
import type { LedgerView, Moment, Settlement } from '../core/ledger.ts'
import { byKind } from './by-kind.ts'
import type { Sink } from './sink.ts'

export interface Audience {
  fact(view: LedgerView, fact: Fact): void
  moment(view: LedgerView, moment: Moment): void
  settled(settlement: Settlement): void
  close(): Promise<void>
  /** A failure of the journal's own, told like a sink's. */
  failed(name: string, error: unknown): void
}

export type OnSinkError = (sinkName: string, error: unknown) => void

export function createAudience(sinks: readonly Sink[], onSinkError: OnSinkError): Audience {
  const told = new Set<string>()
  const onFact = byKind(sinks, wantsFact)
  const onMoment = byKind(sinks, wantsMoment)
  const onSettled = sinks.filter((sink) => sink.settled !== undefined)

  function failed(name: string, error: unknown): void {
    if (told.has(name)) return
    told.add(name)
    onSinkError(name, error)
  }

  // Loops without closures: `fact` runs for every chunk of every stream.
  return {
    fact(view, fact) {
      for (const sink of onFact(fact.kind)) {
        try {
          sink.fact?.(view, fact)
        } catch (error) {
          failed(sink.name, error)
        }
      }
    },
    moment(view, moment) {
      for (const sink of onMoment(moment.is)) {
        try {
          sink.moment?.(view, moment)
        } catch (error) {
          failed(sink.name, error)
        }
      }
    },
    settled(settlement) {
      for (const sink of onSettled) {
        try {
          sink.settled?.(settlement.record, settlement)
        } catch (error) {
          failed(sink.name, error)
        }
      }
    },
    async close() {
      for (const sink of sinks) {
        try {
          await sink.close?.()
        } catch (error) {
          failed(sink.name, error)
        }
      }
    },
    failed,
  }
}

const isTraffic = (kind: Fact['kind']): boolean => kind === 'moved' || kind === 'event'

const wantsFact = ({ fact, facts, skipsTraffic }: Sink, kind: Fact['kind']): boolean =>
  fact !== undefined && (facts?.includes(kind) ?? !(skipsTraffic === true && isTraffic(kind)))

const wantsMoment = ({ moment, moments }: Sink, kind: Moment['is']): boolean => moment !== undefined && (moments?.includes(kind) ?? true)
