/** What users write for the admin API outside of flags: YAML or JSON in a file, or on stdin. */
import type { FlagValues } from '../config/given.ts'
import { readDocument } from '../config/yaml-document.ts'
import type { World } from './world.ts'

export type Written = { readonly written: readonly unknown[] } | { readonly error: string }

/** One entry, a list of them, or an object with the list under `key`, as in a configuration. `name`: `-` for stdin. */
export function readWritten(name: FlagValues[string], world: World, key: string): Written {
  if (typeof name !== 'string') return { error: '--file: expected one file: give it once' }
  const where = name === '-' ? 'stdin' : name
  const text = textOf(name, world)
  if (text === null) return { error: `--file: expected a file, but ${where} cannot be read` }
  const read = readDocument(text, where)
  if ('errors' in read) return { error: read.errors[0] ?? `${where}: no YAML` }
  const { value } = read
  const inner = typeof value === 'object' && value !== null && key in value ? (value as Record<string, unknown>)[key] : value
  if (inner === null || inner === undefined) return { error: `${where}: expected ${key}, got nothing` }
  return { written: Array.isArray(inner) ? inner : [inner] }
}

function textOf(name: string, world: World): string | null {
  try {
    return name === '-' ? (world.readInput?.() ?? null) : world.readFile(name)
  } catch {
    return null
  }
}
