/** Hops of a path put together: a preset by its name, changes laid over, a name unique in the path. */
import { suggestion } from '../core/suggest.ts'
import type { Hop } from './hop.ts'
import type { HopFile } from './hop-schema.ts'
import { hopProblems, overrideHop, resolveHop } from './resolve.ts'
import type { Problem } from './shape.ts'

/** A hop as a path asks for it. */
export interface HopAsked {
  readonly name: string
  readonly with?: HopFile | undefined
}
/** What `hop: custom` is: nothing by itself. */
export const CUSTOM = 'custom'

export type Composed = { readonly hops: readonly Hop[] } | { readonly problems: readonly Problem[] }

/** `path[1]:nginx`. */
export const seatName = (index: number, preset: string): string => `path[${index}]:${preset}`

/** `presetOf` gives a preset's file, or null where there is none of that name; `known` are the names to suggest. Problems are placed as in the file: `[1, 'with', 'idle', 'after']`. */
export function composePath(asked: readonly HopAsked[], presetOf: (name: string) => HopFile | null, known: readonly string[]): Composed {
  const hops: Hop[] = []
  const problems: Problem[] = []
  asked.forEach(({ name, with: changes = {} }, index) => {
    const file = name === CUSTOM ? {} : presetOf(name)
    if (file === null) {
      problems.push({ path: [index, 'hop'], message: `unknown hop "${name}"${suggestion(name, [...known, CUSTOM])}` })
      return
    }
    const whole = overrideHop(file, changes)
    const lacking = hopProblems(whole)
    problems.push(...lacking.map(({ path, message }) => ({ path: [index, 'with', ...path], message })))
    if (lacking.length === 0) hops.push(resolveHop(whole, { name: seatName(index, name), preset: name }))
  })
  return problems.length > 0 ? { problems } : { hops }
}
