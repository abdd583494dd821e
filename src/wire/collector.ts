/** Keeps a body for its meaning while it passes, up to 1 MiB; beyond that it lets go. */

export const MEANING_BYTES_MAX = 1_048_576

export interface Collector {
  /** One buffer that grows: a body in chunks of one byte each must not cost an object each. Null: it was let go. */
  kept: Buffer | null
  bytes: number
}

const NOTHING = Buffer.alloc(0)
/** Small bodies share a slab of Node's pool, which they pin until they are read: with the books, at the end of their poll. */
const POOLED_BYTES_MAX = 2_048
const room = (bytes: number): Buffer => (bytes <= POOLED_BYTES_MAX ? Buffer.allocUnsafe(bytes) : Buffer.allocUnsafeSlow(bytes))

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export const createCollector = (): Collector => ({ kept: NOTHING, bytes: 0 })

/** The chunk does not change any more: it may be told as it is, and be read with the books. */
export function collect(collector: Collector, chunk: Uint8Array): void {
  const from = collector.bytes
  const bytes = from + chunk.length
  collector.bytes = bytes
  if (bytes > MEANING_BYTES_MAX) collector.kept = null
  let { kept } = collector
  if (kept === null) return
  if (from === 0) {
    collector.kept = asBuffer(chunk) // most bodies come in one piece: it is copied when another follows
    return
  }
  if (bytes > kept.length) {
    const grown = room(Math.max(bytes, Math.min(2 * kept.length, MEANING_BYTES_MAX)))
    kept.copy(grown, 0, 0, from)
    kept = collector.kept = grown
  }
  kept.set(chunk, from)
}

/** The body as UTF-8 text; null where it was too long, or was let go. */
export const collectedText = ({ kept, bytes }: Collector): string | null => kept?.toString('utf8', 0, bytes) ?? null

/** The same as bytes: another chunk may change them, so what is told is a whole body. */
export const collectedBytes = ({ kept, bytes }: Collector): Buffer | null =>
  kept === null || kept.length === bytes ? kept : kept.subarray(0, bytes)

const BACKSLASH = 0x5c

/** Whether JSON in it may hold this ASCII word, which could be written with escapes: a look costs a sixth of reading it. */
export function mayHold(collector: Collector, word: string): boolean {
  const body = collectedBytes(collector)
  return body === null || body.includes(word, 0, 'latin1') || (body.includes(BACKSLASH) && body.includes('\\u', 0, 'latin1'))
}

export const isTooLong = ({ bytes }: Collector): boolean => bytes > MEANING_BYTES_MAX

/** Its meaning is known: nothing is kept any more, and nothing more is taken. */
export function letGo(collector: Collector): void {
  collector.kept = null
}
