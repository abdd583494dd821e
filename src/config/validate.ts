/** Checks a file by itself, a configuration or a hop's: what `run` would say of it, without what flags could still give. */
import { z } from 'zod'
import { hopSchema } from '../hops/hop-schema.ts'
import { readText } from './file.ts'
import type { Environment } from './given.ts'
import { checkSettingsFile } from './load.ts'
import { readHopText } from './presets.ts'
import { settingsSchema } from './schema.ts'
import { readYaml } from './yaml-file.ts'

/** `notes`: what is worth knowing of a file that may be used; absent: nothing. */
export type Validated =
  | { readonly kind: 'configuration' | 'hop'; readonly notes?: readonly string[] }
  | { readonly errors: readonly string[] }

/** Complaints read `FILE:LINE key: …`. */
export function validateFile(name: string, env: Environment, readFile: (path: string) => string): Validated {
  const text = readText(name, readFile)
  if (typeof text !== 'string') return text
  if (isHop(text, name)) {
    const hop = readHopText(text, name)
    return 'errors' in hop ? hop : { kind: 'hop' }
  }
  const { errors, notes } = checkSettingsFile(name, env, () => text)
  if (errors.length > 0) return { errors }
  return notes.length > 0 ? { kind: 'configuration', notes } : { kind: 'configuration' }
}

/** By its keys: more of a hop's than of a configuration's. */
function isHop(text: string, name: string): boolean {
  const read = readYaml(text, z.record(z.string(), z.unknown()), name)
  if ('errors' in read) return false
  const among = (schema: { readonly shape: object }): number => Object.keys(read.value).filter((key) => key in schema.shape).length
  return among(hopSchema) > among(settingsSchema)
}
