/** Checks a file by itself, a configuration or a hop's: what `run` would say of it, without what flags could still give. */
import { z } from 'zod'
import { hopSchema } from '../hops/hop-schema.ts'
import { readFaults } from './faults.ts'
import { readSettingsFile, readText } from './file.ts'
import type { Environment } from './given.ts'
import { createGiven } from './given.ts'
import { readPath } from './path.ts'
import { readHopText } from './presets.ts'
import { settingsSchema } from './schema.ts'
import { readYaml } from './yaml-file.ts'

export type Validated = { readonly kind: 'configuration' | 'hop' } | { readonly errors: readonly string[] }

/** Complaints read `FILE:LINE key: …`. */
export function validateFile(name: string, env: Environment, readFile: (path: string) => string): Validated {
  const text = readText(name, readFile)
  if (typeof text !== 'string') return text
  if (isHop(text, name)) {
    const hop = readHopText(text, name)
    return 'errors' in hop ? hop : { kind: 'hop' }
  }
  const file = readSettingsFile(name, env, () => text)
  if ('errors' in file) return file
  const errors = [...readPath(file, createGiven({}, {})).errors, ...readFaults(file).errors]
  return errors.length > 0 ? { errors } : { kind: 'configuration' }
}

/** By its keys: more of a hop's than of a configuration's. */
function isHop(text: string, name: string): boolean {
  const read = readYaml(text, z.record(z.string(), z.unknown()), name)
  if ('errors' in read) return false
  const among = (schema: { readonly shape: object }): number => Object.keys(read.value).filter((key) => key in schema.shape).length
  return among(hopSchema) > among(settingsSchema)
}
