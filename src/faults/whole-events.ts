/** Holds the parts of an unfinished event until its mark comes, so that a fault can judge it whole. */

import type { Out } from '../core/seat.ts'
import type { Piece } from '../core/signal.ts'

/** `judge` sees the piece that completes an event, or any piece of a body without events; false: none of it passes. */
export interface EventGate {
  take(piece: Piece): void
  flush(): void
  heldBytes(): number
}

export function eventGate(out: Out, judge: (last: Piece) => boolean): EventGate {
  let parts: Piece[] = []
  function flush(): void {
    const passing = parts
    parts = []
    for (const part of passing) out.toClient(part)
  }
  return {
    take(piece) {
      parts.push(piece)
      if (piece.mark === null) return
      if (judge(piece)) flush()
      else parts = []
    },
    flush,
    heldBytes: () => parts.reduce((sum, { bytes }) => sum + bytes.length, 0),
  }
}
