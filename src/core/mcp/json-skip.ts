/** Passing over JSON, strictly (RFC 8259) but for UTF-8, byte by byte: each `skip…` gives the place behind, or -1 where that is malformed. */
import { isDigit } from './json-text.ts'

const DEPTH_MAX = 200

export const QUOTE = 0x22
const BACKSLASH = 0x5c
export const COMMA = 0x2c
const COLON = 0x3a
export const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const ESCAPED = new Set([QUOTE, BACKSLASH, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74])

export function skipValue(bytes: Uint8Array, at: number, depth: number): number {
  if (depth > DEPTH_MAX) return -1
  const first = bytes[at]
  if (first === QUOTE) return skipString(bytes, at)
  if (first === OPEN_OBJECT) return skipObject(bytes, at, depth + 1)
  if (first === OPEN_ARRAY) return skipArray(bytes, at, depth + 1)
  if (first === 0x74) return skipWord(bytes, at, 'true')
  if (first === 0x66) return skipWord(bytes, at, 'false')
  if (first === 0x6e) return skipWord(bytes, at, 'null')
  return skipNumber(bytes, at)
}

function skipObject(bytes: Uint8Array, start: number, depth: number): number {
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === CLOSE_OBJECT) return at + 1
  for (;;) {
    const keyEnd = skipKey(bytes, at)
    if (keyEnd < 0) return -1
    const from = skipColon(bytes, keyEnd)
    if (from < 0) return -1
    const end = skipValue(bytes, from, depth)
    if (end < 0) return -1
    at = skipSpace(bytes, end)
    if (bytes[at] === CLOSE_OBJECT) return at + 1
    if (bytes[at] !== COMMA) return -1
    at = skipSpace(bytes, at + 1)
  }
}

export function skipKey(bytes: Uint8Array, at: number): number {
  return bytes[at] === QUOTE ? skipString(bytes, at) : -1
}

/** From behind a key to its value. */
export function skipColon(bytes: Uint8Array, keyEnd: number): number {
  const colon = skipSpace(bytes, keyEnd)
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1
}

function skipArray(bytes: Uint8Array, start: number, depth: number): number {
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === CLOSE_ARRAY) return at + 1
  for (;;) {
    const end = skipValue(bytes, at, depth)
    if (end < 0) return -1
    at = skipSpace(bytes, end)
    if (bytes[at] === CLOSE_ARRAY) return at + 1
    if (bytes[at] !== COMMA) return -1
    at = skipSpace(bytes, at + 1)
  }
}

function skipString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (byte === QUOTE) return at + 1
    if (byte < 0x20) return -1
    if (byte !== BACKSLASH) continue
    at += 1
    const escaped = bytes[at]
    if (escaped === 0x75) {
      for (let digit = 1; digit <= 4; digit += 1) if (!isHex(bytes[at + digit])) return -1
      at += 4
    } else if (escaped === undefined || !ESCAPED.has(escaped)) return -1
  }
  return -1
}

function skipNumber(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === 0x2d ? start + 1 : start
  const whole = skipDigits(bytes, at)
  if (whole === at || (bytes[at] === 0x30 && whole > at + 1)) return -1
  at = whole
  if (bytes[at] === 0x2e) {
    const fraction = skipDigits(bytes, at + 1)
    if (fraction === at + 1) return -1
    at = fraction
  }
  if (bytes[at] !== 0x65 && bytes[at] !== 0x45) return at
  at += bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d ? 2 : 1
  const exponent = skipDigits(bytes, at)
  return exponent === at ? -1 : exponent
}

function skipDigits(bytes: Uint8Array, start: number): number {
  let at = start
  while (isDigit(bytes[at])) at += 1
  return at
}

function skipWord(bytes: Uint8Array, start: number, word: string): number {
  for (let index = 0; index < word.length; index += 1) if (bytes[start + index] !== word.charCodeAt(index)) return -1
  return start + word.length
}

export function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1
  return at
}

const isHex = (byte: number | undefined): boolean =>
  isDigit(byte) || (byte !== undefined && ((byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)))
