/** What is held here, and for how long. */
import type { GaugeAbout, HistogramAbout } from './about.ts'
import type { Family } from './family.ts'
import { BY_SPLIT, heat, now, top } from './promql.ts'

const BUFFERED: GaugeAbout = {
  name: 'buffered_bytes',
  type: 'gauge',
  title: 'Bytes held',
  help: 'Bytes held by hops and faults, by write buffers and in queued requests.',
  labels: [],
  unit: 'bytes',
}
const HOLD: HistogramAbout = {
  name: 'buffer_hold_seconds',
  type: 'histogram',
  title: 'Time in a buffer',
  help: 'How long a hop or fault held bytes before it let them go.',
  labels: [],
  unit: 's',
  buckets: 'short',
}

export const bufferFamily: Family = {
  about: [BUFFERED, HOLD],
  panels: [
    {
      id: 'held-bytes',
      kind: 'lines',
      title: 'Bytes held',
      description:
        'Bytes that hops and faults, write buffers and queued requests hold, in the ten instances, pods or namespaces (as chosen above) with most.',
      unit: 'bytes',
      queries: [{ expr: top(now(BUFFERED, 'sum', { by: BY_SPLIT })), legend: '{{$split}}' }],
    },
    {
      id: 'buffer-hold',
      kind: 'heatmap',
      title: 'Time in a buffer',
      description: 'How long hops and faults held bytes before they let them go. What is held here is silence to every hop outside.',
      unit: 's',
      queries: [{ expr: heat(HOLD), legend: '{{le}}' }],
    },
  ],
  start(kit) {
    const hold = kit.histogram(HOLD)
    kit.gaugeReadAtScrape(BUFFERED, () => [[{}, kit.readings.bufferedBytes()]])
    return {
      facts: {
        noted(_, { note }) {
          if (note.is === 'held') hold.observe('', note.forMs)
        },
      },
    }
  },
}
