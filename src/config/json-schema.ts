/** The configuration's JSON Schema, for editors: generated from the schema that reads it. */
import { z } from 'zod'
import { settingsSchema } from './schema.ts'

/** Draft 7, for that is what editors know; as a file has it (durations are texts), with a newline at its end. */
export function settingsJsonSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(settingsSchema, { target: 'draft-7', io: 'input' }), null, 2)}\n`
}
