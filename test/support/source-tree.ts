/** The project's own source as trees: what the tidy and the requirements test read. Parsed by Vite's parser, so no rule is fooled by a comment. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'

export const ROOT = join(import.meta.dirname, '../..')

/** An ESTree node, as far as a rule looks at it. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export interface SourceFile {
  /** Relative to the root, with `/`. */
  readonly name: string
  readonly text: string
  readonly program: Node
  readonly comments: readonly { readonly value: string; readonly start: number; readonly end: number }[]
  /** `text` with every comment blanked out, offsets unchanged. */
  readonly code: string
}

export function sourceFiles(folder: 'src' | 'test'): SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => readSource(`${folder}/${name}`))
}

export function readSource(name: string): SourceFile {
  return parseSource(name, readFileSync(join(ROOT, name), 'utf8'))
}

export function parseSource(name: string, text: string): SourceFile {
  const { program, comments, errors } = parseSync(name, text)
  if (errors.length > 0) throw new Error(`${name}: ${errors[0]?.message}`)
  let code = text
  for (const { start, end } of comments) code = code.slice(0, start) + code.slice(start, end).replace(/[^\n]/g, ' ') + code.slice(end)
  return { name, text, program: program as unknown as Node, comments, code }
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

/** Every node, parents first; `false` from `visit` skips what is inside. */
export function walk(node: Node, visit: (node: Node) => unknown): void {
  if (visit(node) === false) return
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) walk(item, visit)
    } else if (isNode(value)) walk(value, visit)
  }
}

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
