/** Rules of the protocol that a server broke. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { perSecond } from './promql.ts'
import { revisionLabel } from './words.ts'

const VIOLATIONS: CounterAbout = {
  name: 'protocol_violations_total',
  type: 'counter',
  title: 'Protocol violations',
  help: 'Calls in which the server broke a rule of its revision, of which it could know.',
  labels: ['rule', 'revision'],
  unit: 'count',
}

export const violationsFamily: Family = {
  about: [VIOLATIONS],
  panels: [
    {
      id: 'violations',
      kind: 'lines',
      title: 'Protocol violations',
      description:
        'Calls per second in which the server broke a rule of its revision that it could know: worked on or spoke after it was told.',
      unit: 'cps',
      queries: [{ expr: perSecond(VIOLATIONS, { by: ['rule', 'revision'] }), legend: '{{rule}} {{revision}}' }],
      isStacked: true,
    },
  ],
  start(kit) {
    const violations = kit.counter(VIOLATIONS)
    for (const rule of ['work-after-cancel', 'message-after-cancel']) violations.touch({ rule, revision: '2026-07-28' })
    for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', 'unknown'])
      violations.touch({ rule: 'cancel-ignored', revision })
    return {
      settled({ violations: rules, revision }) {
        for (const rule of rules) violations.inc({ rule, revision: revisionLabel(revision) })
      },
    }
  },
}
