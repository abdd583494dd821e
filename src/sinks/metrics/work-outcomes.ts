/** What became of the work of each call. */
import type { CauseClass } from '../../core/ledger.ts'
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { BY_SPLIT, inRange, perSecond, share, top, topBy } from './promql.ts'
import { OUTCOMES, REVISION_LABELS, revisionLabel } from './words.ts'

const OUTCOME: CounterAbout = {
  name: 'work_outcomes_total',
  type: 'counter',
  title: 'Work outcomes',
  help: 'Calls of tools/call by what became of their work, and by who ended the stream. unobserved: nobody reported, which is not zero waste.',
  labels: ['tool', 'outcome', 'cause_class'],
  unit: 'count',
}
const BY_REVISION: CounterAbout = {
  name: 'work_outcomes_by_revision_total',
  type: 'counter',
  title: 'Work outcomes, by protocol revision',
  help: 'Calls of tools/call by what became of their work, and by the revision that says whether a close cancels.',
  labels: ['outcome', 'revision'],
  unit: 'count',
}
const ORPHANED = inRange(OUTCOME, { where: { outcome: 'orphaned' } })

export const workOutcomesFamily: Family = {
  about: [OUTCOME, BY_REVISION],
  panels: [
    {
      id: 'orphaned-share',
      kind: 'stat',
      title: 'Abandoned calls that worked on',
      description:
        'Of the calls that were abandoned at work and reported, the share whose work went on past the grace: cancellation that did not reach the work.',
      unit: 'percentunit',
      queries: [
        {
          expr: share(ORPHANED, `${ORPHANED} + ${inRange(OUTCOME, { where: { outcome: 'stopped' } })}`),
          legend: '',
        },
      ],
      ifNone: 'none abandoned',
      alarm: { from: 0.1 },
    },
    {
      id: 'unobserved-share',
      kind: 'stat',
      title: 'Unobserved',
      description: 'Share of calls whose work nobody reported. It is not zero waste: it is not known.',
      unit: 'percentunit',
      queries: [{ expr: share(inRange(OUTCOME, { where: { outcome: 'unobserved' } }), inRange(OUTCOME)), legend: '' }],
      ifNone: 'no calls',
      alarm: { from: 0.5 },
    },
    {
      id: 'outcomes',
      kind: 'lines',
      title: 'Work outcomes',
      description: 'Calls per second by what became of their work.',
      unit: 'cps',
      queries: [{ expr: perSecond(OUTCOME, { by: ['outcome'] }), legend: '{{outcome}}' }],
      isStacked: true,
    },
    {
      id: 'outcomes-by-tool',
      kind: 'table',
      title: 'Work outcomes, by tool',
      description: 'Calls in the time shown by what became of their work; the ten tools with most calls.',
      unit: 'short',
      queries: [{ expr: topBy('tool', OUTCOME, { by: ['tool', 'outcome'] }), legend: '' }],
      pivot: { rows: 'tool', columns: 'outcome' },
    },
    {
      id: 'outcomes-by-class',
      kind: 'table',
      title: 'Work outcomes, by who ended the stream',
      description: 'Calls in the time shown by what became of their work, and by who ended their stream.',
      unit: 'short',
      queries: [{ expr: inRange(OUTCOME, { by: ['cause_class', 'outcome'] }), legend: '' }],
      pivot: { rows: 'cause_class', columns: 'outcome' },
    },
    {
      id: 'outcomes-by-revision',
      kind: 'table',
      title: 'Work outcomes, by protocol revision',
      description: 'In 2026-07-28 a close cancels the call; in the session revisions it does not, and only notifications/cancelled does.',
      unit: 'short',
      queries: [{ expr: inRange(BY_REVISION, { by: ['revision', 'outcome'] }), legend: '' }],
      pivot: { rows: 'revision', columns: 'outcome' },
    },
    {
      id: 'unobserved-by-split',
      kind: 'lines',
      title: 'Unobserved calls, most affected',
      description: 'Calls per second whose work nobody reported, in the ten instances, pods or namespaces (as chosen above) with most.',
      unit: 'cps',
      queries: [{ expr: top(perSecond(OUTCOME, { by: BY_SPLIT, where: { outcome: 'unobserved' } })), legend: '{{$split}}' }],
    },
  ],
  start(kit) {
    const byTool = kit.counter(OUTCOME)
    const byRevision = kit.counter(BY_REVISION)
    for (const outcome of OUTCOMES) for (const revision of REVISION_LABELS) byRevision.touch({ outcome, revision })
    function touch(tools: readonly string[], classes: readonly CauseClass[]): void {
      for (const tool of tools) {
        for (const cause_class of classes) {
          // A task is told by its result: seldom by a stream that somebody ended.
          const outcomes = cause_class === 'complete' ? OUTCOMES : OUTCOMES.filter((outcome) => outcome !== 'delegated')
          for (const outcome of outcomes) byTool.touch({ tool, outcome, cause_class })
        }
      }
    }
    return {
      tool: (tool) => touch([tool], kit.possible.now.classes),
      causes: ({ classes }) => touch(kit.toolLabels(), classes),
      settled({ tool, revision, work }, { isToolCall, causeClass }) {
        if (!isToolCall) return
        byTool.count(kit.tools.labelOf(tool), work.outcome, causeClass)
        byRevision.count(work.outcome, revisionLabel(revision))
      },
    }
  },
}
