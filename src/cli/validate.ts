/** `validate`: checks a file before it is used. */
import { validateFile } from '../config/validate.ts'
import type { Command } from './command.ts'
import { PRODUCT } from './product.ts'

export const validateCommand: Command = {
  name: 'validate',
  says: 'Check a configuration file, or a hop of your own; every mistake with its line and key',
  positionals: [{ name: 'file', isRequired: true, says: 'YAML or JSON' }],
  examples: [['validate impatient-hop.yaml', 'says what run would say of it']],
  async run({ positionals }, { env, readFile, out, err }) {
    const name = positionals['file'] ?? ''
    const validated = validateFile(name, env, readFile)
    if ('errors' in validated) {
      for (const error of validated.errors) err.print(`${PRODUCT}: ${error}`)
      return 2
    }
    for (const note of validated.notes ?? []) err.print(`${PRODUCT}: ${note}`)
    out.print(`${name}: a valid ${validated.kind === 'hop' ? 'hop' : 'configuration'}`)
    return 0
  },
}
