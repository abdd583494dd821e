/** The moment of a cut: whether it may be made, and what both sides get. */
import type { Out } from '../core/seat.ts'
import type { Break, Ending, Head } from '../core/signal.ts'
import { cutting, lost } from '../core/signal.ts'
import { fired } from './body-shape.ts'
import { causeOf } from './fault.ts'

export interface Strike {
  /** Only a clean ending depends on the head. */
  readonly needsHead: boolean
  /** False: it has struck, or the cuts of this minute are used up and the seat has left the line; what it holds, its caller lets go. */
  isLet(): boolean
  /** Cuts. Only after `isLet`. */
  now(head: Head | null): void
}

export function createStrike(out: Out, { name, ending, upstream }: { name: string; ending: Ending; upstream: Break | 'none' }): Strike {
  const cause = causeOf(name)
  let hasStruck = false
  return {
    needsHead: ending === 'clean',
    isLet() {
      if (hasStruck) return false
      if (out.mayCut(cause)) return true
      out.note({ is: 'decided', what: 'capped' })
      out.leave()
      return false
    },
    now(head) {
      hasStruck = true
      fired(out)
      const made = cutting(ending, head, cause)
      const isFallback = ending === 'clean' && made.is === 'lost'
      const told = isFallback ? causeOf(name, 'fault', 'a clean end was asked for; this body cannot end cleanly early') : cause
      out.toClient(made.is === 'lost' ? { ...made, cause: told } : made)
      if (upstream !== 'none') out.toServer(lost(upstream, told))
    },
  }
}
