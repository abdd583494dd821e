/** Tool calls by how their stream ended, and those left without their result. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { perSecond, top, topBy } from './promql.ts'

const CLOSED: CounterAbout = {
  name: 'calls_closed_total',
  type: 'counter',
  title: 'Tool calls closed, by cause',
  help: 'Calls of tools/call whose response stream is over, by what ended it.',
  labels: ['tool', 'cause'],
  unit: 'count',
}
const ABANDONED: CounterAbout = {
  name: 'calls_abandoned_total',
  type: 'counter',
  title: 'Tool calls abandoned',
  help: 'Calls of tools/call given up without their result, by a close or (session revisions) by notifications/cancelled.',
  labels: ['tool', 'by'],
  unit: 'count',
}

export const callsFamily: Family = {
  about: [CLOSED, ABANDONED],
  panels: [
    {
      id: 'calls-by-cause',
      kind: 'table',
      title: 'Tool calls closed, by tool and cause',
      description: 'Calls of tools/call whose stream ended in the time shown; the ten tools with most.',
      unit: 'short',
      queries: [{ expr: topBy('tool', CLOSED, { by: ['tool', 'cause'] }), legend: '' }],
      pivot: { rows: 'tool', columns: 'cause' },
    },
    {
      id: 'calls-abandoned',
      kind: 'lines',
      title: 'Tool calls abandoned',
      description:
        'Calls given up without their result, per second: by a close, or in session revisions by notifications/cancelled. The ten highest.',
      unit: 'cps',
      queries: [{ expr: top(perSecond(ABANDONED, { by: ['tool', 'by'] })), legend: '{{tool}} ({{by}})' }],
    },
  ],
  start(kit) {
    const closed = kit.counter(CLOSED)
    const abandoned = kit.counter(ABANDONED)
    return {
      causes({ kinds }) {
        for (const tool of kit.toolLabels()) for (const cause of kinds) closed.touch({ tool, cause })
      },
      tool(tool) {
        for (const cause of kit.possible.now.kinds) closed.touch({ tool, cause })
        for (const by of ['close', 'notification']) abandoned.touch({ tool, by })
      },
      facts: {
        closed({ calls, closedAtMs }, { atMs, cause }) {
          if (closedAtMs !== atMs) return
          for (const { method, tool } of calls) {
            if (method !== 'tools/call') continue
            closed.count(kit.tools.labelOf(tool), cause.kind)
            kit.tools.countOverflow(tool)
          }
        },
      },
      moments: {
        abandoned(_, { call, by }) {
          if (call.method === 'tools/call') abandoned.count(kit.tools.labelOf(call.tool), by)
        },
      },
    }
  },
}
