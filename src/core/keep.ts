/** What a seat keeps of the bytes that pass: small pieces are copied, for a view keeps its whole slab in memory. */
import type { Piece } from './signal.ts'

const COPIED_BELOW_BYTES = 1_024

/** The piece as it may be held. Its mark stays the same one, for marks tell events apart. */
export function toKeep(piece: Piece): Piece {
  const { bytes, mark } = piece
  if (bytes.length >= COPIED_BELOW_BYTES || bytes.length === bytes.buffer.byteLength) return piece
  const copy = new Uint8Array(bytes)
  if (mark !== null && mark.bytes === bytes) (mark as { bytes: Uint8Array }).bytes = copy // the same bytes, in a smaller place
  return { ...piece, bytes: copy }
}
