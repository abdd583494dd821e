/** Bytes of JSON as text: names, ids and tokens, most of which have come before. */

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d

export const bytesOfText = (text: string): Uint8Array => encoder.encode(text)
export const textOfBytes = (bytes: Uint8Array): string => textAt(bytes, 0, bytes.length)

/** Bytes of which only the first `length` are the text's: a zero, which is in no JSON, comes behind them. */
export interface Written {
  readonly bytes: Uint8Array
  readonly length: number
}

const WRITTEN_MAX = 8_192
const room = new Uint8Array(3 * WRITTEN_MAX + 1)

/** The text's bytes until the next text is written: most are short, and an array for each would cost more than their reading. */
export function writtenOf(text: string): Written {
  if (text.length > WRITTEN_MAX) {
    const bytes = bytesOfText(text)
    return { bytes, length: bytes.length }
  }
  const { written } = encoder.encodeInto(text, room)
  room[written] = 0
  return { bytes: room, length: written }
}

/** How long texts are that are looked for among those known, and how many are: a power of two. */
const KNOWN_LENGTH_MAX = 64
const KNOWN_MAX = 1_024
const known: string[] = Array.from({ length: KNOWN_MAX }, () => '')

/** The same ASCII text is the same string again: it is not made anew, and tables need not hash it anew. */
export function textAt(bytes: Uint8Array, start: number, end: number): string {
  const length = end - start
  if (length > KNOWN_LENGTH_MAX) return decoder.decode(bytes.subarray(start, end))
  let hash = length
  let all = 0
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number
    hash = (Math.imul(hash, 31) + byte) | 0
    all |= byte
  }
  if (all > 0x7f) return decoder.decode(bytes.subarray(start, end))
  const place = (hash ^ (hash >>> 15)) & (KNOWN_MAX - 1)
  const before = known[place] as string
  if (isText(bytes, start, end, before)) return before
  const text = decoder.decode(bytes.subarray(start, end))
  known[place] = text
  return text
}

/** Whether these bytes, taken for ASCII, are that text. */
export function isText(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false
  for (let index = 0; index < text.length; index += 1) if (bytes[start + index] !== text.charCodeAt(index)) return false
  return true
}

/** In place: a view would cost more than the look. */
export function hasBackslash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true
  return false
}

/** The value of a JSON string, quotes included in `[start, end)`; null for any other. */
export function stringAt(bytes: Uint8Array, start: number, end: number): string | null {
  if (bytes[start] !== QUOTE) return null
  return hasBackslash(bytes, start, end) ? (JSON.parse(textAt(bytes, start, end)) as string) : textAt(bytes, start + 1, end - 1)
}

/**
 * An id or token in the one way of writing it that its peers will use: `"\u0061"` is `"a"`, `1.0` is `1`; a whole number stays as it is.
 * Null for what is neither string nor number.
 */
export function idAt(bytes: Uint8Array, start: number, end: number): string | null {
  const first = bytes[start]
  if (first === QUOTE) {
    const raw = textAt(bytes, start, end)
    return hasBackslash(bytes, start, end) ? JSON.stringify(JSON.parse(raw)) : raw
  }
  if (first !== MINUS && !isDigit(first)) return null
  const raw = textAt(bytes, start, end)
  if (!isWhole(bytes, first === MINUS ? start + 1 : start, end)) return String(Number(raw))
  return raw === '-0' ? '0' : raw
}

function isWhole(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!isDigit(bytes[at])) return false
  return true
}

/** Null where it is no number. */
export function numberAt(bytes: Uint8Array, start: number, end: number): number | null {
  const first = bytes[start]
  return first === MINUS || isDigit(first) ? Number(textAt(bytes, start, end)) : null
}

export const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39
