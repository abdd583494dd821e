/**
 * Finds wanted members of a JSON text and gives them as they are written: `JSON.parse` would round numbers beyond 2^53.
 * Strict (RFC 8259) but for UTF-8, which it takes as it comes; reads bytes, so that a big event need not be decoded to know its id.
 */
import { hashOf } from './hash.ts'

/** Which members to keep, by name; `{}`: the value itself, nothing inside it. */
export interface Wanted {
  readonly [name: string]: Wanted
}

/** A value: `bytes[start, end)`. Only wanted members are kept; of a name given twice the last, as `JSON.parse` has it. */
export interface Found {
  readonly start: number
  readonly end: number
  readonly members: ReadonlyMap<string, Found>
  /** Of an outermost array, each read with the same wishes; else empty. */
  readonly elements: readonly Found[]
}

const DEPTH_MAX = 200
const NO_MEMBERS: ReadonlyMap<string, Found> = new Map()
const NO_ELEMENTS: readonly Found[] = []
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const ESCAPED = new Set([QUOTE, BACKSLASH, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74])

export const bytesOfText = (text: string): Uint8Array => encoder.encode(text)
export const textOfBytes = (bytes: Uint8Array): string => textAt(bytes, 0, bytes.length)

/** The one JSON value that `bytes` are; null where they are none, or nested deeper than 200. */
export function findIn(bytes: Uint8Array, wanted: Wanted): Found | null {
  const start = skipSpace(bytes, 0)
  const found = bytes[start] === OPEN_ARRAY ? findElements(bytes, start, wanted) : findValue(bytes, start, wanted, 0)
  return found !== null && skipSpace(bytes, found.end) === bytes.length ? found : null
}

/** The value as it is written. */
export const rawOf = (bytes: Uint8Array, { start, end }: Found): string => textAt(bytes, start, end)

/** The value of a string; null for any other. */
export function stringOf(bytes: Uint8Array, found: Found | undefined): string | null {
  if (found === undefined || bytes[found.start] !== QUOTE) return null
  const raw = rawOf(bytes, found)
  return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1)
}

/**
 * An id or token in the one way of writing it that its peers will use: `"\u0061"` is `"a"`, `1.0` is `1`; a whole number stays as it is.
 * Null for what is neither string nor number.
 */
export function idOf(bytes: Uint8Array, found: Found | undefined): string | null {
  if (found === undefined) return null
  const raw = rawOf(bytes, found)
  if (raw.startsWith('"')) return raw.includes('\\') ? JSON.stringify(JSON.parse(raw)) : raw
  if (/^-?\d+$/.test(raw)) return raw === '-0' ? '0' : raw
  return /^-?\d/.test(raw) ? String(Number(raw)) : null
}

const HASHES = 2 ** 52

/** A number that the members of an object `bytes[start, end)` but `_meta` give together, whatever their order; values count as written. */
export function hashOfMembers(bytes: Uint8Array, { start }: Found): number {
  let hash = 0
  skipObject(bytes, start, (at, keyStart, keyEnd) => {
    const end = skipValue(bytes, at, 1)
    if (end > 0 && !isWritten(bytes, keyStart + 1, keyEnd - 1, '_meta')) {
      hash = (hash + hashOf(bytes, at, end, hashOf(bytes, keyStart, keyEnd))) % HASHES
    }
    return end
  })
  return hash
}

function findElements(bytes: Uint8Array, start: number, wanted: Wanted): Found | null {
  const elements: Found[] = []
  const end = skipArray(bytes, start, (at) => {
    const element = findValue(bytes, at, wanted, 1)
    if (element === null) return -1
    elements.push(element)
    return element.end
  })
  return end < 0 ? null : { start, end, members: NO_MEMBERS, elements }
}

function findValue(bytes: Uint8Array, start: number, wanted: Wanted, depth: number): Found | null {
  if (bytes[start] !== OPEN_OBJECT || isEmpty(wanted)) {
    const end = skipValue(bytes, start, depth)
    return end < 0 ? null : { start, end, members: NO_MEMBERS, elements: NO_ELEMENTS }
  }
  const members = new Map<string, Found>()
  const end = skipObject(bytes, start, (at, keyStart, keyEnd) => {
    const name = wantedName(bytes, keyStart, keyEnd, wanted)
    const inner = name === null ? undefined : wanted[name]
    if (name === null || inner === undefined) return skipValue(bytes, at, depth + 1)
    const member = findValue(bytes, at, inner, depth + 1)
    if (member === null) return -1
    members.set(name, member)
    return member.end
  })
  return end < 0 ? null : { start, end, members, elements: NO_ELEMENTS }
}

function isEmpty(wanted: Wanted): boolean {
  for (const _ in wanted) return false
  return true
}

/** Which wish the key `[start, end)`, quotes included, is; compared in place, for most keys are none. */
function wantedName(bytes: Uint8Array, start: number, end: number, wanted: Wanted): string | null {
  for (const name in wanted) if (isWritten(bytes, start + 1, end - 1, name)) return name
  if (!hasBackslash(bytes, start, end)) return null
  const name = JSON.parse(textAt(bytes, start, end)) as string
  return Object.hasOwn(wanted, name) ? name : null
}

/** In place: a view of the key would cost more than the look. */
function hasBackslash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true
  return false
}

/** Names wished for are ASCII. */
function isWritten(bytes: Uint8Array, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false
  for (let index = 0; index < name.length; index += 1) if (bytes[start + index] !== name.charCodeAt(index)) return false
  return true
}

const SHORT = 16

/** A decoder is slow to start: short ASCII, as ids and methods are, is read without it. */
function textAt(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > SHORT) return decoder.decode(bytes.subarray(start, end))
  let text = ''
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number
    if (byte > 0x7f) return decoder.decode(bytes.subarray(start, end))
    text += String.fromCharCode(byte)
  }
  return text
}

// Each `skip…` gives the place after what it passed, or -1 where that is malformed.

function skipValue(bytes: Uint8Array, at: number, depth: number): number {
  if (depth > DEPTH_MAX) return -1
  const first = bytes[at]
  if (first === QUOTE) return skipString(bytes, at)
  if (first === OPEN_OBJECT) return skipObject(bytes, at, null, depth + 1)
  if (first === OPEN_ARRAY) return skipArray(bytes, at, null, depth + 1)
  if (first === 0x74) return skipWord(bytes, at, 'true')
  if (first === 0x66) return skipWord(bytes, at, 'false')
  if (first === 0x6e) return skipWord(bytes, at, 'null')
  return skipNumber(bytes, at)
}

type TakeMember = (at: number, keyStart: number, keyEnd: number) => number

/** `take` gives each member's end; null: they are passed, `depth` deep, without a closure for each object. */
function skipObject(bytes: Uint8Array, start: number, take: TakeMember | null, depth = 1): number {
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === CLOSE_OBJECT) return at + 1
  for (;;) {
    if (bytes[at] !== QUOTE) return -1
    const keyEnd = skipString(bytes, at)
    if (keyEnd < 0) return -1
    const colon = skipSpace(bytes, keyEnd)
    if (bytes[colon] !== COLON) return -1
    const from = skipSpace(bytes, colon + 1)
    const end = take === null ? skipValue(bytes, from, depth) : take(from, at, keyEnd)
    if (end < 0) return -1
    at = skipSpace(bytes, end)
    if (bytes[at] === CLOSE_OBJECT) return at + 1
    if (bytes[at] !== COMMA) return -1
    at = skipSpace(bytes, at + 1)
  }
}

function skipArray(bytes: Uint8Array, start: number, take: ((at: number) => number) | null, depth = 1): number {
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === CLOSE_ARRAY) return at + 1
  for (;;) {
    const end = take === null ? skipValue(bytes, at, depth) : take(at)
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

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1
  return at
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39
const isHex = (byte: number | undefined): boolean =>
  isDigit(byte) || (byte !== undefined && ((byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)))
