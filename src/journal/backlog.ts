/** Facts wait here until the bytes they tell of are on their way: the books are kept after the poll, many facts in one go. */

export interface Backlog<T, F> {
  add(teller: T, fact: F): void
  /** Everything told so far is taken, now: before anybody reads the books. */
  flush(): void
}

export interface BacklogAsked<T, F> {
  /** Runs it once, when what is at hand has been read and written; absent: each fact is taken as it is told. */
  readonly later?: ((run: () => void) => void) | undefined
  /** Runs between the pieces of one go: what cannot wait for all of it. */
  readonly between?: (() => void) | undefined
  /** As how many facts it counts, by the time that its taking may need; absent: each as one. */
  readonly weightOf?: ((fact: F) => number) | undefined
  take(teller: T, fact: F): void
}

/** While more comes with every poll, the books wait: kept in between, they would hold up the rest of a burst. So many facts may wait for it. */
const BURST_MAX = 512
/** So few, of an exchange or two, are no burst: they are taken at once, while client and server have their turn, without another round of the loop. */
const FEW_MAX = 16
/**
 * No more than so many wait, not even for the end of the poll, which may bring ten thousand streams their event at once: as many facts
 * would be moved by the next collection of the young, and those told after them by the one that follows. Beyond, each piece told has one
 * taken, and no look is needed in between: the turn that tells ends with one.
 */
const WAITING_MAX = 1_000
/** So many, a millisecond at most, between two looks at what is due. */
const PIECE_MAX = 100

const one = (): number => 1

/** In the order told, across all tellers. */
export function createBacklog<T, F>({ later, between, weightOf = one, take }: BacklogAsked<T, F>): Backlog<T, F> {
  let tellers: T[] = []
  let facts: F[] = []
  let taken = 0
  let seen = 0 // so many had been told when it last looked
  let isDue = false
  let isTaking = false

  function takeSome(max: number): void {
    if (isTaking) return
    isTaking = true
    try {
      for (let left = max; left > 0 && taken < facts.length; ) {
        const at = taken
        const fact = facts[at] as F
        taken += 1 // first: a fact that throws is not taken again
        left -= weightOf(fact)
        take(tellers[at] as T, fact)
      }
    } finally {
      isTaking = false
      if (taken === facts.length || taken >= WAITING_MAX) dropTaken()
    }
  }

  function dropTaken(): void {
    tellers = tellers.slice(taken)
    facts = facts.slice(taken)
    seen = Math.max(0, seen - taken)
    taken = 0
  }

  function run(): void {
    isDue = false
    const isBurst = facts.length - seen > FEW_MAX && facts.length - taken < BURST_MAX
    seen = facts.length
    try {
      if (!isBurst) takeAll()
    } finally {
      arm() // behind one that throws others wait
    }
  }

  function takeAll(): void {
    while (facts.length > 0) {
      takeSome(PIECE_MAX)
      if (facts.length > 0) between?.()
    }
  }

  function arm(): void {
    if (isDue || facts.length === 0 || later === undefined) return
    isDue = true
    later(run)
  }

  return {
    add(teller, fact) {
      tellers.push(teller)
      facts.push(fact)
      if (later === undefined) takeSome(Infinity)
      else {
        arm()
        if (facts.length - taken >= WAITING_MAX) takeSome(PIECE_MAX)
      }
    },
    flush: () => takeSome(Infinity),
  }
}
