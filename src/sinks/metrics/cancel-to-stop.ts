/** How fast servers stop once they are told. */
import type { HistogramAbout } from './about.ts'
import type { Family } from './family.ts'
import { medianAndTail } from './promql.ts'

const STOP: HistogramAbout = {
  name: 'cancel_to_stop_seconds',
  type: 'histogram',
  title: 'From cancel to stop',
  help: 'From the moment the server was told to the end of the work, of calls whose work stopped within the grace.',
  labels: ['trigger'],
  unit: 's',
  buckets: 'short',
  hasExemplars: true,
}

export const cancelToStopFamily: Family = {
  about: [STOP],
  panels: [
    {
      id: 'cancel-to-stop',
      kind: 'lines',
      title: 'From cancel to stop',
      description: 'How fast work stops once the server is told, of calls that stopped within the grace. Those that did not are orphans.',
      unit: 's',
      queries: medianAndTail(STOP, { by: ['trigger'] }),
    },
  ],
  start(kit) {
    const stop = kit.histogram(STOP)
    for (const trigger of ['close', 'notification']) stop.touch({ trigger })
    return {
      settled({ abandonedBy, traceId }, { isToolCall, cancelToStopMs }) {
        if (isToolCall && abandonedBy !== null && cancelToStopMs !== null) stop.observe(abandonedBy, cancelToStopMs, traceId)
      },
    }
  },
}
