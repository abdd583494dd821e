/** Work after the abandonment, by what ended the stream. */
import type { CounterAbout, HistogramAbout } from './about.ts'
import type { Family } from './family.ts'
import { medianAndTail, perSecond } from './promql.ts'

const AFTER: HistogramAbout = {
  name: 'work_after_close_by_cause_seconds',
  type: 'histogram',
  title: 'Work after the abandonment, by cause',
  help: 'How long after the abandonment the work ended, by what ended the stream.',
  labels: ['cause'],
  unit: 's',
  buckets: 'long',
  hasExemplars: true,
}
const ORPHAN: CounterAbout = {
  name: 'orphan_work_seconds_by_cause_total',
  type: 'counter',
  title: 'Orphan work, by cause',
  help: 'Seconds of work past the abandonment, of calls whose work went on by more than the grace, by what ended the stream.',
  labels: ['cause'],
  unit: 's',
}

export const workByCauseFamily: Family = {
  about: [AFTER, ORPHAN],
  panels: [
    {
      id: 'work-after-close-by-cause',
      kind: 'lines',
      title: 'Work after the abandonment, by cause',
      description: 'How long the work went on after the stream was gone, by what ended the stream.',
      unit: 's',
      queries: medianAndTail(AFTER, { by: ['cause'] }),
    },
    {
      id: 'orphan-by-cause',
      kind: 'lines',
      title: 'Orphan work, by cause',
      description: 'Seconds of work for nobody per second, by what ended the stream.',
      unit: 'short',
      queries: [{ expr: perSecond(ORPHAN, { by: ['cause'] }), legend: '{{cause}}' }],
      isStacked: true,
    },
  ],
  start(kit) {
    const after = kit.histogram(AFTER)
    const orphan = kit.counter(ORPHAN)
    return {
      causes({ kinds }) {
        // An unreachable server does no work.
        for (const cause of kinds.filter((kind) => kind !== 'unreachable')) {
          orphan.touch({ cause })
          after.touch({ cause })
        }
      },
      settled({ cause, work, traceId }, { isToolCall, orphanMs }) {
        if (!isToolCall || cause === null) return
        if (work.afterCloseMs !== null && work.afterCloseMs > 0) after.observe(cause, work.afterCloseMs, traceId)
        if (orphanMs > 0) orphan.inc({ cause }, orphanMs / 1_000)
      },
    }
  },
}
