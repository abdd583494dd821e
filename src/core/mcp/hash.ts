/** A number for bytes, to tell parameters apart: well spread, and no secret hangs on it. */

/** Of a longer value the beginning and the length tell enough. */
const HASHED_BYTES_MAX = 65_536

/** 52 bits of `bytes[start, end)`, after cyrb53: two of them add up without rounding. */
export function hashOf(bytes: Uint8Array, start: number, end: number, seed = 0): number {
  let h1 = 0xdeadbeef ^ (end - start) ^ seed
  let h2 = 0x41c6ce57 ^ seed
  for (let at = start; at < Math.min(end, start + HASHED_BYTES_MAX); at += 1) {
    h1 = Math.imul(h1 ^ (bytes[at] as number), 2654435761)
    h2 = Math.imul(h2 ^ (bytes[at] as number), 1597334677)
  }
  h1 = Math.imul(h1 ^ (h1 >>> 16), 2246822507) ^ Math.imul(h2 ^ (h2 >>> 13), 3266489909)
  h2 = Math.imul(h2 ^ (h2 >>> 16), 2246822507) ^ Math.imul(h1 ^ (h1 >>> 13), 3266489909)
  return 1_048_576 * (h1 >>> 0) + (h2 & 1_048_575)
}
