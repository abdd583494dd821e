/** What the process occupies, after a collection: for tests of what is bounded. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

export interface Memory {
  readonly rss: number
  /** JavaScript's heap and the buffers outside it. */
  readonly heap: number
}

export function memory(): Memory {
  collect()
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, heap: heapUsed + external }
}

export const MIB = 1_048_576
