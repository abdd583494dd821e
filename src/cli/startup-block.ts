/** What start-up prints: where it listens, what it plays, and the limits that count. */
import type { RunningApp } from '../app-types.ts'
import type { Address, Settings } from '../config/snapshot.ts'
import { formatAddress } from '../config/values.ts'
import { formatDuration } from '../core/units.ts'
import type { EffectiveLimit } from '../hops/effective.ts'
import { effectiveLimits } from '../hops/effective.ts'
import type { Hop } from '../hops/hop.ts'
import { limitsInWords } from './hop-words.ts'
import type { Paint } from './paint.ts'
import { PRODUCT } from './product.ts'

export const EFFECTIVE_SENTENCE = 'The effective timeout is the minimum, and it is usually not the one you configured.'
const LABEL_WIDTH = 11

/** Lines, without newlines. `addresses` are the real ones: a port 0 is filled in. */
export function startupBlock(settings: Settings, addresses: RunningApp['addresses'], version: string, paint: Paint): readonly string[] {
  const { mode, path, work, seed } = settings.snapshot
  const row = (label: string, text: string): string => `  ${paint('dim', label.padEnd(LABEL_WIDTH))}${text}`
  const at = (address: Address): string => `http://${formatAddress(address)}`
  return [
    paint('bold', `${PRODUCT} ${version}`),
    row('listening', at(addresses.listen)),
    row('upstream', settings.upstream.origin),
    row('admin', `${at(addresses.admin)}${settings.admin.token === null ? '' : ' (with a token)'}`),
    ...(addresses.metrics === null ? [] : [row('metrics', `${at(addresses.metrics)}/metrics`)]),
    ...(addresses.otlp === null ? [] : [row('otlp', at(addresses.otlp))]),
    row('mode', mode === 'act' ? 'act' : 'shadow: decides and counts, cuts nothing'),
    ...pathRows(path).map((text, index) => row(index === 0 ? 'path' : '', text)),
    ...effectiveRows(path).map((text, index) => row(index === 0 ? 'effective' : '', text)),
    row('faults', faultsInWords(settings)),
    row('work', `grace ${formatDuration(work.graceMs)} · after a cut ${work.afterCut} · trace context in ${work.inject}`),
    row('seed', String(seed)),
  ]
}

/** `cut-search (cut), slow (latency)`. */
const faultsInWords = ({ faults }: Settings): string =>
  faults === undefined || faults.rules.length === 0
    ? 'none'
    : faults.rules
        .map(({ name, do: deed, enabled }) => `${name} (${Object.keys(deed).join('')}${enabled === false ? ', off' : ''})`)
        .join(', ')

/** The hops in order, and the limits of each. */
export function pathRows(path: readonly Hop[]): readonly string[] {
  if (path.length === 0) return ['client → server: no hop, no limit of its own']
  const width = Math.max(...path.map(({ preset }) => preset.length))
  return [
    ['client', ...path.map(({ preset }) => preset), 'server'].join(' → '),
    ...path.map((hop) => `${hop.preset.padEnd(width)}  ${limitsInWords(hop)}`),
  ]
}

/** The minimum of each kind, and who sets it; the sentence only where more than one hop has a say. */
export function effectiveRows(path: readonly Hop[]): readonly string[] {
  const limits = effectiveLimits(path)
  const isTwice = (preset: string): boolean => path.filter((hop) => hop.preset === preset).length > 1
  const inWords = (kind: string, limit: EffectiveLimit | null): string =>
    limit === null ? `${kind} none` : `${kind} ${formatDuration(limit.ms)} (${isTwice(limit.preset) ? limit.hop : limit.preset})`
  if (path.length === 0) return []
  const limiting = path.filter(
    ({ headers, idle, total }) => (headers !== undefined && headers !== 'none') || idle !== undefined || total !== undefined,
  )
  return [
    [inWords('headers', limits.headers), inWords('idle', limits.idle), inWords('total', limits.total)].join(' · '),
    ...(limiting.length > 1 ? [EFFECTIVE_SENTENCE] : []),
  ]
}
