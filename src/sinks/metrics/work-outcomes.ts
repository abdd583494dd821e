/** What became of the work of each call. */
import type { CauseClass } from '../../core/ledger.ts'
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
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

export const workOutcomesFamily: Family = {
  about: [OUTCOME, BY_REVISION],
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
        byTool.inc({ tool: kit.tools.labelOf(tool), outcome: work.outcome, cause_class: causeClass })
        byRevision.inc({ outcome: work.outcome, revision: revisionLabel(revision) })
      },
    }
  },
}
