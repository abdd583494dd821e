/** The README as a test reads it: its commands, its tables, and the names it uses. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './source-tree.ts'

export const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** Every line of every `sh` block, in order. */
export function readmeCommands(text = README): string[] {
  return [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].flatMap(([, block = '']) =>
    block
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#')),
  )
}

/** `run`, `demo`, …: what the table of commands lists. */
export function tabledCommands(text = README): string[] {
  return [...text.matchAll(/^\| `impatient-hop (\w+)/gm)].map(([, name = '']) => name)
}
/** `impatient_…` names, without the suffixes a histogram's samples have. */
export const metricNames = (text = README): string[] => [...new Set(text.match(/impatient_[a-z_]+/g) ?? [])]
