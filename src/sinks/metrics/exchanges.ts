/** HTTP exchanges: opened, open, closed and how. */
import type { CounterAbout, GaugeAbout } from './about.ts'
import type { Family } from './family.ts'
import { BY_SPLIT, inRange, now, perSecond, top } from './promql.ts'
import { KINDS, possibleCloses } from './words.ts'

const OPENED: CounterAbout = {
  name: 'exchanges_opened_total',
  type: 'counter',
  title: 'Exchanges opened',
  help: 'HTTP exchanges and WebSocket sessions opened, by what they ask.',
  labels: ['kind'],
  unit: 'count',
}
const OPEN: GaugeAbout = {
  name: 'exchanges_open',
  type: 'gauge',
  title: 'Exchanges open',
  help: 'Exchanges whose response towards the client is not over.',
  labels: ['kind'],
  unit: 'count',
}
const CLOSED: CounterAbout = {
  name: 'exchanges_closed_total',
  type: 'counter',
  title: 'Exchanges closed, by cause',
  help: 'Exchanges whose response is over, by what was answered, what ended it, and how the client got the ending.',
  labels: ['kind', 'answer', 'cause', 'ending'],
  unit: 'count',
}
const BEFORE = { offset: '$before' }

export const exchangesFamily: Family = {
  about: [OPENED, OPEN, CLOSED],
  panels: [
    {
      id: 'open-now',
      kind: 'stat',
      title: 'Streams open',
      description: 'Exchanges whose response towards the client is not over, over all sidecars.',
      unit: 'short',
      queries: [{ expr: now(OPEN), legend: '' }],
    },
    {
      id: 'open',
      kind: 'lines',
      title: 'Streams open, by kind',
      description: 'Exchanges whose response towards the client is not over.',
      unit: 'short',
      queries: [{ expr: now(OPEN, 'sum', { by: ['kind'] }), legend: '{{kind}}' }],
      isStacked: true,
    },
    {
      id: 'open-by-split',
      kind: 'lines',
      title: 'Streams open, busiest',
      description: 'The ten instances, pods or namespaces (as chosen above) with most open exchanges.',
      unit: 'short',
      queries: [{ expr: top(now(OPEN, 'sum', { by: BY_SPLIT })), legend: '{{$split}}' }],
    },
    {
      id: 'opened',
      kind: 'lines',
      title: 'Exchanges opened',
      description: 'Exchanges and WebSocket sessions opened per second, by what they ask.',
      unit: 'cps',
      queries: [{ expr: perSecond(OPENED, { by: ['kind'] }), legend: '{{kind}}' }],
      isStacked: true,
    },
    {
      id: 'closes-by-cause',
      kind: 'lines',
      title: 'Streams closed, by cause',
      description: 'Responses that ended, per second, by what ended them. complete: the server finished and the client has it all.',
      unit: 'cps',
      queries: [{ expr: perSecond(CLOSED, { by: ['cause'] }), legend: '{{cause}}' }],
      isStacked: true,
    },
    {
      id: 'closes-before',
      kind: 'lines',
      title: 'Cut short, against before',
      description: 'Streams closed otherwise than complete, per second, now and as long ago as chosen above.',
      unit: 'cps',
      queries: [
        { expr: `${perSecond(CLOSED)} - ${perSecond(CLOSED, { where: { cause: 'complete' } })}`, legend: 'now' },
        {
          expr: `${perSecond(CLOSED, BEFORE)} - ${perSecond(CLOSED, { ...BEFORE, where: { cause: 'complete' } })}`,
          legend: '$before ago',
        },
      ],
    },
    {
      id: 'closes-by-ending',
      kind: 'table',
      title: 'Endings as clients got them',
      description:
        'Responses that ended in the time shown: what was answered, and whether the connection ended clean, by a FIN or by a reset.',
      unit: 'short',
      queries: [{ expr: inRange(CLOSED, { by: ['answer', 'ending'] }), legend: '' }],
      pivot: { rows: 'answer', columns: 'ending' },
    },
  ],
  start(kit) {
    const opened = kit.counter(OPENED)
    const closed = kit.counter(CLOSED)
    const openOf = new Map(KINDS.map((kind) => [kind, 0]))
    for (const kind of KINDS) opened.touch({ kind })
    kit.gaugeReadAtScrape(OPEN, () => [...openOf].map(([kind, count]) => [{ kind }, count]))
    return {
      causes({ kinds }) {
        for (const close of possibleCloses(kinds)) closed.touch(close)
      },
      moments: {
        began({ kind }) {
          opened.count(kind)
          openOf.set(kind, (openOf.get(kind) ?? 0) + 1)
        },
      },
      facts: {
        closed({ kind, answer, isUnderstood, closedAtMs }, { atMs, cause, ending }) {
          if (closedAtMs !== atMs) return
          closed.count(kind, answer, cause.kind, ending)
          // One that closed before it said what it asks was never counted as open.
          if (isUnderstood) openOf.set(kind, (openOf.get(kind) ?? 0) - 1)
          else opened.count(kind)
        },
      },
    }
  },
}
