/** The path of a run: `--hop` or the file's hops, and one more nearest the server for the limits given as flags. */

import { customHop, parseBufferFlag, parseHopFlag } from '../hops/flags.ts'
import type { Hop } from '../hops/hop.ts'
import type { HopFile } from '../hops/hop-schema.ts'
import type { HopAsked } from '../hops/presets.ts'
import { CUSTOM, composePath, seatName } from '../hops/presets.ts'
import type { Problem } from '../hops/shape.ts'
import { placeOf } from '../hops/shape.ts'
import type { SettingsFile } from './file.ts'
import { ENDINGS } from './flags.ts'
import type { Given } from './given.ts'
import { listPresets, readPreset } from './presets.ts'
import type { Parse } from './values.ts'
import { choiceOf, durationOf } from './values.ts'

export interface PathRead {
  /** In the order of the path, client side first. */
  readonly hops: readonly Hop[]
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

const TIMERS = ['header-timeout', 'idle-timeout', 'max-duration'] as const

/** Complaints about flags read `--hop: …`; those about the file name its line. */
export function readPath(file: SettingsFile | null, given: Given): PathRead {
  const listed = given.list('hop')
  const read = listed === undefined ? readFilePath(file) : readFlagPath(listed)
  const own = readOwnHop(given, read.hops.length)
  return { hops: [...read.hops, ...own.hops], errors: read.errors, warnings: own.warnings }
}

function readFilePath(file: SettingsFile | null): Omit<PathRead, 'warnings'> {
  if (file === null) return { hops: [], errors: [] }
  const asked = (file.settings.path ?? []).map((entry): HopAsked => ({ name: entry.hop, with: entry.with }))
  return compose(asked, ({ path, message }) => {
    const place = ['path', ...path]
    return `${file.placeOf(placeOf(place), place)}: ${message}`
  })
}

function readFlagPath({ from, values }: { readonly from: string; readonly values: readonly string[] }): Omit<PathRead, 'warnings'> {
  const asked: HopAsked[] = []
  const errors: string[] = []
  for (const value of values) {
    const parsed = parseHopFlag(value)
    if ('error' in parsed) errors.push(`${from}: ${parsed.error}`)
    else asked.push(parsed)
  }
  const composed = compose(asked, ({ path, message }) => {
    // The index says where in the flag; what stands there is clearer.
    const [index, , ...field] = path
    const name = asked[Number(index)]?.name ?? ''
    return `${from}: ${field.length === 0 ? '' : `${name}:${placeOf(field)}: `}${message}`
  })
  return { hops: composed.hops, errors: [...errors, ...composed.errors] }
}

function compose(asked: readonly HopAsked[], say: (problem: Problem) => string): Omit<PathRead, 'warnings'> {
  const broken: string[] = []
  const presetOf = (name: string): HopFile | null => {
    const read = readPreset(name)
    if (read === null || 'value' in read) return read?.value ?? null
    broken.push(...read.errors)
    return {}
  }
  const composed = composePath(asked, presetOf, listPresets())
  if (broken.length > 0) return { hops: [], errors: broken }
  return 'hops' in composed ? { hops: composed.hops, errors: [] } : { hops: [], errors: composed.problems.map(say) }
}

/** One hop for the three timers and the buffer, last in the path: nearest the server. */
function readOwnHop(given: Given, index: number): { readonly hops: readonly Hop[]; readonly warnings: readonly string[] } {
  const [headerTimeoutMs = null, idleTimeoutMs = null, maxDurationMs = null] = TIMERS.map((flag) => given.one(flag, durationOf(1)))
  const buffer = given.one('buffer', parseBuffer) ?? null
  const ending = given.one('ending', choiceOf(ENDINGS)) ?? 'fin'
  const isTimed = TIMERS.some((flag) => given.isGiven(flag))
  const warnings =
    given.isGiven('ending') && !isTimed
      ? ['--ending has nothing to end: it is for cuts by --idle-timeout, --max-duration or --header-timeout']
      : []
  if (!isTimed && buffer === null) return { hops: [], warnings }
  return { hops: [customHop({ name: seatName(index, CUSTOM), headerTimeoutMs, idleTimeoutMs, maxDurationMs, ending, buffer })], warnings }
}

const parseBuffer: Parse<ReturnType<typeof modeOf>> = (text) => {
  const parsed = parseBufferFlag(text)
  return 'error' in parsed ? { ok: false, problem: parsed.error } : { ok: true, value: modeOf(parsed) }
}
const modeOf = (parsed: Exclude<ReturnType<typeof parseBufferFlag>, { error: string }>) => parsed.mode
