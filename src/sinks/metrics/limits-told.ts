/** Limits of the sidecar's own telling that were reached. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { perSecond } from './promql.ts'

const OVERFLOW: CounterAbout = {
  name: 'label_overflow_total',
  type: 'counter',
  title: 'Names told as "other"',
  help: 'How often a name had no label of its own: beyond the limit, or a tool that the server neither listed nor answered.',
  labels: ['label'],
  unit: 'count',
}
const DROPPED: CounterAbout = {
  name: 'events_dropped_total',
  type: 'counter',
  title: 'Event lines dropped',
  help: 'Lines that were not written to the events file: its limit was reached, or it could not be written.',
  labels: [],
  unit: 'count',
}

export const limitsToldFamily: Family = {
  about: [OVERFLOW, DROPPED],
  panels: [
    {
      id: 'names-told-as-other',
      kind: 'lines',
      title: 'Names told as "other", event lines dropped',
      description:
        'Limits of the sidecar’s own telling, per second: names beyond metrics.tools or never listed by the server, and lines the events file did not take.',
      unit: 'cps',
      queries: [
        { expr: perSecond(OVERFLOW, { by: ['label'] }), legend: '{{label}} as other' },
        { expr: perSecond(DROPPED), legend: 'lines dropped' },
      ],
    },
  ],
  start(kit) {
    kit.countedElsewhere(OVERFLOW, () => [
      [{ label: 'tool' }, kit.tools.overflows()],
      [{ label: 'fault' }, kit.faults.overflows()],
    ])
    kit.countedElsewhere(DROPPED, () => [[{}, kit.readings.eventsDropped()]])
    return {}
  },
}
