/**
 * Rows of numbers, of words and of text, written and read field by field in one order: in bytes that no collection looks at. What is kept by
 * the thousand outlives every collection of the young, which would move it twice; and JSON costs about twice as much to write.
 */

/** How much of each there is in a row, and how many rows. */
export interface RowSize {
  readonly rows: number
  readonly numbers: number
  readonly words: number
  /** Of all texts of a row together, with a separator each. */
  readonly textBytes: number
}

export interface Rows {
  readonly size: RowSize
  readonly numbers: Float64Array
  readonly words: Uint16Array
  readonly texts: Buffer
  /** Of the text in use, by row. */
  readonly textSizes: Uint16Array
  /** Where it is written or read. */
  row: number
  numberAt: number
  wordAt: number
  /** What is written so far, or what is left to be read. */
  text: string
  hasRoom: boolean
  /** Those seen so far, and where each stands, from 1 on. */
  readonly known: string[]
  readonly placeOf: Map<string, number>
}

/** Different ones that are told apart: they are meant for the words of closed sets. */
const WORDS_MAX = 1_000
const WORD_LENGTH_MAX = 64

const END = '\n'
/** Of a character beyond the first 65,536, the one without the other: in UTF-8 there is no such thing. */
const HALVES = /\p{Surrogate}/u
/** In place of a text: null. */
const NONE = '\0'

export const createRows = (size: RowSize): Rows => ({
  size,
  numbers: new Float64Array(size.rows * size.numbers),
  words: new Uint16Array(size.rows * size.words),
  texts: Buffer.allocUnsafeSlow(size.rows * size.textBytes), // the system gives what is written to
  textSizes: new Uint16Array(size.rows),
  row: 0,
  numberAt: 0,
  wordAt: 0,
  text: '',
  hasRoom: true,
  known: [],
  placeOf: new Map(),
})

function goTo(rows: Rows, row: number): void {
  rows.row = row
  rows.numberAt = row * rows.size.numbers
  rows.wordAt = row * rows.size.words
  rows.hasRoom = true
}

export function beginRow(rows: Rows, row: number): void {
  goTo(rows, row)
  rows.text = ''
}

export function putNumber(rows: Rows, value: number | null): void {
  if (rows.numberAt === (rows.row + 1) * rows.size.numbers) rows.hasRoom = false
  else rows.numbers[rows.numberAt++] = value ?? Number.NaN
}

/** One of a few. */
export function putWord(rows: Rows, word: string | null): void {
  if (rows.wordAt === (rows.row + 1) * rows.size.words) rows.hasRoom = false
  else rows.words[rows.wordAt++] = word === null ? 0 : (rows.placeOf.get(word) ?? newWord(rows, word))
}

function newWord(rows: Rows, word: string): number {
  const { known, placeOf } = rows
  if (known.length === WORDS_MAX || word.length > WORD_LENGTH_MAX) {
    rows.hasRoom = false
    return 0
  }
  known.push(word)
  placeOf.set(word, known.length)
  return known.length
}

/** Any. */
export function putText(rows: Rows, text: string | null): void {
  if (text === null) rows.text += NONE + END
  else {
    if (text === NONE || text.includes(END)) rows.hasRoom = false
    rows.text += text + END
  }
}

/** False: something had no room, and the row is not to be read. */
export function endRow(rows: Rows): boolean {
  const { text, texts, row, size } = rows
  rows.text = ''
  // A character takes three bytes at most.
  if (!rows.hasRoom || (text.length * 3 > size.textBytes && Buffer.byteLength(text) > size.textBytes)) return false
  const bytes = texts.write(text, row * size.textBytes)
  rows.textSizes[row] = bytes
  return bytes === text.length || !HALVES.test(text)
}

export function readRow(rows: Rows, row: number): void {
  goTo(rows, row)
  const from = row * rows.size.textBytes
  rows.text = rows.texts.toString('utf8', from, from + (rows.textSizes[row] ?? 0))
}

export function getNumber(rows: Rows): number | null {
  const value = rows.numbers[rows.numberAt++] ?? Number.NaN
  return Number.isNaN(value) ? null : value
}

export function getWord(rows: Rows): string | null {
  const place = rows.words[rows.wordAt++] ?? 0
  return place === 0 ? null : (rows.known[place - 1] ?? null)
}

/** Undefined: there is no other. */
export function getText(rows: Rows): string | null | undefined {
  const end = rows.text.indexOf(END)
  if (end < 0) return undefined
  const text = rows.text.slice(0, end)
  rows.text = rows.text.slice(end + 1)
  return text === NONE ? null : text
}
