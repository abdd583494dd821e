/** The benchmark's client: one measure per run, one JSON line per figure set on stdout. `--measure rtt --sides name:port:pid,… --upstream PORT`. */
import { bearLoad } from './loads.ts'
import { measureBulk, measureEvents, measureRtt } from './measure-flow.ts'
import { measureGrowth } from './measure-growth.ts'
import { measureAbort, measureCut, measureIdle } from './measure-life.ts'
import { measureMemory } from './measure-memory.ts'
import { argOf } from './wire-words.ts'

const MEASURES: Readonly<Record<string, () => Promise<void>>> = {
  rtt: measureRtt,
  events: measureEvents,
  bulk: measureBulk,
  idle: measureIdle,
  cut: measureCut,
  abort: measureAbort,
  memory: measureMemory,
  growth: measureGrowth,
  load: bearLoad,
}

const measure = MEASURES[argOf('measure', '')]
if (measure === undefined) {
  console.error(`--measure: expected one of ${Object.keys(MEASURES).join(', ')}`)
  process.exit(2)
}
await measure()
process.exit()
