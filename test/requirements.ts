/** Every promise the product makes, by id, gathered from test/requirements/*.ts: `export const somethingRequirements = { 'area.id': 'the promise' }`. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface Requirement {
  readonly id: string
  readonly promise: string
  /** The file it is written in. */
  readonly file: string
}

const FOLDER = join(import.meta.dirname, 'requirements')

/** All of them, duplicates included. */
export async function allRequirements(): Promise<Requirement[]> {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'))
  const found: Requirement[] = []
  for (const file of files.sort()) {
    const module = (await import(join(FOLDER, file))) as Record<string, unknown>
    for (const [name, list] of Object.entries(module)) {
      if (!name.endsWith('Requirements')) continue
      for (const [id, promise] of Object.entries(list as Record<string, unknown>)) found.push({ id, promise: String(promise), file })
    }
  }
  return found
}
