/** Orphan work: what the server did for nobody. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { revisionLabel } from './words.ts'

const ORPHAN: CounterAbout = {
  name: 'orphan_work_seconds_total',
  type: 'counter',
  title: 'Orphan work',
  help: 'Seconds of work past the abandonment, of calls whose work went on by more than the grace. Work nobody reported is not in it.',
  labels: ['tool', 'revision'],
  unit: 's',
}

export const orphanWorkFamily: Family = {
  about: [ORPHAN],
  start(kit) {
    const orphan = kit.counter(ORPHAN)
    return {
      moment({ calls, revision }, moment) {
        if (moment.is !== 'began' && moment.is !== 'tools') return
        for (const { method, tool } of calls) {
          if (method === 'tools/call') orphan.touch({ tool: kit.tools.labelOf(tool), revision: revisionLabel(revision) })
        }
      },
      settled({ tool, revision }, { isToolCall, orphanMs }) {
        if (isToolCall && orphanMs > 0) orphan.inc({ tool: kit.tools.labelOf(tool), revision: revisionLabel(revision) }, orphanMs / 1_000)
      },
    }
  },
}
