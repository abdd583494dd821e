/** Keeps a body for its meaning while it passes, up to 1 MiB; beyond that it lets go. */

export const MEANING_BYTES_MAX = 1_048_576

export interface Collector {
  take(chunk: Uint8Array): void
  /** The body as UTF-8 text; null where it was too long, or was let go. */
  text(): string | null
  /** The same as bytes, to be read at once: they change with the next chunk. */
  bytes(): Uint8Array | null
  isTooLong(): boolean
  /** Its meaning is known: nothing is kept any more, and nothing more is taken. */
  release(): void
}

const NOTHING = Buffer.alloc(0)
/** Small bodies share a slab of Node's pool, which they pin for the moment it takes to read them. */
const POOLED_BYTES_MAX = 2_048
const room = (bytes: number): Buffer => (bytes <= POOLED_BYTES_MAX ? Buffer.allocUnsafe(bytes) : Buffer.allocUnsafeSlow(bytes))

export function createCollector(): Collector {
  // One buffer that grows: a body in chunks of one byte each must not cost an object each.
  let kept: Buffer | null = NOTHING
  let bytes = 0
  return {
    take(chunk) {
      const from = bytes
      bytes += chunk.length
      if (bytes > MEANING_BYTES_MAX) kept = null
      if (kept === null) return
      if (bytes > kept.length) {
        const grown = room(from === 0 ? bytes : Math.max(bytes, Math.min(2 * kept.length, MEANING_BYTES_MAX)))
        kept.copy(grown, 0, 0, from)
        kept = grown
      }
      kept.set(chunk, from)
    },
    text: () => kept?.toString('utf8', 0, bytes) ?? null,
    bytes: () => kept?.subarray(0, bytes) ?? null,
    isTooLong: () => bytes > MEANING_BYTES_MAX,
    release() {
      kept = null
    },
  }
}
