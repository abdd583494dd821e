/** Reports of work: what became of each, and what is still waited for. */
import type { CounterAbout, GaugeAbout } from './about.ts'
import type { Family } from './family.ts'
import { now, perSecond } from './promql.ts'

const REPORTS: CounterAbout = {
  name: 'work_reports_total',
  type: 'counter',
  title: 'Work reports, by result',
  help: 'Reports of work by source and by what became of them; response: the result itself told the end, drain: an untold cut was read on.',
  labels: ['source', 'result'],
  unit: 'count',
}
const PENDING: GaugeAbout = {
  name: 'work_reports_pending',
  type: 'gauge',
  title: 'Calls waiting for a work report',
  help: 'Calls of tools/call whose response is over and whose work nobody has reported yet.',
  labels: [],
  unit: 'count',
}

export const workReportsFamily: Family = {
  about: [REPORTS, PENDING],
  panels: [
    {
      id: 'work-reports',
      kind: 'lines',
      title: 'Work reports',
      description:
        'Reports per second by source and by what became of them. ambiguous or unmatched ones are lost: look at how the server passes the trace on.',
      unit: 'cps',
      queries: [{ expr: perSecond(REPORTS, { by: ['source', 'result'] }), legend: '{{source}} {{result}}' }],
      isStacked: true,
    },
    {
      id: 'reports-pending',
      kind: 'lines',
      title: 'Calls waiting for a report',
      description: 'Calls whose stream is over and whose work nobody has reported yet; after the wait they are unobserved.',
      unit: 'short',
      queries: [{ expr: now(PENDING), legend: 'waiting' }],
    },
  ],
  start(kit) {
    const reports = kit.counter(REPORTS)
    let waiting = 0
    kit.gaugeReadAtScrape(PENDING, () => [[{}, waiting]])
    for (const source of ['otlp', 'probe']) {
      for (const result of ['matched', 'unmatched', 'ambiguous', 'refused', 'expired', 'duplicate']) reports.touch({ source, result })
    }
    for (const source of ['drain', 'response']) reports.touch({ source, result: 'matched' })
    return {
      reported: (source, result) => reports.count(source, result),
      moments: {
        drained: () => reports.count('drain', 'matched'),
        pending() {
          waiting += 1
        },
      },
      settled({ work }, { isToolCall, wasPending }) {
        if (wasPending) waiting -= 1
        if (isToolCall && work.source === 'response') reports.count('response', 'matched')
      },
    }
  },
}
