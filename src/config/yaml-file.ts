/** Reads a YAML (or JSON) text against a schema; every complaint names file, line and key. */
import type { z } from 'zod'
import { placeOf, problemsOf } from '../hops/shape.ts'
import { readDocument } from './yaml-document.ts'

export type Read<Value> = { readonly value: Value } | { readonly errors: readonly string[] }

/** `fileName` is what the messages call it: `config/hops/nginx.yaml:12 idle.after: expected …`. An empty text is an empty object. */
export function readYaml<Schema extends z.ZodType>(text: string, schema: Schema, fileName: string): Read<z.output<Schema>> {
  const written = readDocument(text, fileName)
  if ('errors' in written) return written
  const read = schema.safeParse(written.value ?? {})
  if (read.success) return { value: read.data }
  const complaints = problemsOf(read.error.issues).map((problem) => ({ ...problem, line: written.lineOf(problem.path) }))
  return {
    errors: complaints
      .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
      .map(({ path, message, line }) => {
        const place = path.length === 0 ? '' : `${placeOf(path)}: `
        return `${fileName}${line === null ? '' : `:${line}`} ${place}${message}`
      }),
  }
}

/** For messages made after reading: the line of a place, or of the nearest around it; null throughout where the text is no YAML. */
export function lineFinder(text: string): (path: readonly (string | number)[]) => number | null {
  const written = readDocument(text, '')
  return 'errors' in written ? () => null : written.lineOf
}
