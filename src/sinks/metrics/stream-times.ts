/** How long clients wait and streams live, and the server's longest silence in them. */
import type { HistogramAbout } from './about.ts'
import type { Family } from './family.ts'
import { LIMIT } from './path.ts'
import { heat, medianAndTail, now, quantile } from './promql.ts'
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
const BEFORE = { offset: '$before' }
/** What waits for a tool; other kinds are short, or open for good. */
const CALLS = { where: { kind: 'call' } }

export const streamTimesFamily: Family = {
  about: [HEADERS, FIRST_EVENT, DURATION, SILENCE],
  panels: [
    {
      id: 'time-to-headers',
      kind: 'lines',
      title: 'Time to headers',
      description:
        'From the opening of a call to its response head at the client. A silent MCP tool sends none: this is what header limits see.',
      unit: 's',
      queries: medianAndTail(HEADERS, CALLS),
    },
    {
      id: 'time-to-first-event',
      kind: 'lines',
      title: 'Time to first event',
      description: 'From the opening of a call to its first SSE event at the client; comments are none.',
      unit: 's',
      queries: medianAndTail(FIRST_EVENT, CALLS),
    },
    {
      id: 'stream-duration-heat',
      kind: 'heatmap',
      title: 'Stream duration',
      description: 'How long the streams of calls lived. A bright band that stays at one height is a limit somebody set.',
      unit: 's',
      queries: [{ expr: heat(DURATION, CALLS), legend: '{{le}}' }],
    },
    {
      id: 'stream-duration-before',
      kind: 'lines',
      title: 'Stream duration against before',
      description: 'The median life of calls’ streams, now and as long ago as chosen above.',
      unit: 's',
      queries: [
        { expr: quantile(0.5, DURATION, CALLS), legend: 'now', hasExemplars: true },
        { expr: quantile(0.5, DURATION, { ...CALLS, ...BEFORE }), legend: '$before ago' },
      ],
    },
    {
      id: 'silence-against-limit',
      kind: 'lines',
      title: 'Longest silence against the limit in force',
      description: 'The longest silence of calls’ streams, beside the shortest idle limit of the path. Where they meet, calls are cut.',
      unit: 's',
      queries: [
        ...medianAndTail(SILENCE, CALLS),
        { expr: now(LIMIT, 'min', { by: ['hop'], where: { limit: 'idle' } }), legend: 'limit ({{hop}})' },
      ],
    },
  ],
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
      moments: {
        first_event({ kind, traceId, openedAtMs, firstEventAtMs }) {
          if (firstEventAtMs !== null) firstEvent.observe(kind, firstEventAtMs - openedAtMs, traceId)
        },
      },
      facts: {
        head({ kind, traceId, openedAtMs }, { at, atMs }) {
          if (at === 'client') headers.observe(kind, atMs - openedAtMs, traceId)
        },
        closed({ kind, traceId, openedAtMs, closedAtMs, longestSilenceMs }, { atMs }) {
          if (closedAtMs !== atMs) return
          duration.observe(kind, atMs - openedAtMs, traceId)
          silence.observe(kind, longestSilenceMs, traceId)
        },
      },
    }
  },
}
