/** Work that runs now, of sources that say when it starts. */
import type { WorkPhase } from '../../core/ledger.ts'
import type { GaugeAbout } from './about.ts'
import type { Family } from './family.ts'
import { now } from './promql.ts'

const IN_FLIGHT: GaugeAbout = {
  name: 'work_in_flight',
  type: 'gauge',
  title: 'Work running',
  help: 'Calls of tools/call whose work has started and not ended, by sources that report a start.',
  labels: ['source'],
  unit: 'count',
}
const ORPHANS: GaugeAbout = {
  name: 'orphan_work_in_flight',
  type: 'gauge',
  title: 'Abandoned work running',
  help: 'Calls of tools/call that were abandoned and whose work has not ended: it rises at the close, while the orphan runs.',
  labels: ['source'],
  unit: 'count',
}
/** A span tells its start only when it has ended. */
const SOURCE = 'probe'

export const workInFlightFamily: Family = {
  about: [IN_FLIGHT, ORPHANS],
  panels: [
    {
      id: 'orphans-running',
      kind: 'stat',
      title: 'Orphans running now',
      description: 'Calls whose client is gone and whose work has not ended. Only sources that report a start can show this.',
      unit: 'short',
      queries: [{ expr: now(ORPHANS), legend: '' }],
      alarm: { from: 1 },
    },
    {
      id: 'work-running',
      kind: 'lines',
      title: 'Work running',
      description: 'Calls at work, and those of them whose client is gone: it rises at the close, while the orphan runs.',
      unit: 'short',
      queries: [
        { expr: now(IN_FLIGHT), legend: 'all' },
        { expr: now(ORPHANS), legend: 'abandoned' },
      ],
    },
  ],
  start(kit) {
    const running: Record<WorkPhase, number> = { none: 0, running: 0, orphaning: 0, over: 0 }
    kit.gaugeReadAtScrape(IN_FLIGHT, () => [[{ source: SOURCE }, running.running + running.orphaning]])
    kit.gaugeReadAtScrape(ORPHANS, () => [[{ source: SOURCE }, running.orphaning]])
    return {
      moments: {
        work(_, { call, startedBy, from, to }) {
          if (call.method !== 'tools/call' || startedBy !== SOURCE) return
          running[from] -= 1
          running[to] += 1
        },
      },
    }
  },
}
