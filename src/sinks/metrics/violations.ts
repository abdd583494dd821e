/** Rules of the protocol that were broken, and surprises that harm nobody. */
import type { Revision } from '../../core/mcp/revision.ts'
import { knownRevision, REVISIONS } from '../../core/mcp/revision.ts'
import type { RuleId, Severity } from '../../core/mcp/rules.ts'
import { isRuleId, RULE_IDS, severityOf } from '../../core/mcp/rules.ts'
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import type { CounterMeter } from './kit.ts'
import { perSecond } from './promql.ts'
import { revisionLabel } from './words.ts'

const VIOLATIONS: CounterAbout = {
  name: 'protocol_violations_total',
  type: 'counter',
  title: 'Protocol violations',
  help: 'Calls in which a MUST of the revision was broken, by server or client. Work or messages after a cancellation count only where the server could know.',
  labels: ['rule', 'revision'],
  unit: 'count',
}
const NOTICES: CounterAbout = {
  name: 'protocol_notices_total',
  type: 'counter',
  title: 'Protocol notices',
  help: 'Calls in which something surprised that broke no MUST of the revision, or whose revision nobody said.',
  labels: ['rule', 'revision'],
  unit: 'count',
}

/** Judged by what else happened, and so either of both. */
const EITHER: readonly RuleId[] = ['cancelled-notification-over-http', 'request-id-reused', 'header-mismatch']

export const violationsFamily: Family = {
  about: [VIOLATIONS, NOTICES],
  panels: [
    {
      id: 'violations',
      kind: 'lines',
      title: 'Protocol violations',
      description:
        'Calls per second in which a MUST of the revision was broken: work or messages after the server was told, ids used twice, answers to nobody, and others.',
      unit: 'cps',
      queries: [{ expr: perSecond(VIOLATIONS, { by: ['rule', 'revision'] }), legend: '{{rule}} {{revision}}' }],
      isStacked: true,
    },
    {
      id: 'notices',
      kind: 'lines',
      title: 'Protocol notices',
      description:
        'Calls per second with something surprising that breaks no MUST: streams that end without their result, stale messages, retry storms, endless reconnects.',
      unit: 'cps',
      queries: [{ expr: perSecond(NOTICES, { by: ['rule', 'revision'] }), legend: '{{rule}} {{revision}}' }],
      isStacked: true,
    },
  ],
  start(kit) {
    const meters: Readonly<Record<Severity, CounterMeter>> = { violation: kit.counter(VIOLATIONS), notice: kit.counter(NOTICES) }
    const touched = new Set<Revision | null>()
    let latest: string | null | undefined // what the call before said: most say the same
    function touchAll(revision: Revision | null, which: readonly Severity[]): void {
      for (const rule of RULE_IDS) {
        for (const severity of severitiesOf(rule, revision)) if (which.includes(severity)) touch(meters[severity], rule, revision)
      }
    }
    for (const revision of [...REVISIONS, null]) touchAll(revision, ['violation'])
    return {
      // Notices are many: those of a revision exist from its first call on.
      moments: {
        began({ revision: of }) {
          if (of === latest) return
          latest = of
          const revision = knownRevision(of)
          if (touched.has(revision)) return
          touched.add(revision)
          touchAll(revision, ['notice'])
        },
      },
      settled({ violations, notices, revision: of }) {
        if (violations.length === 0 && notices.length === 0) return
        const revision = revisionLabel(of)
        for (const rule of violations) meters.violation.inc({ rule, revision })
        for (const rule of notices) if (isRuleId(rule)) meters.notice.inc({ rule, revision })
      },
    }
  },
}

function severitiesOf(rule: RuleId, revision: Revision | null): readonly Severity[] {
  const severity = severityOf(rule, revision)
  if (severity === null) return []
  return severity === 'violation' && EITHER.includes(rule) ? ['violation', 'notice'] : [severity]
}

const touch = (meter: CounterMeter, rule: RuleId, revision: Revision | null): void =>
  meter.touch({ rule, revision: revisionLabel(revision) })
