/** How long the server had been silent when the stream closed: a peak beside a known limit names the hop that cut. */
import { closedByOf } from '../../core/verdict.ts'
import type { HistogramAbout } from './about.ts'
import type { Family } from './family.ts'
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
  start(kit) {
    const silence = kit.histogram(SILENCE)
    for (const closed_by of CLOSERS) silence.touch({ closed_by })
    return {
      fact(view, fact) {
        if (fact.kind !== 'closed' || view.closedAtMs !== fact.atMs || view.silenceAtCloseMs === null) return
        silence.observe({ closed_by: closedByOf(fact.cause) }, view.silenceAtCloseMs, view.traceId)
      },
    }
  },
}
