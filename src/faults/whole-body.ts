/** Holds a body without events until its end, so that a fault can judge it whole; a long one passes unjudged. */
import { toKeep } from '../core/keep.ts'
import { concat } from '../core/meaning.ts'
import type { Out } from '../core/seat.ts'
import type { Piece, Reply } from '../core/signal.ts'

const BODY_BYTES_MAX = 1_048_576

export interface WholeBody {
  take(signal: Exclude<Reply, { is: 'head' }>): void
  flush(): void
  heldBytes(): number
}

/** `judge` sees the whole body at its end and answers whether it has dealt with it and the end; else both pass as they are. */
export function createWholeBody(out: Out, judge: (bytes: Uint8Array) => boolean): WholeBody {
  let pieces: Piece[] = []
  let bytes = 0
  let isPassing = false
  function flush(): void {
    isPassing = true
    const passing = pieces
    pieces = []
    for (const piece of passing) out.toClient(piece)
  }
  return {
    take(signal) {
      if (signal.is === 'piece' && !isPassing) {
        pieces.push(toKeep(signal))
        bytes += signal.bytes.length
        if (bytes <= BODY_BYTES_MAX) return
        out.note({ is: 'decided', what: 'skipped', why: 'the body is longer than 1 MiB' })
        return flush()
      }
      if (signal.is === 'end' && !isPassing && judge(concat(pieces.map((piece) => piece.bytes)))) {
        pieces = []
        return
      }
      if (signal.is === 'end' || signal.is === 'lost') flush()
      out.toClient(signal)
    },
    flush,
    heldBytes: () => pieces.reduce((sum, piece) => sum + piece.bytes.length, 0),
  }
}
