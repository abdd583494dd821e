/** Calls that come again, and work that was done twice at once. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { perSecond, top } from './promql.ts'

const RETRIES: CounterAbout = {
  name: 'retries_total',
  type: 'counter',
  title: 'Retries',
  help: 'Requests that repeat one that was lost: reissued under a new request, resumed by Last-Event-ID, or a GET or listen stream reconnected.',
  labels: ['kind'],
  unit: 'count',
}
const DUPLICATES: CounterAbout = {
  name: 'duplicate_work_total',
  type: 'counter',
  title: 'Work done twice at once',
  help: 'Calls of tools/call that were issued again while the server still worked on the first. Work nobody reported is not in it.',
  labels: ['tool'],
  unit: 'count',
}

export const retriesFamily: Family = {
  about: [RETRIES, DUPLICATES],
  panels: [
    {
      id: 'retries',
      kind: 'lines',
      title: 'Retries',
      description: 'Requests per second that repeat one that was lost: the same call again, a stream resumed, or a stream opened anew.',
      unit: 'cps',
      queries: [{ expr: perSecond(RETRIES, { by: ['kind'] }), legend: '{{kind}}' }],
      isStacked: true,
    },
    {
      id: 'duplicate-work',
      kind: 'lines',
      title: 'Work done twice at once',
      description: 'Calls per second that were issued again while the server still worked on the first; the ten tools with most.',
      unit: 'cps',
      queries: [{ expr: top(perSecond(DUPLICATES, { by: ['tool'] })), legend: '{{tool}}' }],
    },
  ],
  start(kit) {
    const retries = kit.counter(RETRIES)
    const duplicates = kit.counter(DUPLICATES)
    for (const kind of ['reissued', 'resumed', 'reconnected']) retries.touch({ kind })
    return {
      tool: (tool) => duplicates.touch({ tool }),
      moments: {
        retry: (_, { how }) => retries.count(how),
        duplicate_work: (_, { call }) => duplicates.count(kit.tools.labelOf(call.tool)),
      },
    }
  },
}
