/** How long tools work, and how their work lies to the abandonment. Two histograms for after and before: a sum that falls reads as a reset. */
import type { HistogramAbout } from './about.ts'
import type { Family } from './family.ts'

const about = (name: string, title: string, help: string): HistogramAbout => ({
  ...{ name, title, help, type: 'histogram', labels: ['tool'], unit: 's', buckets: 'short' },
})
const DURATION = about('work_duration_seconds', 'Work per call', 'From the start of the work to its end, of calls whose both are known.')
const AFTER = about(
  'work_after_close_seconds',
  'Work after the abandonment',
  'How long after the abandonment the work ended, of abandoned calls whose work ended after it.',
)
const BEFORE = about(
  'work_before_close_seconds',
  'Work done before the abandonment',
  'How long before the abandonment the work had ended, of abandoned calls whose work ended before it.',
)

export const workTimesFamily: Family = {
  about: [DURATION, AFTER, BEFORE],
  start(kit) {
    const duration = kit.histogram(DURATION)
    const after = kit.histogram(AFTER)
    const before = kit.histogram(BEFORE)
    return {
      tool(tool) {
        for (const histogram of [duration, after, before]) histogram.touch({ tool })
      },
      settled({ tool: name, work }, { isToolCall, beforeCloseMs }) {
        if (!isToolCall || work.endedMs === null) return
        const tool = kit.tools.labelOf(name)
        if (work.startedMs !== null) duration.observe({ tool }, work.endedMs - work.startedMs)
        if (beforeCloseMs !== null) before.observe({ tool }, beforeCloseMs)
        else if (work.afterCloseMs !== null && work.afterCloseMs > 0) after.observe({ tool }, work.afterCloseMs)
      },
    }
  },
}
