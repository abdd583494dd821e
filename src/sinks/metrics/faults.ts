/** What faults decided and did. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { inRange, perSecond, share, top } from './promql.ts'

const INJECTED: CounterAbout = {
  name: 'faults_injected_total',
  type: 'counter',
  title: 'Faults injected',
  help: 'Exchanges that a fault disturbed.',
  labels: ['fault'],
  unit: 'count',
}
const DECISIONS: CounterAbout = {
  name: 'fault_decisions_total',
  type: 'counter',
  title: 'Fault decisions',
  help: 'What faults decided about exchanges that matched: fired, or why not.',
  labels: ['fault', 'decision'],
  unit: 'count',
}
const HOP_SEAT = /^path\[\d+\]:/

export const faultsFamily: Family = {
  about: [INJECTED, DECISIONS],
  panels: [
    {
      id: 'faults-fired',
      kind: 'stat',
      title: 'Faults fired',
      description: 'Exchanges that a fault disturbed in the time shown.',
      unit: 'short',
      queries: [{ expr: inRange(INJECTED), legend: '' }],
      ifNone: '0',
    },
    {
      id: 'faults-fired-share',
      kind: 'stat',
      title: 'Matches that fired',
      description:
        'Of the decisions about exchanges that matched a fault, the share that fired. Exemptions, caps, unreadable requests and shadow mode keep the rest back.',
      unit: 'percentunit',
      queries: [{ expr: share(inRange(DECISIONS, { where: { decision: 'fired' } }), inRange(DECISIONS)), legend: '' }],
      ifNone: 'no matches',
    },
    {
      id: 'fault-decisions',
      kind: 'lines',
      title: 'Fault decisions',
      description: 'Decisions per second about exchanges that matched: fired, or why not.',
      unit: 'cps',
      queries: [{ expr: perSecond(DECISIONS, { by: ['decision'] }), legend: '{{decision}}' }],
      isStacked: true,
    },
    {
      id: 'fault-decisions-by-fault',
      kind: 'table',
      title: 'Fault decisions, by fault',
      description: 'Decisions in the time shown about exchanges that matched each fault.',
      unit: 'short',
      queries: [{ expr: inRange(DECISIONS, { by: ['fault', 'decision'] }), legend: '' }],
      pivot: { rows: 'fault', columns: 'decision' },
    },
    {
      id: 'faults-injected',
      kind: 'lines',
      title: 'Faults injected, by fault',
      description: 'Exchanges disturbed per second; the ten faults with most.',
      unit: 'cps',
      queries: [{ expr: top(perSecond(INJECTED, { by: ['fault'] })), legend: '{{fault}}' }],
    },
  ],
  start(kit) {
    const injected = kit.counter(INJECTED)
    const decisions = kit.counter(DECISIONS)
    const touch = (fault: string): void => {
      injected.touch({ fault })
      for (const decision of ['fired', 'skipped', 'exempt', 'capped', 'shadow']) decisions.touch({ fault, decision })
    }
    return {
      faults(faults) {
        for (const { name } of faults) touch(kit.faults.labelOf(name))
      },
      facts: {
        noted(_, { seat, note }) {
          if (note.is !== 'decided' || HOP_SEAT.test(seat)) return
          const fault = kit.faults.labelOf(seat)
          kit.faults.countOverflow(seat)
          decisions.count(fault, note.what)
          if (note.what === 'fired') injected.count(fault)
        },
      },
    }
  },
}
