/** How long tools work, and how their work lies to the abandonment. Two histograms for after and before: a sum that falls reads as a reset. */
import type { HistogramAbout } from './about.ts'
import type { Family } from './family.ts'
import { heat, quantile, top } from './promql.ts'

const about = (name: string, title: string, help: string): HistogramAbout => ({
  ...{ name, title, help, type: 'histogram', labels: ['tool'], unit: 's', buckets: 'short' },
})
const DURATION = about('work_duration_seconds', 'Work per call', 'From the start of the work to its end, of calls whose both are known.')
const AFTER = about(
  'work_after_close_seconds',
  'Work after the abandonment',
  'How long after the abandonment the work ended, of abandoned calls whose work ended after it.',
)
const BEFORE_CLOSE = about(
  'work_before_close_seconds',
  'Work done before the abandonment',
  'How long before the abandonment the work had ended, of abandoned calls whose work ended before it.',
)

export const workTimesFamily: Family = {
  about: [DURATION, AFTER, BEFORE_CLOSE],
  panels: [
    {
      id: 'work-duration',
      kind: 'lines',
      title: 'Work per call',
      description:
        'How long tools work, 95 % of their calls; the ten longest. What is longer than the shortest limit of the path is at risk.',
      unit: 's',
      queries: [{ expr: top(quantile(0.95, DURATION, { by: ['tool'] })), legend: '{{tool}}' }],
    },
    {
      id: 'work-after-close-heat',
      kind: 'heatmap',
      title: 'Work after the abandonment',
      description: 'How long servers worked on after the client was gone. The lowest row is a server that obeys; all above it is waste.',
      unit: 's',
      queries: [{ expr: heat(AFTER), legend: '{{le}}' }],
    },
    {
      id: 'work-after-close',
      kind: 'lines',
      title: 'Work after the abandonment, by tool',
      description: '95 % of the abandoned calls whose work outlived them; the ten longest.',
      unit: 's',
      queries: [{ expr: top(quantile(0.95, AFTER, { by: ['tool'] })), legend: '{{tool}}' }],
    },
    {
      id: 'work-before-close',
      kind: 'lines',
      title: 'Work done before the abandonment',
      description:
        'How long the work had been done when the stream ended without its result: somebody held the result back. Median, the ten longest.',
      unit: 's',
      queries: [{ expr: top(quantile(0.5, BEFORE_CLOSE, { by: ['tool'] })), legend: '{{tool}}' }],
    },
  ],
  start(kit) {
    const duration = kit.histogram(DURATION)
    const after = kit.histogram(AFTER)
    const before = kit.histogram(BEFORE_CLOSE)
    return {
      tool(tool) {
        for (const histogram of [duration, after, before]) histogram.touch({ tool })
      },
      settled({ tool: name, work }, { isToolCall, beforeCloseMs }) {
        if (!isToolCall || work.endedMs === null) return
        const tool = kit.tools.labelOf(name)
        if (work.startedMs !== null) duration.observe(tool, work.endedMs - work.startedMs)
        if (beforeCloseMs !== null) before.observe(tool, beforeCloseMs)
        else if (work.afterCloseMs !== null && work.afterCloseMs > 0) after.observe(tool, work.afterCloseMs)
      },
    }
  },
}
