/** Holds the parts of an unfinished event until its mark comes, so that a fault can judge it whole, however it was split. */
import { toKeep } from '../core/keep.ts'
import type { Out } from '../core/seat.ts'
import type { EventMark, Piece } from '../core/signal.ts'

/** A longer event passes unjudged. */
export const EVENT_BYTES_MAX = 1_048_576

export interface WholeEvent {
  readonly parts: readonly Piece[]
  readonly mark: EventMark
}

/** `judge` sends what is to pass of the event; of what it does not send nothing passes. Only for a body with events. */
export interface EventGate {
  take(piece: Piece): void
  /** Lets go of an unfinished event. */
  flush(): void
  heldBytes(): number
}

export function eventGate(out: Out, judge: (event: WholeEvent) => void): EventGate {
  let parts: Piece[] = []
  let bytes = 0
  let isTooLong = false // this event's parts pass as they come

  function flush(): void {
    const passing = parts
    parts = []
    bytes = 0
    for (const part of passing) out.toClient(part)
  }
  return {
    take(piece) {
      bytes += piece.bytes.length
      isTooLong ||= bytes > EVENT_BYTES_MAX
      const { mark } = piece
      if (isTooLong) {
        parts.push(piece)
        flush()
        bytes = EVENT_BYTES_MAX
        if (mark === null) return
        isTooLong = false
        bytes = 0
      } else if (mark === null) parts.push(toKeep(piece))
      else {
        const whole: WholeEvent = { parts: [...parts, piece], mark }
        parts = []
        bytes = 0
        judge(whole)
      }
    },
    flush,
    heldBytes: () => parts.reduce((sum, part) => sum + part.bytes.length, 0),
  }
}

export function passWhole(out: Out, { parts }: WholeEvent): void {
  for (const part of parts) out.toClient(part)
}
