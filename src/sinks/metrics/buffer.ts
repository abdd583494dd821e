/** What is held here, and for how long. */
import type { GaugeAbout, HistogramAbout } from './about.ts'
import type { Family } from './family.ts'

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
  start(kit) {
    const hold = kit.histogram(HOLD)
    kit.gaugeReadAtScrape(BUFFERED, () => [[{}, kit.readings.bufferedBytes()]])
    return {
      fact(_, fact) {
        if (fact.kind === 'noted' && fact.note.is === 'held') hold.observe({}, fact.note.forMs)
      },
    }
  },
}
