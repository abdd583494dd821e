/** The product's own name and version, from its package.json. */
import { readFileSync } from 'node:fs'

export const PRODUCT = 'impatient-hop'

/** Of this installation; the file is two folders up from both src/cli and dist/cli. */
export function productVersion(): string {
  const text: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return typeof text === 'object' && text !== null && 'version' in text ? String(text.version) : 'unknown'
}
