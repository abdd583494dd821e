/** What faults decided and did. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'

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
      fact(_, fact) {
        if (fact.kind !== 'noted' || fact.note.is !== 'decided' || HOP_SEAT.test(fact.seat)) return
        const fault = kit.faults.labelOf(fact.seat)
        kit.faults.countOverflow(fact.seat)
        decisions.inc({ fault, decision: fact.note.what })
        if (fact.note.what === 'fired') injected.inc({ fault })
      },
    }
  },
}
