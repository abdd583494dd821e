/** `schema`: the configuration's JSON Schema, for editors. */
import { settingsJsonSchema } from '../config/json-schema.ts'
import type { Command } from './command.ts'

export const schemaCommand: Command = {
  name: 'schema',
  says: 'Print the JSON Schema (draft 7) of the configuration file',
  examples: [['schema > impatient-hop.schema.json', 'then name it in the file: # yaml-language-server: $schema=impatient-hop.schema.json']],
  async run(_args, { out }) {
    out.write(settingsJsonSchema())
    return 0
  },
}
