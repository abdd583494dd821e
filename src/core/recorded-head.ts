/** What of a server's head decides how hops take its body, as words in a record's timeline and back. */
import type { RawHeaders } from './signal.ts'
import { headerOf } from './signal.ts'

const NAMES = ['content-length', 'content-encoding', 'x-accel-buffering'] as const
const VALUE_LENGTH_MAX = 40

/** `["content-length: 20"]`; nothing of a plain stream. */
export function headWords(rawHeaders: RawHeaders): readonly string[] {
  return NAMES.flatMap((name) => {
    const value = headerOf(rawHeaders, name)
    return value === null ? [] : [`${name}: ${value.slice(0, VALUE_LENGTH_MAX)}`]
  })
}

/** What is no such word is left out. */
export function headersOfWords(words: readonly (string | number)[]): RawHeaders {
  return words.flatMap((word) => {
    const [name = '', value] = String(word).split(': ', 2)
    return value !== undefined && (NAMES as readonly string[]).includes(name) ? [name, value] : []
  })
}
