/** Which causes can occur under the configuration in force: only their series are made, and none is born at its first event. */
import type { CauseClass } from '../../core/ledger.ts'
import type { CauseKind } from '../../core/signal.ts'

export interface Causes {
  readonly kinds: readonly CauseKind[]
  readonly classes: readonly CauseClass[]
}

export interface Possible {
  readonly now: Causes
  /** A path with hops, or a fault, is in force: gives what this adds. What was once possible stays so. */
  add(by: 'hop' | 'fault'): Causes
}

const ALWAYS: Causes = {
  kinds: [
    ...(['complete', 'client_abort', 'client_reset', 'server_close', 'server_reset', 'unreachable'] as const),
    ...(['limit', 'operator', 'shutdown'] as const),
  ],
  classes: ['complete', 'client', 'server', 'other'],
}
const ADDED: Readonly<Record<'hop' | 'fault', Causes>> = {
  hop: { kinds: ['header_timeout', 'idle_timeout', 'max_duration', 'client_send'], classes: ['hop'] },
  fault: { kinds: ['header_timeout', 'idle_timeout', 'max_duration', 'fault'], classes: ['fault'] },
}

export function createPossible(): Possible {
  const kinds = new Set(ALWAYS.kinds)
  const classes = new Set(ALWAYS.classes)
  return {
    get now() {
      return { kinds: [...kinds], classes: [...classes] }
    },
    add(by) {
      const added = {
        kinds: ADDED[by].kinds.filter((kind) => !kinds.has(kind)),
        classes: ADDED[by].classes.filter((each) => !classes.has(each)),
      }
      for (const kind of added.kinds) kinds.add(kind)
      for (const each of added.classes) classes.add(each)
      return added
    },
  }
}
