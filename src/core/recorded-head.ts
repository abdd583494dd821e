/** What of a server's head decides how hops take its body, as words in a record's timeline and back. */
import type { RawHeaders } from './signal.ts'
import { headerOf } from './signal.ts'

const NAMES = ['content-length', 'content-encoding', 'x-accel-buffering'] as const
const VALUE_LENGTH_MAX = 40
const NONE: readonly never[] = []

/** `["content-length: 20"]`; nothing of a plain stream. */
export function headWords(rawHeaders: RawHeaders): readonly string[] {
  let words: readonly string[] = NONE
  for (const name of NAMES) {
    const value = headerOf(rawHeaders, name)
    if (value === null) continue
    const word = `${name}: ${value.slice(0, VALUE_LENGTH_MAX)}`
    words = words.length === 0 ? [word] : [...words, word]
  }
  return words
}

/** What is no such word is left out. */
export function headersOfWords(words: readonly (string | number)[]): RawHeaders {
  return words.flatMap((word) => {
    const [name = '', value] = String(word).split(': ', 2)
    return value !== undefined && (NAMES as readonly string[]).includes(name) ? [name, value] : []
  })
}
