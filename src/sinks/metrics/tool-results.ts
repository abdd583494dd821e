/** What tools answered, and what never reached the client. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { inRange, perSecond, top, topBy } from './promql.ts'

const RESULTS: CounterAbout = {
  name: 'tool_results_total',
  type: 'counter',
  title: 'Tool results',
  help: 'Calls of tools/call by their result as it came from the server; none: no result came, or none that could be read.',
  labels: ['tool', 'result'],
  unit: 'count',
}
const UNDELIVERED: CounterAbout = {
  name: 'results_undelivered_total',
  type: 'counter',
  title: 'Results that never reached the client',
  help: 'Calls of tools/call whose result came from the server and was not sent to the client.',
  labels: ['tool'],
  unit: 'count',
}

export const toolResultsFamily: Family = {
  about: [RESULTS, UNDELIVERED],
  panels: [
    {
      id: 'undelivered-in-range',
      kind: 'stat',
      title: 'Results never delivered',
      description: 'Calls in the time shown whose result came from the server and was not sent to the client: paid for and thrown away.',
      unit: 'short',
      queries: [{ expr: inRange(UNDELIVERED), legend: '' }],
      ifNone: '0',
      alarm: { from: 1 },
    },
    {
      id: 'undelivered',
      kind: 'lines',
      title: 'Results never delivered, by tool',
      description: 'Results per second that came from the server and were not sent to the client; the ten highest.',
      unit: 'cps',
      queries: [{ expr: top(perSecond(UNDELIVERED, { by: ['tool'] })), legend: '{{tool}}' }],
    },
    {
      id: 'tool-results',
      kind: 'table',
      title: 'Tool results',
      description:
        'Calls in the time shown by the result the server gave; none: none came, or none that could be read. The ten tools with most.',
      unit: 'short',
      queries: [{ expr: topBy('tool', RESULTS, { by: ['tool', 'result'] }), legend: '' }],
      pivot: { rows: 'tool', columns: 'result' },
    },
  ],
  start(kit) {
    const results = kit.counter(RESULTS)
    const undelivered = kit.counter(UNDELIVERED)
    return {
      tool(tool) {
        for (const result of ['ok', 'tool_error', 'protocol_error', 'none']) results.touch({ tool, result })
        undelivered.touch({ tool })
      },
      settled({ tool: name, result }, { isToolCall, toolResult }) {
        if (!isToolCall) return
        const tool = kit.tools.labelOf(name)
        results.count(tool, toolResult)
        if (result === 'seen') undelivered.count(tool)
      },
    }
  },
}
