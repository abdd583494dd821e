/** What a buffer holds, in order, and since when. */
import { toKeep } from '../core/keep.ts'
import type { Piece } from '../core/signal.ts'

export interface Held {
  push(piece: Piece, atMs: number): void
  /** The first so many bytes, cut out of the piece where they end. */
  take(bytes: number): readonly Piece[]
  bytes(): number
  /** When the first of them came; null: nothing is held. */
  sinceMs(): number | null
  last(): Piece | null
}

export function createHeld(): Held {
  let entries: { readonly piece: Piece; readonly atMs: number }[] = []
  let bytes = 0
  return {
    push(piece, atMs) {
      entries.push({ piece: toKeep(piece), atMs })
      bytes += piece.bytes.length
    },
    take(upTo) {
      const taken: Piece[] = []
      let left = Math.min(upTo, bytes)
      bytes -= left
      let index = 0
      for (; index < entries.length; index += 1) {
        const entry = entries[index]
        if (entry === undefined || entry.piece.bytes.length > left) break
        left -= entry.piece.bytes.length
        taken.push(entry.piece)
      }
      const split = entries[index]
      entries = entries.slice(index)
      if (left > 0 && split !== undefined) {
        taken.push({ is: 'piece', bytes: split.piece.bytes.subarray(0, left), mark: null })
        entries[0] = { ...split, piece: { ...split.piece, bytes: split.piece.bytes.subarray(left) } }
      }
      return taken
    },
    bytes: () => bytes,
    sinceMs: () => entries[0]?.atMs ?? null,
    last: () => entries.at(-1)?.piece ?? null,
  }
}
