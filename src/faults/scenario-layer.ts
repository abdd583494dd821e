/** A scenario's phase over what is in force: it comes and goes whole, and after the last there is pass-through. */
import type { Hop } from '../hops/hop.ts'
import type { Change, ControlState, FaultEntry, Release } from './control.ts'
import type { FaultRule } from './fault-schema.ts'

export interface PhaseLayer {
  /** Null: the path stays what it is. */
  readonly hops: readonly Hop[] | null
  readonly rules: readonly FaultRule[]
}

/** The phase before is taken away from open exchanges; this one reaches those opened from now on. */
export function enterPhase(state: ControlState, { hops, rules }: PhaseLayer): Change {
  const id = state.pathsMade + 1
  const faults = rules.map((rule): FaultEntry => ({ rule, origin: 'scenario', expiresAtMs: null }))
  return {
    state: { ...state, scenario: { id, hops, faults }, pathsMade: id },
    releases: releasesOf(state),
    forgets: [...namesOf(state), ...rules.map(({ name }) => name)],
  }
}

/** Pass-through for all, until `resume`. */
export function leaveScenario(state: ControlState): Change {
  return { state: { ...state, scenario: null, isStopped: true }, releases: [{ is: 'all' }], forgets: namesOf(state) }
}

const namesOf = ({ scenario }: ControlState): readonly string[] => (scenario?.faults ?? []).map(({ rule }) => rule.name)

function releasesOf(state: ControlState): readonly Release[] {
  const { scenario } = state
  if (scenario === null) return []
  const faults = namesOf(state).map((name) => ({ is: 'fault', name }) as const)
  return scenario.hops === null ? faults : [...faults, { is: 'path', id: scenario.id }]
}
