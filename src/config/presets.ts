/** The presets of hops, read from the package's `config/hops`. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Hop } from '../hops/hop.ts'
import type { HopFile } from '../hops/hop-schema.ts'
import { hopSchema } from '../hops/hop-schema.ts'
import { hopProblems, resolveHop } from '../hops/resolve.ts'
import { placeOf } from '../hops/shape.ts'
import type { Read } from './yaml-file.ts'
import { lineFinder, readYaml } from './yaml-file.ts'

/** The same two levels up from `src/config` and from `dist/config`. */
const HOPS = new URL('../../config/hops/', import.meta.url)

/** Their names in alphabetical order, without `custom`, which has no file. */
export function listPresets(): readonly string[] {
  return readdirSync(HOPS)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort()
}

/** Null where there is no preset of that name. Errors read `config/hops/nginx.yaml:12 idle.after: expected …`. */
export function readPreset(name: string): Read<HopFile> | null {
  if (!/^[a-z0-9][a-z0-9._-]*$/i.test(name)) return null
  let text: string
  try {
    text = readFileSync(new URL(`${name}.yaml`, HOPS), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  return readHopText(text, `config/hops/${name}.yaml`)
}

/** All of them as the line plays them, each in a path of its own; one that cannot be read is left out. */
export function presetHops(): readonly Hop[] {
  return listPresets().flatMap((name) => {
    const read = readPreset(name)
    return read !== null && 'value' in read ? [resolveHop(read.value, { name: `path[0]:${name}`, preset: name })] : []
  })
}

/** A hop's file: its shape, and what it would lack to be played. */
export function readHopText(text: string, fileName: string): Read<HopFile> {
  const read = readYaml(text, hopSchema, fileName)
  if ('errors' in read) return read
  const problems = hopProblems(read.value)
  if (problems.length === 0) return read
  const lineOf = lineFinder(text)
  return { errors: problems.map(({ path, message }) => `${fileName}:${lineOf(path) ?? 1} ${placeOf(path)}: ${message}`) }
}
