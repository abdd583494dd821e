/** Orphan work: what the server did for nobody. */
import type { LedgerView } from '../../core/ledger.ts'
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { BY_SPLIT, inRange, perSecond, top } from './promql.ts'
import { revisionLabel } from './words.ts'

const ORPHAN: CounterAbout = {
  name: 'orphan_work_seconds_total',
  type: 'counter',
  title: 'Orphan work',
  help: 'Seconds of work past the abandonment, of calls whose work went on by more than the grace. Work nobody reported is not in it.',
  labels: ['tool', 'revision'],
  unit: 's',
}
const BEFORE = { offset: '$before' }

export const orphanWorkFamily: Family = {
  about: [ORPHAN],
  panels: [
    {
      id: 'orphan-in-range',
      kind: 'stat',
      title: 'Orphan work',
      description:
        'Seconds servers worked for nobody in the time shown: past the abandonment, of calls that went on by more than the grace.',
      unit: 's',
      queries: [{ expr: inRange(ORPHAN), legend: '' }],
      ifNone: '0',
      alarm: { from: 1 },
    },
    {
      id: 'orphan-by-tool',
      kind: 'lines',
      title: 'Orphan work, by tool',
      description: 'Seconds of work for nobody per second; 1: one worker is busy all the time for clients that are gone. The ten highest.',
      unit: 'short',
      queries: [{ expr: top(perSecond(ORPHAN, { by: ['tool'] })), legend: '{{tool}}' }],
      isStacked: true,
    },
    {
      id: 'orphan-by-split',
      kind: 'lines',
      title: 'Orphan work, most affected',
      description: 'Seconds of work for nobody per second in the ten instances, pods or namespaces (as chosen above) with most.',
      unit: 'short',
      queries: [{ expr: top(perSecond(ORPHAN, { by: BY_SPLIT })), legend: '{{$split}}' }],
    },
    {
      id: 'orphan-before',
      kind: 'lines',
      title: 'Orphan work against before',
      description: 'Seconds of work for nobody per second, now and as long ago as chosen above.',
      unit: 'short',
      queries: [
        { expr: perSecond(ORPHAN), legend: 'now' },
        { expr: perSecond(ORPHAN, BEFORE), legend: '$before ago' },
      ],
    },
  ],
  start(kit) {
    const orphan = kit.counter(ORPHAN)
    function touch({ calls, revision }: LedgerView): void {
      for (const { method, tool } of calls) {
        if (method === 'tools/call') orphan.touchAt(kit.tools.labelOf(tool), revisionLabel(revision))
      }
    }
    return {
      moments: { began: touch, tools: touch },
      settled({ tool, revision }, { isToolCall, orphanMs }) {
        if (isToolCall && orphanMs > 0) orphan.inc({ tool: kit.tools.labelOf(tool), revision: revisionLabel(revision) }, orphanMs / 1_000)
      },
    }
  },
}
