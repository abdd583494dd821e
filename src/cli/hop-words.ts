/** A hop in words, for people: its limits in a line, and all of it for `hops show`. */
import { formatDuration, formatSize } from '../core/units.ts'
import type { BufferMode, Hop } from '../hops/hop.ts'
import type { HopFile } from '../hops/hop-schema.ts'
import type { Paint } from './paint.ts'

/** `headers 1m · idle 1m · total 5m · buffer full`; `no limits` where it has none. */
export function limitsInWords({ headers, idle, total, buffering }: Hop): string {
  const parts = [
    ...(headers === undefined || headers === 'none' ? [] : [`headers ${formatDuration(headers.afterMs)}`]),
    ...(idle === undefined ? [] : [`idle ${formatDuration(idle.afterMs)}`]),
    ...(total === undefined ? [] : [`total ${formatDuration(total.afterMs)}`]),
    ...(buffering === undefined || buffering.mode === 'none' ? [] : [`buffer ${bufferInWords(buffering.mode)}`]),
  ]
  return parts.length === 0 ? 'no limits' : parts.join(' · ')
}

export function bufferInWords(mode: BufferMode): string {
  if (typeof mode === 'string') return mode
  if ('bytes' in mode) return formatSize(mode.bytes)
  return 'everyMs' in mode ? formatDuration(mode.everyMs) : `gzip ${mode.gzip}`
}

/** Everything a hop's file says, a line a field, with how it is known; what is known by report only is said at the end. */
export function fieldsInWords(name: string, file: HopFile, paint: Paint): readonly string[] {
  const { title, source = [], checked, confidence, ...fields } = file
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  const width = Math.max(12, ...entries.map(([key]) => key.length))
  const line = (label: string, text: string): string => `  ${paint('dim', label.padEnd(width))}  ${text}`
  const isReported = (value: unknown): boolean => knownBy(value, confidence) === 'reported'
  const reported = entries.filter(([, value]) => isReported(value)).map(([key]) => key)
  return [
    `${paint('bold', name)}${title === undefined ? '' : `: ${title}`}`,
    ...entries.map(([key, value]) => line(key, `${inWords(value, key)}${paint('dim', ` [${knownBy(value, confidence)}]`)}`)),
    ...(checked === undefined ? [] : [line('checked', checked)]),
    ...source.map((text, index) => line(index === 0 ? 'source' : '', text)),
    ...(reported.length === 0 ? [] : [paint('yellow', `Known by report only, neither measured nor documented: ${reported.join(', ')}.`)]),
  ]
}

/** A field's own confidence, else the file's. */
function knownBy(value: unknown, otherwise: string | undefined): string {
  const own = typeof value === 'object' && value !== null && 'confidence' in value ? value.confidence : undefined
  return String(own ?? otherwise ?? 'not said')
}

const DURATIONS = ['after', 'rearm', 'every']
const SIZES = ['size', 'bodyMax']

function inWords(value: unknown, key: string): string {
  if (typeof value === 'number')
    return DURATIONS.includes(key) ? formatDuration(value) : SIZES.includes(key) ? formatSize(value) : String(value)
  if (typeof value === 'string') return key === 'body' ? `${value.length} characters` : value
  if (Array.isArray(value)) return value.map((item: unknown) => inWords(item, '')).join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  const parts = Object.entries(value)
    .filter(([inner, item]) => inner !== 'confidence' && item !== undefined)
    .map(([inner, item]) =>
      typeof item === 'object' && !Array.isArray(item) ? `${inner} { ${inWords(item, inner)} }` : `${inner} ${inWords(item, inner)}`,
    )
  return parts.join(' · ')
}
