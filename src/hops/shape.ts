/** Words for schemas of files: durations, sizes, strict objects; and what a schema's complaint says to a user. */
import { z } from 'zod'
import { suggestion } from '../core/suggest.ts'
import { parseDuration, parseSize } from '../core/units.ts'

/** Where in the file, and what was expected. */
export interface Problem {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** A value as a message shows it. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

const durationMessage = (input: unknown): string =>
  typeof input === 'number'
    ? `expected a duration such as "30s", got ${input}: a bare number has no unit, write "${input}s" or "${input}ms"`
    : `expected a duration such as "30s", "250ms" or "1m30s", got ${show(input)}${unitless(input)}`

/** A number as text, from a flag or in quotes. */
const unitless = (input: unknown): string =>
  typeof input === 'string' && /^\d+(\.\d+)?$/.test(input) ? `: a number needs a unit, write ${input}s or ${input}ms` : ''

function readDuration<None>(none: None | null) {
  return z
    .string({ error: ({ input }) => durationMessage(input) })
    .transform((text, context): number | None => {
      if (text === 'none' && none !== null) return none
      const ms = parseDuration(text)
      const isNoLimit = ms === 0 && none !== null // elsewhere 0 means off; here it would cut at once
      if (ms !== null && !isNoLimit) return ms
      const message = isNoLimit ? `expected a duration above 0, or none for no limit, got ${show(text)}` : durationMessage(text)
      context.addIssue({ code: 'custom', message, input: text })
      return z.NEVER
    })
    .meta({ description: 'A duration with its unit: 250ms, 60s, 1m30s, 24h', examples: ['60s'] })
}

/** `30s` → 30000. Milliseconds out, a string with a unit in. */
export const duration = readDuration<never>(null)
/** The same above 0, or `none`. */
export const durationOrNone = readDuration<'none'>('none')

const sizeMessage = (input: unknown): string => `expected a size such as "4KiB", "1MiB" or a number of bytes, got ${show(input)}`

function readSize<None>(none: None | null) {
  return z
    .union([z.string(), z.number()], { error: ({ input }) => sizeMessage(input) })
    .transform((value, context): number | None => {
      if (value === 'none' && none !== null) return none
      const bytes = parseSize(String(value))
      if (bytes !== null) return bytes
      context.addIssue({ code: 'custom', message: sizeMessage(value), input: value as never })
      return z.NEVER
    })
    .meta({ description: 'A size: 4096B, 4KiB, 1MiB; a bare number is bytes', examples: ['4KiB'] })
}

/** `4KiB` → 4096; a bare number is bytes. */
export const size = readSize<never>(null)
/** The same, or `none`. */
export const sizeOrNone = readSize<'none'>('none')

/** A whole number of at least `min`. */
export function count(min: number, what: string, max = 1_000_000) {
  const error = ({ input }: { input?: unknown }) => `expected a number of ${what}, ${min} at least, got ${show(input)}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

/** One of these words; the complaint names them. */
export function oneOf<const Words extends readonly [string, ...string[]]>(...words: Words) {
  return z.enum(words, {
    error: ({ input }) =>
      `expected ${words.join(', ')}, got ${show(input)}${typeof input === 'string' && words.length > 1 ? near(input, words) : ''}`,
  })
}
const near = (word: string, words: readonly string[]): string => {
  const said = suggestion(word, words)
  return said.startsWith('; did') ? said : ''
}

/** An object in which an unknown key is an error that says what was meant. */
export function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? (issue['keys'] as string[]).map((key) => `unknown key "${key}"${suggestion(key, known)}`).join('\n')
        : `expected an object with ${known.slice(0, 4).join(', ')}${known.length > 4 ? ' …' : ''}, got ${show(issue.input)}`,
  })
}

/** A schema's complaints, one per place; of a choice, those of the alternative that was meant. */
export function problemsOf(issues: readonly z.core.$ZodIssue[]): readonly Problem[] {
  return issues.flatMap((issue) => problems(issue, []))
}

function problems(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): readonly Problem[] {
  const path = [...above, ...issue.path].map((key) => (typeof key === 'symbol' ? String(key) : key))
  if (issue.code === 'invalid_union') {
    const meant = alternativeMeant(issue.errors)
    if (meant !== null) return meant.flatMap((inner) => problems(inner, path))
  }
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  const messages = issue.message.split('\n')
  return issue.keys.map((key, index) => ({ path: [...path, key], message: messages[index] ?? `unknown key "${key}"` }))
}

/** The one whose outer shape fits what was given: it complains of something inside. */
function alternativeMeant(alternatives: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | null {
  const isInside = (issue: z.core.$ZodIssue): boolean =>
    issue.path.length > 0 ||
    issue.code === 'unrecognized_keys' ||
    issue.code === 'custom' ||
    (issue.code === 'invalid_union' && alternativeMeant(issue.errors) !== null)
  const fitting = alternatives.filter((issues) => issues.length > 0 && issues.every(isInside))
  return fitting[0] ?? null
}

/** `path[1].with.idle.after`, as messages name a place. */
export function placeOf(path: readonly (string | number)[]): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`)).join('')
}
