/** Cuts made here, by the hop or fault that made them. */
import type { Cause, CauseKind } from '../../core/signal.ts'
import { faultOf, hopOf } from '../../core/verdict.ts'
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { BY_SPLIT, inRange, perSecond, top } from './promql.ts'

const CUTS: CounterAbout = {
  name: 'cuts_total',
  type: 'counter',
  title: 'Cuts made by hops and faults',
  help: 'Responses that a hop or fault cut, or in shadow mode would have cut; before_headers: none of the server’s headers had reached the client.',
  labels: ['hop', 'cause', 'phase', 'mode'],
  unit: 'count',
}
/** Which limits of a hop can strike before the headers and after. */
const HOP_CUTS: readonly (readonly [CauseKind, string])[] = [
  ['header_timeout', 'before_headers'],
  ['idle_timeout', 'before_headers'],
  ['idle_timeout', 'mid_stream'],
  ['max_duration', 'before_headers'],
  ['max_duration', 'mid_stream'],
  ['client_send', 'mid_stream'],
]
const FAULT_CUTS: readonly (readonly [CauseKind, string])[] = [
  ['fault', 'before_headers'],
  ['fault', 'mid_stream'],
  ...HOP_CUTS.slice(0, 5),
]

const cutterOf = (cause: Cause): string | null => (faultOf(cause) !== null ? 'fault' : hopOf(cause))
const BEFORE = { offset: '$before' }

export const cutsFamily: Family = {
  about: [CUTS],
  panels: [
    {
      id: 'cuts-in-range',
      kind: 'stat',
      title: 'Cuts made here',
      description: 'Responses that a hop or a fault of these sidecars cut in the time shown.',
      unit: 'short',
      queries: [{ expr: inRange(CUTS, { where: { mode: 'act' } }), legend: '' }],
    },
    {
      id: 'cuts-by-hop',
      kind: 'table',
      title: 'Cuts, by hop and cause',
      description: 'Responses cut in the time shown, by the hop of the path that did it; fault: a fault did.',
      unit: 'short',
      queries: [{ expr: inRange(CUTS, { by: ['hop', 'cause'], where: { mode: 'act' } }), legend: '' }],
      pivot: { rows: 'hop', columns: 'cause' },
    },
    {
      id: 'cuts',
      kind: 'lines',
      title: 'Cuts in time',
      description:
        'Responses cut per second, by hop and by how far they were: before_headers, none of the server’s headers had reached the client.',
      unit: 'cps',
      queries: [{ expr: perSecond(CUTS, { by: ['hop', 'phase'], where: { mode: 'act' } }), legend: '{{hop}} {{phase}}' }],
      isStacked: true,
    },
    {
      id: 'cuts-shadow',
      kind: 'lines',
      title: 'Cuts that shadow mode held back',
      description: 'What hops and faults would have cut per second, had they been allowed to act.',
      unit: 'cps',
      queries: [{ expr: top(perSecond(CUTS, { by: ['hop', 'cause'], where: { mode: 'shadow' } })), legend: '{{hop}} {{cause}}' }],
    },
    {
      id: 'cuts-by-split',
      kind: 'lines',
      title: 'Cuts, most affected',
      description: 'Responses cut per second in the ten instances, pods or namespaces (as chosen above) with most.',
      unit: 'cps',
      queries: [{ expr: top(perSecond(CUTS, { by: BY_SPLIT, where: { mode: 'act' } })), legend: '{{$split}}' }],
    },
    {
      id: 'cuts-before',
      kind: 'lines',
      title: 'Cuts against before',
      description: 'Responses cut per second, now and as long ago as chosen above.',
      unit: 'cps',
      queries: [
        { expr: perSecond(CUTS, { where: { mode: 'act' } }), legend: 'now' },
        { expr: perSecond(CUTS, { where: { mode: 'act' }, ...BEFORE }), legend: '$before ago' },
      ],
    },
  ],
  start(kit) {
    const cuts = kit.counter(CUTS)
    for (const [cause, phase] of FAULT_CUTS) cuts.touch({ hop: 'fault', cause, phase, mode: 'act' })
    function count(cause: Cause, isEarly: boolean, mode: 'act' | 'shadow'): void {
      const hop = cutterOf(cause)
      if (hop === null) return
      cuts.count(hop === 'fault' ? hop : kit.hops.labelOf(hop), cause.kind, isEarly ? 'before_headers' : 'mid_stream', mode)
    }
    return {
      path({ presets, mode }) {
        for (const hop of presets) for (const [cause, phase] of HOP_CUTS) cuts.touch({ hop: kit.hops.labelOf(hop), cause, phase, mode })
        for (const [cause, phase] of FAULT_CUTS) cuts.touch({ hop: 'fault', cause, phase, mode })
      },
      facts: {
        closed(view, { atMs, cause }) {
          if (view.closedAtMs === atMs) count(cause, view.closedBeforeHeaders, 'act')
        },
        would_cut: (view, { cause }) => count(cause, view.headersAtMs === null, 'shadow'),
      },
    }
  },
}
