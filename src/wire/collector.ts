/** Keeps a body for its meaning while it passes, up to 1 MiB; beyond that it lets go. */

export const MEANING_BYTES_MAX = 1_048_576

export interface Collector {
  take(chunk: Uint8Array): void
  /** The body as UTF-8 text; null where it was too long. */
  text(): string | null
  isTooLong(): boolean
}

export function createCollector(): Collector {
  let chunks: Uint8Array[] = []
  let bytes = 0
  return {
    take(chunk) {
      bytes += chunk.length
      if (bytes > MEANING_BYTES_MAX) chunks = []
      else chunks.push(chunk)
    },
    text: () => (bytes > MEANING_BYTES_MAX ? null : Buffer.concat(chunks).toString('utf8')),
    isTooLong: () => bytes > MEANING_BYTES_MAX,
  }
}
