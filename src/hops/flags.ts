/** Hops as flags give them: `--hop nginx:idle.after=20s`, and the limits that make the hop of one's own. */
import type { Ending } from '../core/signal.ts'
import { suggestion } from '../core/suggest.ts'
import { parseDuration, parseSize } from '../core/units.ts'
import type { BufferMode, Hop } from './hop.ts'
import type { HopFile } from './hop-schema.ts'
import { hopSchema } from './hop-schema.ts'
import { overrideHop, resolveHop } from './resolve.ts'
import { placeOf, problemsOf } from './shape.ts'

export type HopFlag = { readonly name: string; readonly with: HopFile } | { readonly error: string }

const FORM = 'NAME or NAME:LIMIT.after=DURATION, such as nginx:idle.after=20s'

/** One hop of `--hop`; more than one change is separated by further colons. Whether the name exists is not looked up here. */
export function parseHopFlag(text: string): HopFlag {
  const [name = '', ...changes] = text.trim().split(':')
  if (!/^[a-z0-9][a-z0-9._-]*$/i.test(name)) return { error: `expected ${FORM}, got ${JSON.stringify(text)}` }
  let fields: HopFile = {}
  for (const change of changes) {
    const [place = '', value] = splitOnce(change, '=')
    const keys = place.split('.')
    if (value === null || value === '' || keys.length < 2 || keys.includes(''))
      return { error: `expected ${FORM}, got ${JSON.stringify(text)}` }
    const read = hopSchema.safeParse(keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), readWord(value)))
    if (!read.success) {
      const { path, message } = problemsOf(read.error.issues)[0] ?? { path: keys, message: 'not a field of a hop' }
      return { error: `${name}:${placeOf(path)}: ${message}` }
    }
    fields = overrideHop(fields, read.data)
  }
  return { name, with: fields }
}

function splitOnce(text: string, by: string): [string, string | null] {
  const at = text.indexOf(by)
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 1)]
}
const readWord = (value: string): string | boolean => (value === 'true' ? true : value === 'false' ? false : value)

export interface OwnLimits {
  readonly name: string
  readonly headerTimeoutMs: number | null
  readonly idleTimeoutMs: number | null
  readonly maxDurationMs: number | null
  /** Of a cut after the headers. */
  readonly ending: Ending
  readonly buffer: BufferMode | null
}

/** The hop of the flags, nearest the server: its limits and its buffer, and no manners but those. */
export function customHop({ name, headerTimeoutMs, idleTimeoutMs, maxDurationMs, ending, buffer }: OwnLimits): Hop {
  const hop = resolveHop(
    {
      ...(headerTimeoutMs === null ? {} : { headers: { after: headerTimeoutMs, ending } }),
      ...(idleTimeoutMs === null ? {} : { idle: { after: idleTimeoutMs, ending } }),
      ...(maxDurationMs === null ? {} : { total: { after: maxDurationMs, ending } }),
    },
    { name, preset: 'custom' },
  )
  return buffer === null ? hop : { ...hop, buffering: { mode: buffer, holdHeaders: false, atCut: 'flush', honours: [] } }
}

const BUFFERS = ['full', 'one-behind', 'none'] as const

/** `--buffer full|SIZE|D|one-behind`: a mode, or what was expected. */
export function parseBufferFlag(text: string): { readonly mode: BufferMode } | { readonly error: string } {
  const word = BUFFERS.find((known) => known === text)
  if (word !== undefined) return { mode: word }
  const everyMs = parseDuration(text)
  if (everyMs !== null) return everyMs > 0 ? { mode: { everyMs } } : { error: `expected a duration above 0, got ${JSON.stringify(text)}` }
  const bytes = parseSize(text)
  if (bytes !== null) return bytes > 0 ? { mode: { bytes } } : { error: `expected a size above 0, got ${JSON.stringify(text)}` }
  const hint = /^[a-z-]+$/i.test(text) ? suggestion(text, BUFFERS) : ''
  return { error: `expected full, one-behind, a size such as 4KiB or a duration such as 200ms, got ${JSON.stringify(text)}${hint}` }
}
