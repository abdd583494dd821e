/** How long clients wait and streams live, and the server's longest silence in them. */
import type { HistogramAbout } from './about.ts'
import type { Family } from './family.ts'
import { KINDS } from './words.ts'

const about = (name: string, title: string, help: string): HistogramAbout => ({
  ...{ name, title, help, type: 'histogram', labels: ['kind'], unit: 's', buckets: 'long', hasExemplars: true },
})
const HEADERS = about('time_to_headers_seconds', 'Time to headers', 'From the opening to the response head at the client.')
const FIRST_EVENT = about(
  'time_to_first_event_seconds',
  'Time to first event',
  'From the opening to the first SSE event at the client; comments are none.',
)
const DURATION = about('stream_duration_seconds', 'Stream duration', 'From the opening to the close of the response.')
const SILENCE = about(
  'stream_longest_silence_seconds',
  'Longest silence',
  'The longest time without a response byte from the server, counted from the request’s last byte.',
)

export const streamTimesFamily: Family = {
  about: [HEADERS, FIRST_EVENT, DURATION, SILENCE],
  start(kit) {
    const headers = kit.histogram(HEADERS)
    const firstEvent = kit.histogram(FIRST_EVENT)
    const duration = kit.histogram(DURATION)
    const silence = kit.histogram(SILENCE)
    for (const kind of KINDS) {
      for (const histogram of [headers, duration, silence]) histogram.touch({ kind })
      if (kind === 'call' || kind === 'subscription' || kind === 'get_sse') firstEvent.touch({ kind })
    }
    return {
      moment({ kind, traceId, openedAtMs, firstEventAtMs }, moment) {
        if (moment.is === 'first_event' && firstEventAtMs !== null) firstEvent.observe({ kind }, firstEventAtMs - openedAtMs, traceId)
      },
      fact(view, fact) {
        const { kind, traceId, openedAtMs } = view
        if (fact.kind === 'head' && fact.at === 'client') headers.observe({ kind }, fact.atMs - openedAtMs, traceId)
        else if (fact.kind === 'closed' && view.closedAtMs === fact.atMs) {
          duration.observe({ kind }, fact.atMs - openedAtMs, traceId)
          silence.observe({ kind }, view.longestSilenceMs, traceId)
        }
      },
    }
  },
}
