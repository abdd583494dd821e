/** Reads a configuration file: its variables replaced, its keys checked, each complaint with file, line and key. */
import { z } from 'zod'
import { faultRuleSchema } from '../faults/fault-schema.ts'
import { problemsOf } from '../hops/shape.ts'
import type { Expanded } from './environment.ts'
import { expandEnvironment } from './environment.ts'
import type { Environment } from './given.ts'
import type { FileSettings } from './schema.ts'
import { pathEntrySchema, settingsSchema } from './schema.ts'
import { readDocument } from './yaml-document.ts'
import { lineFinder, readYaml } from './yaml-file.ts'

export interface SettingsFile {
  readonly name: string
  readonly settings: FileSettings
  /** Variables it refers to. */
  readonly used: ReadonlySet<string>
  /** `FILE:LINE KEY`, for complaints made after reading. */
  placeOf(key: string, path: readonly (string | number)[]): string
}

export interface BrokenFile {
  readonly errors: readonly string[]
  /** What of it is well formed, so that its other mistakes are told in the same go; null: nothing could be read. */
  readonly partial: SettingsFile | null
}

/** Throws nothing: an unreadable file is one line as well. */
export function readSettingsFile(name: string, env: Environment, readFile: (path: string) => string): SettingsFile | BrokenFile {
  const text = readText(name, readFile)
  if (typeof text !== 'string') return { ...text, partial: null }
  const used = new Set<string>()
  const read = readYaml(text, expandedSchema(env, used), name)
  const lineOf = lineFinder(text)
  const fileOf = (settings: FileSettings): SettingsFile => ({
    name,
    settings,
    used,
    placeOf: (key, path) => `${name}${lineOf(path) === null ? '' : `:${lineOf(path)}`} ${key}`,
  })
  if ('value' in read) return fileOf(read.value)
  const written = readDocument(text, name)
  if ('errors' in written) return { errors: read.errors, partial: null }
  return { errors: read.errors, partial: fileOf(wellFormedOf(expandEnvironment(written.value, env).value)) }
}

/** Keys that can be read by themselves; of the path and the faults, entries without their broken part, each in its place. */
function wellFormedOf(value: unknown): FileSettings {
  if (typeof value !== 'object' || value === null) return {}
  const entries = Object.entries(value).flatMap(([key, inner]): (readonly [string, unknown])[] => {
    const schema = Object.hasOwn(settingsSchema.shape, key) ? settingsSchema.shape[key as keyof typeof settingsSchema.shape] : null
    if (schema === null) return []
    const read = schema.safeParse(inner)
    if (read.success) return [[key, read.data]]
    if (!Array.isArray(inner)) return []
    if (key === 'path') return [[key, inner.map(hopNamed)]]
    return key === 'faults' ? [[key, inner.map(ruleNamed)]] : []
  })
  return Object.fromEntries(entries) as FileSettings
}

/** A hop that complains of nothing but its name. */
function hopNamed(entry: unknown): unknown {
  const read = pathEntrySchema.safeParse(entry)
  if (read.success) return read.data
  const name = nameIn(entry, 'hop')
  return { hop: name ?? 'custom' }
}
/** A rule that complains of nothing but its name: one without a name gets one that nobody has. */
function ruleNamed(entry: unknown, index: number): unknown {
  const read = faultRuleSchema.safeParse(entry)
  return read.success ? read.data : { name: nameIn(entry, 'name') ?? `\u0000${index}`, do: {}, until: '9999-12-31T00:00:00Z' }
}
const nameIn = (entry: unknown, key: string): string | null => {
  const name = typeof entry === 'object' && entry !== null && key in entry ? (entry as Record<string, unknown>)[key] : null
  return typeof name === 'string' ? name : null
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
