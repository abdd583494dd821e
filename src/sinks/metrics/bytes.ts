/** Body bytes, counted while they flow. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { perSecond } from './promql.ts'

const BYTES: CounterAbout = {
  name: 'bytes_total',
  type: 'counter',
  title: 'Bytes',
  help: 'Body bytes: request (from clients), seen (from the server), sent (to clients).',
  labels: ['direction'],
  unit: 'bytes',
}

export const bytesFamily: Family = {
  about: [BYTES],
  panels: [
    {
      id: 'bytes',
      kind: 'lines',
      title: 'Bytes',
      description:
        'Body bytes per second: from clients (request), from the server (seen), to clients (sent). Seen without sent is held or lost.',
      unit: 'Bps',
      queries: [{ expr: perSecond(BYTES, { by: ['direction'] }), legend: '{{direction}}' }],
    },
  ],
  start(kit) {
    const totals = { request: 0, seen: 0, sent: 0 }
    kit.countedElsewhere(BYTES, () => Object.entries(totals).map(([direction, total]) => [{ direction }, total]))
    return {
      facts: {
        moved(_, { flow, bytes }) {
          if (flow !== 'passed') totals[flow] += bytes
          else {
            totals.seen += bytes
            totals.sent += bytes
          }
        },
      },
    }
  },
}
