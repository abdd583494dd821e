/** What became of progress notifications. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { perSecond } from './promql.ts'

const PROGRESS: CounterAbout = {
  name: 'progress_notifications_total',
  type: 'counter',
  title: 'Progress notifications',
  help: 'Progress notifications from the server: forwarded at once, held and sent later, dropped by a fault, or lost with the stream.',
  labels: ['disposition'],
  unit: 'count',
}

export const progressFamily: Family = {
  about: [PROGRESS],
  panels: [
    {
      id: 'progress',
      kind: 'lines',
      title: 'Progress notifications',
      description:
        'Per second: forwarded at once, held and sent later, dropped by a fault, lost with the stream. Held progress keeps nobody’s timer alive.',
      unit: 'cps',
      queries: [{ expr: perSecond(PROGRESS, { by: ['disposition'] }), legend: '{{disposition}}' }],
      isStacked: true,
    },
  ],
  start(kit) {
    const counts = { forwarded: 0, held: 0, dropped: 0, lost: 0 }
    kit.countedElsewhere(PROGRESS, () => Object.entries(counts).map(([disposition, count]) => [{ disposition }, count]))
    return {
      moments: {
        progress(_, { how, count }) {
          counts[how] += count
        },
      },
    }
  },
}
