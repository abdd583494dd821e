/** Reads a configuration file: its variables replaced, its keys checked, each complaint with file, line and key. */
import { z } from 'zod'
import { problemsOf } from '../hops/shape.ts'
import type { Expanded } from './environment.ts'
import { expandEnvironment } from './environment.ts'
import type { Environment } from './given.ts'
import type { FileSettings } from './schema.ts'
import { settingsSchema } from './schema.ts'
import { lineFinder, readYaml } from './yaml-file.ts'

export interface SettingsFile {
  readonly name: string
  readonly settings: FileSettings
  /** Variables it refers to. */
  readonly used: ReadonlySet<string>
  /** `FILE:LINE KEY`, for complaints made after reading. */
  placeOf(key: string, path: readonly (string | number)[]): string
}

/** Throws nothing: an unreadable file is one line as well. */
export function readSettingsFile(
  name: string,
  env: Environment,
  readFile: (path: string) => string,
): SettingsFile | { readonly errors: readonly string[] } {
  const text = readText(name, readFile)
  if (typeof text !== 'string') return text
  const used = new Set<string>()
  const read = readYaml(text, expandedSchema(env, used), name)
  if ('errors' in read) return read
  const lineOf = lineFinder(text)
  return {
    name,
    settings: read.value,
    used,
    placeOf: (key, path) => `${name}${lineOf(path) === null ? '' : `:${lineOf(path)}`} ${key}`,
  }
}

/** The text, or why it cannot be had. `expected`: what the file should have been. */
export function readText(
  name: string,
  readFile: (path: string) => string,
  expected = 'a configuration file',
): string | { readonly errors: readonly string[] } {
  try {
    return readFile(name)
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unreadable'
    const why: Readonly<Record<string, string>> = {
      ENOENT: 'there is no such file',
      EISDIR: 'it is a folder',
      EACCES: 'it may not be read by this user',
    }
    return { errors: [`${name}: expected ${expected}, but ${why[code] ?? `it cannot be read (${code})`}`] }
  }
}

/** Variables and keys are checked in one go, so that a user sees all complaints at once. */
function expandedSchema(env: Environment, used: Set<string>) {
  return z.unknown().transform((raw, context): FileSettings => {
    const expanded = expandEnvironment(raw, env)
    for (const name of expanded.used) used.add(name)
    for (const { path, message } of expanded.unset) context.issues.push({ code: 'custom', path: [...path], message, input: raw })
    const checked = settingsSchema.safeParse(expanded.value)
    if (checked.success) return checked.data
    for (const { path, message } of problemsOf(checked.error.issues)) {
      if (!isAbout(path, expanded)) context.issues.push({ code: 'custom', path: [...path], message, input: expanded.value })
    }
    return z.NEVER
  })
}

/** An unset variable leaves its text behind: one complaint about it is enough. */
const isAbout = (path: readonly PropertyKey[], { unset }: Expanded): boolean =>
  unset.some((one) => one.path.length === path.length && one.path.every((key, index) => key === path[index]))
