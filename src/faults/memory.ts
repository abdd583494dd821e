/** What faults remember from exchange to exchange, and across changes of configuration. */

/** Told by the API, so that a rule that never matched is seen. */
export interface FaultTally {
  readonly matched: number
  readonly fired: number
  readonly skipped: number
  readonly exempt: number
  readonly capped: number
}

export interface FaultMemory {
  /** How often this rule has matched now, this time included. */
  countMatch(fault: string): number
  /** How often this call came to this rule before. */
  countCall(fault: string, key: string): number
  tell(fault: string, decision: Exclude<keyof FaultTally, 'matched'>): void
  tally(fault: string): FaultTally
  /** The next request on this connection is the fault's. */
  expectNext(connection: number, fault: string): void
  /** Which faults wait for this connection's next request; they wait no more. */
  takeNext(connection: number): readonly string[]
  /** The rule was taken away or replaced: one of the same name begins anew. */
  forget(fault: string): void
}

/** A rule's repeated calls are told apart up to here; beyond, the call not seen for longest counts from nothing again. */
const CALLS_MAX = 10_000
const CONNECTIONS_MAX = 1_000

const NONE: FaultTally = { matched: 0, fired: 0, skipped: 0, exempt: 0, capped: 0 }

export function createFaultMemory(): FaultMemory {
  const tallies = new Map<string, FaultTally>()
  const calls = new Map<string, Map<string, number>>()
  const next = new Map<number, readonly string[]>()
  const add = (fault: string, what: keyof FaultTally): FaultTally => {
    const tally = tallies.get(fault) ?? NONE
    const more = { ...tally, [what]: tally[what] + 1 }
    tallies.set(fault, more)
    return more
  }
  return {
    countMatch: (fault) => add(fault, 'matched').matched,
    countCall(fault, key) {
      const mine = calls.get(fault) ?? new Map<string, number>()
      calls.set(fault, mine)
      const before = mine.get(key) ?? 0
      mine.delete(key) // to the end, so that the first is the one not seen for longest
      mine.set(key, before + 1)
      dropFirst(mine, CALLS_MAX)
      return before
    },
    tell: (fault, decision) => void add(fault, decision),
    tally: (fault) => tallies.get(fault) ?? NONE,
    expectNext(connection, fault) {
      next.set(connection, [...(next.get(connection) ?? []), fault])
      dropFirst(next, CONNECTIONS_MAX)
    },
    takeNext(connection) {
      const faults = next.get(connection) ?? []
      next.delete(connection)
      return faults
    },
    forget(fault) {
      tallies.delete(fault)
      calls.delete(fault)
    },
  }
}

function dropFirst<Key>(map: Map<Key, unknown>, max: number): void {
  if (map.size <= max) return
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}
