/** Which phase of a scenario is being played. */
import type { GaugeAbout } from './about.ts'
import type { Family } from './family.ts'
import { now } from './promql.ts'

const ACTIVE: GaugeAbout = {
  name: 'scenario_phase_active',
  type: 'gauge',
  title: 'Scenario phase',
  help: 'Whether this phase of the scenario is being played; absent before the first scenario, 0 once it is over.',
  labels: ['scenario', 'phase'],
  unit: 'bool',
}

export const scenarioFamily: Family = {
  about: [ACTIVE],
  panels: [
    {
      id: 'scenario-phase',
      kind: 'timeline',
      title: 'Scenario phase',
      description: 'Which phase of a scenario was being played, in one sidecar or more. Nothing is shown where none ran.',
      unit: 'bool_yes_no',
      queries: [{ expr: now(ACTIVE, 'max', { by: ['scenario', 'phase'] }), legend: '{{scenario}}: {{phase}}' }],
    },
  ],
  annotations: [
    {
      id: 'scenario',
      title: 'Scenario phase',
      expr: now(ACTIVE, 'max', { by: ['scenario', 'phase'] }),
      legend: '{{scenario}}: {{phase}}',
      color: 'purple',
    },
  ],
  start(kit) {
    const active = kit.gauge(ACTIVE)
    return {
      scenario({ name, phases, active: current }) {
        active.clear()
        for (const phase of phases) active.set({ scenario: name, phase }, Number(phase === current))
      },
    }
  },
}
