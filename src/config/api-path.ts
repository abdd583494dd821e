/** A path as the admin API takes it: the same list as `path:` in a file. */
import { z } from 'zod'
import type { Hop } from '../hops/hop.ts'
import type { HopFile } from '../hops/hop-schema.ts'
import { composePath } from '../hops/presets.ts'
import type { Problem } from '../hops/shape.ts'
import { problemsOf } from '../hops/shape.ts'
import { listPresets, readPreset } from './presets.ts'
import { pathEntrySchema } from './schema.ts'

/** Problems are placed from the list on: `[0, 'with', 'idle', 'after']`. */
export function readPathFrom(path: readonly unknown[]): { readonly hops: readonly Hop[] } | { readonly problems: readonly Problem[] } {
  const read = z.array(pathEntrySchema).safeParse(path)
  if (!read.success) return { problems: problemsOf(read.error.issues) }
  return composePath(
    read.data.map((entry) => ({ name: entry.hop, with: entry.with })),
    presetOf,
    listPresets(),
  )
}

/** A preset that cannot be read is the package's fault: it is tested, and so is no problem of the request. */
function presetOf(name: string): HopFile | null {
  const read = readPreset(name)
  if (read === null) return null
  if ('errors' in read) throw new Error(read.errors.join('; '))
  return read.value
}
