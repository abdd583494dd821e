/** How long the server had been silent when the stream closed: a peak beside a known limit names the hop that cut. */
import { closedByOf } from '../../core/verdict.ts'
import type { HistogramAbout } from './about.ts'
import type { Family } from './family.ts'
import { heat, medianAndTail, observedPerSecond } from './promql.ts'
import { CLOSERS } from './words.ts'

const SILENCE: HistogramAbout = {
  name: 'silence_at_close_seconds',
  type: 'histogram',
  title: 'Silence at the close, by who closed',
  help: 'How long no response byte had come from the server when the response ended; streams whose request was never whole are left out.',
  labels: ['closed_by'],
  unit: 's',
  buckets: 'long',
  hasExemplars: true,
}

export const silenceAtCloseFamily: Family = {
  about: [SILENCE],
  panels: [
    {
      id: 'silence-at-close',
      kind: 'lines',
      title: 'Silence at the close',
      description:
        'How long the server had been silent when the stream closed. A median beside 60 s, closed by the client or the server, names a hop outside.',
      unit: 's',
      queries: medianAndTail(SILENCE, { by: ['closed_by'] }),
    },
    {
      id: 'silence-at-close-heat',
      kind: 'heatmap',
      title: 'Silence at the close, all',
      description:
        'How long the server had been silent when streams closed, whoever closed them. Bands beside 30, 55, 60, 100, 120 s are known limits.',
      unit: 's',
      queries: [{ expr: heat(SILENCE), legend: '{{le}}' }],
    },
    {
      id: 'closes-by-who',
      kind: 'lines',
      title: 'Streams closed, by who',
      description: 'Responses that ended per second: by the server (complete ones too), by the client, or by this sidecar.',
      unit: 'cps',
      queries: [{ expr: observedPerSecond(SILENCE, { by: ['closed_by'] }), legend: '{{closed_by}}' }],
      isStacked: true,
    },
  ],
  start(kit) {
    const silence = kit.histogram(SILENCE)
    for (const closed_by of CLOSERS) silence.touch({ closed_by })
    return {
      facts: {
        closed({ closedAtMs, silenceAtCloseMs, traceId }, { atMs, cause }) {
          if (closedAtMs === atMs && silenceAtCloseMs !== null) silence.observe(closedByOf(cause), silenceAtCloseMs, traceId)
        },
      },
    }
  },
}
