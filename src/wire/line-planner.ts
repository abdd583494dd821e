/** From the configuration in force to the seats of one exchange. */
import type { Snapshot } from '../config/snapshot.ts'
import { drainSeat } from '../core/drain-seat.ts'
import { compileLine, connectLimit } from '../hops/compile.ts'
import type { LinePlanner } from './exchange.ts'

/** Compiled once per snapshot; every exchange takes seats of its own from the same plans. */
export function createLinePlanner({ path, work }: Snapshot): LinePlanner {
  const plans = [...compileLine(path, []), ...(work.afterCut === 'drain' && path.length > 0 ? [drainSeat()] : [])]
  const limit = connectLimit(path)
  return { needsBody: () => false, plan: () => plans, connectLimit: () => limit }
}
