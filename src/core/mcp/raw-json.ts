/**
 * Finds wanted members of a JSON text and gives them as they are written: `JSON.parse` would round numbers beyond 2^53.
 * Strict (RFC 8259) but for UTF-8, which it takes as it comes; reads bytes, so that a big event need not be decoded to know its id.
 */
import { hashOf } from './hash.ts'
import { CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, skipColon, skipKey, skipSpace, skipValue } from './json-skip.ts'
import { hasBackslash, idAt, isText, numberAt, stringAt, textAt } from './json-text.ts'

/** Which members to keep, by name; `{}`: the value itself, nothing inside it. */
export interface Wanted {
  readonly [name: string]: Wanted
}

/** What is wanted, as the reading needs it: each member has a number. Made once. */
export interface Shape {
  readonly wishes: readonly Wish[]
  readonly count: number
  /** What was found in a text that is one object: lent until the next reading. */
  readonly lent: Found
  readonly lentAlone: readonly Found[]
}

interface Wish {
  readonly name: string
  readonly slot: number
  readonly inner: readonly Wish[]
  readonly isHashed: boolean
}

/** Where the members of one message are: `[start, end)` of the n-th at 2n and 2n + 1, -1 where it is not there. */
export interface Found {
  readonly spans: Int32Array
  /** Of the hashed member: a number that its members but `_meta` give together, whatever their order; values count as written. */
  hash: number
}

const HASHES = 2 ** 52

/** `hashed`: the name of an outermost member. */
export function shapeOf(wanted: Wanted, hashed: string | null = null): Shape {
  let count = 0
  const wishesOf = (of: Wanted, isOuter: boolean): readonly Wish[] =>
    Object.entries(of).map(([name, inside]) => {
      const slot = count
      count += 1
      return { name, slot, inner: wishesOf(inside, false), isHashed: isOuter && name === hashed }
    })
  const wishes = wishesOf(wanted, true)
  const lent = foundOf(count)
  return { wishes, count, lent, lentAlone: [lent] }
}

const foundOf = (count: number): Found => ({ spans: new Int32Array(2 * count), hash: 0 })

/** The number of the member that is reached over these names. */
export function slotOf({ wishes }: Shape, ...names: readonly string[]): number {
  let among = wishes
  let slot = -1
  for (const name of names) {
    const wish = among.find((one) => one.name === name)
    slot = wish?.slot ?? -1
    among = wish?.inner ?? []
  }
  return slot
}

const startOf = ({ spans }: Found, slot: number): number => spans[2 * slot] as number
const endOf = ({ spans }: Found, slot: number): number => spans[2 * slot + 1] as number
export const isThere = ({ spans }: Found, slot: number): boolean => spans[2 * slot] !== -1

/** The value of a string; null for any other. */
export const stringOf = (bytes: Uint8Array, found: Found, slot: number): string | null =>
  isThere(found, slot) ? stringAt(bytes, startOf(found, slot), endOf(found, slot)) : null

/** An id or token; null for what is neither string nor number. */
export const idOf = (bytes: Uint8Array, found: Found, slot: number): string | null =>
  isThere(found, slot) ? idAt(bytes, startOf(found, slot), endOf(found, slot)) : null

export const numberOf = (bytes: Uint8Array, found: Found, slot: number): number | null =>
  isThere(found, slot) ? numberAt(bytes, startOf(found, slot), endOf(found, slot)) : null

export const isObject = (bytes: Uint8Array, found: Found, slot: number): boolean =>
  isThere(found, slot) && bytes[startOf(found, slot)] === OPEN_OBJECT

/** The value, as it is written, is this. */
export const isRaw = (bytes: Uint8Array, found: Found, slot: number, text: string): boolean =>
  isThere(found, slot) && isText(bytes, startOf(found, slot), endOf(found, slot), text)

/**
 * The one JSON value that the first `length` bytes are: of an outermost array each element, else that value; null where they are none,
 * or nested deeper than 200. Of a name given twice the last counts, as `JSON.parse` has it.
 */
export function findIn(bytes: Uint8Array, length: number, shape: Shape): readonly Found[] | null {
  const start = skipSpace(bytes, 0)
  if (bytes[start] === OPEN_ARRAY) return findBatch(bytes, start, length, shape)
  const end = findMessage(bytes, start, shape, 0, shape.lent)
  return end >= 0 && skipSpace(bytes, end) === length ? shape.lentAlone : null
}

function findBatch(bytes: Uint8Array, start: number, length: number, shape: Shape): readonly Found[] | null {
  const found: Found[] = []
  const end = findElements(bytes, start, shape, found)
  if (end < 0 || skipSpace(bytes, end) !== length) return null
  if (found.length > 0) return found
  shape.lent.spans.fill(-1)
  return shape.lentAlone
}

function findElements(bytes: Uint8Array, start: number, shape: Shape, found: Found[]): number {
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === CLOSE_ARRAY) return at + 1
  for (;;) {
    const element = foundOf(shape.count)
    const end = findMessage(bytes, at, shape, 1, element)
    if (end < 0) return -1
    found.push(element)
    at = skipSpace(bytes, end)
    if (bytes[at] === CLOSE_ARRAY) return at + 1
    if (bytes[at] !== COMMA) return -1
    at = skipSpace(bytes, at + 1)
  }
}

function findMessage(bytes: Uint8Array, start: number, { wishes }: Shape, depth: number, found: Found): number {
  found.spans.fill(-1)
  if (bytes[start] !== OPEN_OBJECT || wishes.length === 0) return skipValue(bytes, start, depth)
  return findMembers(bytes, start, wishes, false, depth, found)
}

function findMembers(bytes: Uint8Array, start: number, wishes: readonly Wish[], isHashed: boolean, depth: number, found: Found): number {
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === CLOSE_OBJECT) return at + 1
  for (;;) {
    const keyEnd = skipKey(bytes, at)
    if (keyEnd < 0) return -1
    const from = skipColon(bytes, keyEnd)
    if (from < 0) return -1
    const wish = wishFor(bytes, at, keyEnd, wishes)
    const end = wish === null ? skipValue(bytes, from, depth + 1) : findValue(bytes, from, wish, depth + 1, found)
    if (end < 0) return -1
    if (isHashed && !isText(bytes, at + 1, keyEnd - 1, '_meta')) {
      found.hash = (found.hash + hashOf(bytes, from, end, hashOf(bytes, at, keyEnd))) % HASHES
    }
    at = skipSpace(bytes, end)
    if (bytes[at] === CLOSE_OBJECT) return at + 1
    if (bytes[at] !== COMMA) return -1
    at = skipSpace(bytes, at + 1)
  }
}

function findValue(bytes: Uint8Array, start: number, { slot, inner, isHashed }: Wish, depth: number, found: Found): number {
  const { spans } = found
  if (spans[2 * slot] !== -1) forget(inner, spans)
  if (isHashed) found.hash = 0
  const isOpened = bytes[start] === OPEN_OBJECT && inner.length > 0
  const end = isOpened ? findMembers(bytes, start, inner, isHashed, depth, found) : skipValue(bytes, start, depth)
  spans[2 * slot] = start
  spans[2 * slot + 1] = end
  return end
}

/** What the same name held before. */
function forget(wishes: readonly Wish[], spans: Int32Array): void {
  for (const { slot, inner } of wishes) {
    spans[2 * slot] = -1
    forget(inner, spans)
  }
}

/** Which wish the key `[start, end)`, quotes included, is; compared in place, for most keys are none. */
function wishFor(bytes: Uint8Array, start: number, end: number, wishes: readonly Wish[]): Wish | null {
  for (const wish of wishes) if (isText(bytes, start + 1, end - 1, wish.name)) return wish
  if (!hasBackslash(bytes, start, end)) return null
  const name = JSON.parse(textAt(bytes, start, end)) as string
  return wishes.find((wish) => wish.name === name) ?? null
}
