/** What draining shows: how long the server still talked after a cut it was not told of. Never mixed with measured work. */
import type { LedgerView } from '../../core/ledger.ts'
import { closedByOf } from '../../core/verdict.ts'
import type { HistogramAbout } from './about.ts'
import type { Family } from './family.ts'
import { quantile, top } from './promql.ts'

const DRAINED: HistogramAbout = {
  name: 'drained_after_cut_seconds',
  type: 'histogram',
  title: 'Drained after a cut',
  help: 'From a cut that the server was not told of to its result, or to the end of its answer: what would have been, not work that was.',
  labels: ['tool'],
  unit: 's',
  buckets: 'short',
}

export const drainedFamily: Family = {
  about: [DRAINED],
  panels: [
    {
      id: 'drained',
      kind: 'lines',
      title: 'Drained after a cut',
      description:
        'How long the server would still have talked after a cut it was not told of: what would have been, never mixed with measured work.',
      unit: 's',
      queries: [{ expr: top(quantile(0.5, DRAINED, { by: ['tool'] })), legend: '{{tool}}' }],
    },
  ],
  start(kit) {
    const drained = kit.histogram(DRAINED)
    // Cut by us since the last scrape: those whose server has not been told of it by the next are draining, and need their series.
    const cut = new Set<LedgerView>()
    kit.beforeScrape(() => {
      for (const { calls, toldAtMs } of cut) {
        if (toldAtMs !== null) continue
        for (const { method, tool } of calls) if (method === 'tools/call') drained.touch({ tool: kit.tools.labelOf(tool) })
      }
      cut.clear()
    })
    return {
      facts: {
        closed(view, { cause }) {
          if (closedByOf(cause) === 'sidecar') cut.add(view)
        },
        told: (view) => void cut.delete(view),
      },
      moments: { drained: (_, { call, forMs }) => drained.observe(kit.tools.labelOf(call.tool), forMs) },
    }
  },
}
