/** Reads a YAML (or JSON) text against a schema; every complaint names file, line and key. */

import type { Document } from 'yaml'
import { isMap, isNode, isPair, isSeq, LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { placeOf, problemsOf } from '../hops/shape.ts'

export type Read<Value> = { readonly value: Value } | { readonly errors: readonly string[] }
type Key = string | number

/** `fileName` is what the messages call it: `config/hops/nginx.yaml:12 idle.after: expected …`. An empty text is an empty object. */
export function readYaml<Schema extends z.ZodType>(text: string, schema: Schema, fileName: string): Read<z.output<Schema>> {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  if (document.errors.length > 0)
    return { errors: document.errors.map(({ pos, message }) => `${fileName}:${lines.linePos(pos[0]).line} ${oneLine(message)}`) }
  const read = schema.safeParse(document.toJS({ maxAliasCount: 100 }) ?? {})
  if (read.success) return { value: read.data }
  const complaints = problemsOf(read.error.issues).map((problem) => ({ ...problem, line: lineOf(document, lines, problem.path) }))
  return {
    errors: complaints
      .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
      .map(({ path, message, line }) => {
        const place = path.length === 0 ? '' : `${placeOf(path)}: `
        return `${fileName}${line === null ? '' : `:${line}`} ${place}${message}`
      }),
  }
}

/** The line of a place, or of the nearest place around it that the file has; for messages made after reading. */
export function lineFinder(text: string): (path: readonly Key[]) => number | null {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  return (path) => lineOf(document, lines, path)
}

function lineOf(document: Document.Parsed, lines: LineCounter, path: readonly Key[]): number | null {
  let node: unknown = document.contents
  let offset = isNode(node) ? node.range?.[0] : undefined
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && keyOf(item.key) === String(key))
      if (pair === undefined) break
      if (isNode(pair.key)) offset = pair.key.range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      const item = node.items[Number(key)]
      if (!isNode(item)) break
      offset = item.range?.[0] ?? offset
      node = item
    } else break
  }
  return offset === undefined ? null : lines.linePos(offset).line
}

const keyOf = (key: unknown): string => String(isNode(key) ? key.toJSON() : key)
const oneLine = (message: string): string => message.split('\n')[0] ?? message
