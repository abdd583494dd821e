/** What of a server's head decides how hops take its body, as words in a record's timeline and back. */
import type { RawHeaders } from './signal.ts'
import { headerOf } from './signal.ts'

const NAMES = ['content-length', 'content-encoding', 'x-accel-buffering'] as const
const VALUE_LENGTH_MAX = 40

/** `["content-length: 20"]`; nothing of a plain stream. */
export function headWords(rawHeaders: RawHeaders): readonly string[] {
  const words: string[] = []
  for (const name of NAMES) {
    const value = headerOf(rawHeaders, name)
    if (value !== null) words.push(`${name}: ${value.slice(0, VALUE_LENGTH_MAX)}`)
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
