/** Writes dashboards/*.json anew: `node --import tsx src/dashboards/write.ts`. A test fails where they differ from their panels. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { boardFiles } from './files.ts'

const FOLDER = join(import.meta.dirname, '../../dashboards')

for (const { name, text } of boardFiles()) {
  writeFileSync(join(FOLDER, name), text)
  process.stdout.write(`${name}\n`)
}
