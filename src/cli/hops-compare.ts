/** Two hops side by side, field by field, and how each is known. */
import type { Hop } from '../hops/hop.ts'
import type { HopFile } from '../hops/hop-schema.ts'
import type { Field } from './hop-manners.ts'
import { FIELDS, mannerOf } from './hop-manners.ts'
import type { Paint } from './paint.ts'

export interface Compared {
  readonly name: string
  readonly file: HopFile
  readonly hop: Hop
}

/** Differences first, then what is the same. */
export function compareLines(a: Compared, b: Compared, paint: Paint): readonly string[] {
  const width = Math.max(a.name.length, b.name.length)
  const isSame = (field: Field): boolean => mannerOf(a.hop, field) === mannerOf(b.hop, field)
  const side = ({ name, file, hop }: Compared, field: Field): string =>
    `  ${name.padEnd(width)}  ${mannerOf(hop, field)}${paint('dim', ` [${knownBy(file, field)}]`)}`
  const different = FIELDS.filter((field) => !isSame(field))
  const same = FIELDS.filter(isSame)
  return [
    paint('bold', `${titled(a)}  against  ${titled(b)}`),
    ...(different.length === 0 ? ['They do the same.'] : []),
    ...different.flatMap((field) => [paint('bold', field), side(a, field), side(b, field)]),
    ...(same.length === 0 ? [] : [paint('bold', 'the same')]),
    ...same.map((field) => `  ${field.padEnd(12)}  ${mannerOf(a.hop, field)}${paint('dim', ` [${confidences(a, b, field)}]`)}`),
  ]
}

const titled = ({ name, file: { title, confidence } }: Compared): string =>
  `${name}${title === undefined ? '' : ` (${title})`}${confidence === undefined ? '' : ` [${confidence}]`}`

function confidences(a: Compared, b: Compared, field: Field): string {
  const [ofA, ofB] = [knownBy(a.file, field), knownBy(b.file, field)]
  return ofA === ofB ? ofA : `${ofA}, ${ofB}`
}

/** A field's own confidence, else the file's; what a file does not say is what HTTP proxies do. */
export function knownBy(file: HopFile, field: Field): string {
  const value = file[field]
  if (value === undefined) return 'assumed'
  const own = typeof value === 'object' && 'confidence' in value ? value.confidence : undefined
  return own ?? file.confidence ?? 'not said'
}
