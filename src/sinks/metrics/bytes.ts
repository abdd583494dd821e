/** Body bytes, counted while they flow. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'

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
  start(kit) {
    const totals = { request: 0, seen: 0, sent: 0 }
    kit.countedElsewhere(BYTES, () => Object.entries(totals).map(([direction, total]) => [{ direction }, total]))
    return {
      moved(flow, bytes) {
        totals[flow] += bytes
      },
    }
  },
}
