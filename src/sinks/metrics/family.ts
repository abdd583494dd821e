/** The shape of a metric's file: what it is, and how it follows facts, moments and settlements. */
import type { Fact } from '../../core/fact.ts'
import type { LedgerView, Moment, Settlement } from '../../core/ledger.ts'
import type { CallRecord } from '../../core/record.ts'
import type { EffectiveLimits } from '../../hops/effective.ts'
import type { MetricAbout } from './about.ts'
import type { Kit } from './kit.ts'
import type { Annotation, Panel } from './panel.ts'
import type { Causes } from './possible.ts'

export interface Family {
  readonly about: readonly MetricAbout[]
  /** What boards show of it. */
  readonly panels?: readonly Panel[]
  readonly annotations?: readonly Annotation[]
  /** Called once per registry. */
  start(kit: Kit): Meter
}

/** Only what is named is told: most families want one kind of a dozen. */
export type OnFacts = { readonly [K in Fact['kind']]?: (view: LedgerView, fact: Extract<Fact, { readonly kind: K }>) => void }
export type OnMoments = { readonly [M in Moment['is']]?: (view: LedgerView, moment: Extract<Moment, { readonly is: M }>) => void }

export interface Meter {
  readonly facts?: OnFacts
  readonly moments?: OnMoments
  settled?(record: CallRecord, settlement: Settlement): void
  /** A tool has its own label from now on: make its series, so that none is born at its first event. */
  tool?(label: string): void
  /** More causes can occur now. Called at the start with those that always can. */
  causes?(added: Causes): void
  /** The path in force has changed. */
  path?(path: PathInForce): void
  faults?(faults: readonly FaultInForce[]): void
  /** A scenario's phase began, or its last is over. */
  scenario?(played: ScenarioPlayed): void
  /** The configuration file was read again. */
  reloaded?(reload: Reload): void
  /** What became of a report of work. */
  reported?(source: ReportedSource, result: ReportedResult): void
}

export type ReportedSource = 'otlp' | 'probe'
export type ReportedResult = 'matched' | 'unmatched' | 'ambiguous' | 'refused' | 'expired' | 'duplicate'

export interface Reload {
  readonly isTaken: boolean
  readonly wallMs: number
}

export interface PathInForce {
  readonly limits: EffectiveLimits
  /** The presets in it (`custom` for the flags' own hop). */
  readonly presets: readonly string[]
  readonly mode: 'act' | 'shadow'
}

export interface ScenarioPlayed {
  readonly name: string
  readonly phases: readonly string[]
  /** Null: it is over. */
  readonly active: string | null
}

export interface FaultInForce {
  readonly name: string
  readonly isEnabled: boolean
  /** Unix milliseconds; null: it stays. */
  readonly expiresWallMs: number | null
}
