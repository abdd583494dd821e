/** Cuts made here, by the hop or fault that made them. */
import type { Cause, CauseKind } from '../../core/signal.ts'
import { faultOf, hopOf } from '../../core/verdict.ts'
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'

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

export const cutsFamily: Family = {
  about: [CUTS],
  start(kit) {
    const cuts = kit.counter(CUTS)
    for (const [cause, phase] of FAULT_CUTS) cuts.touch({ hop: 'fault', cause, phase, mode: 'act' })
    return {
      path({ presets, mode }) {
        for (const hop of presets) for (const [cause, phase] of HOP_CUTS) cuts.touch({ hop: kit.hops.labelOf(hop), cause, phase, mode })
        for (const [cause, phase] of FAULT_CUTS) cuts.touch({ hop: 'fault', cause, phase, mode })
      },
      fact(view, fact) {
        if (fact.kind !== 'would_cut' && (fact.kind !== 'closed' || view.closedAtMs !== fact.atMs)) return
        const hop = cutterOf(fact.cause)
        if (hop === null) return
        const isEarly = fact.kind === 'closed' ? view.closedBeforeHeaders : view.headersAtMs === null
        cuts.inc({
          hop: hop === 'fault' ? hop : kit.hops.labelOf(hop),
          cause: fact.cause.kind,
          phase: isEarly ? 'before_headers' : 'mid_stream',
          mode: fact.kind === 'closed' ? 'act' : 'shadow',
        })
      },
    }
  },
}
