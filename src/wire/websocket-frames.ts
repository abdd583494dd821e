/**
 * A session on the line: the bytes of its frames, each whole and unmasked, so that any seat may hold or cut them as it does a body.
 * Between client and line they pass as they are; towards the server they are made whole again and masked.
 */
import * as ws from 'ws'

export const TEXT = 1
export const BINARY = 2
export const CLOSE = 8
export const PING = 9
export const PONG = 10

/** `ws` has it, its types do not. */
interface WithSender {
  readonly Sender: {
    frame(
      payload: Uint8Array,
      options: { readonly opcode: number; readonly fin: boolean; readonly mask: boolean; readonly readOnly: boolean },
    ): Uint8Array[]
  }
}
const { frame } = (ws as unknown as WithSender).Sender

/** Larger payloads are not copied to stand behind their header. */
const COPIED_BYTES_MAX = 16_384

export function frameOf(opcode: number, payload: Uint8Array): readonly Uint8Array[] {
  const pieces = frame(payload, { opcode, fin: true, mask: false, readOnly: true })
  return pieces.length > 1 && payload.length <= COPIED_BYTES_MAX ? [Buffer.concat(pieces)] : pieces
}

export const maskedFrameOf = (opcode: number, payload: Uint8Array): readonly Uint8Array[] =>
  frame(payload, { opcode, fin: true, mask: true, readOnly: true })

/** Code 1005 is that of a Close which says none. */
export function closePayload(code: number, reason: Uint8Array = new Uint8Array()): Uint8Array {
  if (code === 1005) return new Uint8Array()
  return Buffer.concat([Uint8Array.of(code >> 8, code & 0xff), reason])
}

export interface FrameReader {
  feed(bytes: Uint8Array): void
  isBetweenFrames(): boolean
}

const SHORT_HEADER_BYTES = 2

/** Finds the frames that `frameOf` made again, however their bytes were cut or joined on the way. */
export function createFrameReader(take: (opcode: number, payload: readonly Uint8Array[]) => void): FrameReader {
  let header: number[] = []
  let leftBytes = 0
  let payload: Uint8Array[] = []

  const isHeaderWhole = (): boolean => header.length >= SHORT_HEADER_BYTES && header.length === headerBytes(header[1] ?? 0)
  function finish(): void {
    const opcode = (header[0] ?? 0) & 0x0f
    const whole = payload
    header = []
    payload = []
    take(opcode, whole)
  }
  return {
    feed(bytes) {
      let at = 0
      while (at < bytes.length) {
        if (!isHeaderWhole()) {
          header.push(bytes[at] ?? 0)
          at += 1
          if (!isHeaderWhole()) continue
          leftBytes = payloadBytes(header)
        } else {
          const piece = bytes.subarray(at, at + leftBytes)
          payload.push(piece)
          leftBytes -= piece.length
          at += piece.length
        }
        if (leftBytes === 0) finish()
      }
    },
    isBetweenFrames: () => header.length === 0,
  }
}

const headerBytes = (length: number): number => (length === 126 ? 4 : length === 127 ? 10 : SHORT_HEADER_BYTES)

function payloadBytes(header: readonly number[]): number {
  const extended = header.slice(SHORT_HEADER_BYTES)
  return extended.length === 0 ? (header[1] ?? 0) : extended.reduce((sum, byte) => sum * 256 + byte, 0)
}
