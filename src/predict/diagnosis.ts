/** Who cut the calls that we did not cut: foreign closes gathered in bounded memory, clustered, and compared with what presets are known to do. */
import type { CallRecord } from '../core/record.ts'
import type { Cluster } from './clusters.ts'
import { CLUSTER_MIN, clustersOf } from './clusters.ts'
import { findingLines } from './diagnosis-words.ts'
import type { ForeignClose } from './foreign-close.ts'
import { foreignCloseOf } from './foreign-close.ts'
import type { KnownLimit } from './known-limits.ts'
import type { Evidence, Explanation } from './match-limits.ts'
import { explain, explainDrops } from './match-limits.ts'

export type Finding =
  /** So few that chance would do. */
  | { readonly is: 'too-few'; readonly side: ForeignClose['side']; readonly form: ForeignClose['form']; readonly count: number }
  /** These have a time in common, and so a limit behind them. */
  | { readonly is: 'cluster'; readonly cluster: Cluster; readonly of: number; readonly explanation: Explanation }
  /** These came at the server's first write after a silence: something had dropped the connection without a word. */
  | {
      readonly is: 'drops'
      readonly closes: readonly ForeignClose[]
      readonly of: number
      readonly gapMs: { readonly least: number; readonly most: number; readonly survivedMs: number | null }
      readonly explanation: Explanation
    }
  /** No time in common: people, most likely, or crashes. */
  | {
      readonly is: 'scattered'
      readonly side: ForeignClose['side']
      readonly form: ForeignClose['form']
      readonly count: number
      readonly of: number
    }

export interface Diagnosis {
  /** A settled call. */
  take(record: CallRecord): void
  findings(): readonly Finding[]
  /** In words; none where nobody else cut anything. */
  lines(): readonly string[]
}

export interface DiagnosisOptions {
  /** How far timers and networks may be off, in ms. */
  readonly jitterMs?: number
  /** Closes kept for each form; of more, the latest. */
  readonly closesMax?: number
}

/** `known` is asked when findings are. */
export function createDiagnosis(
  known: () => readonly KnownLimit[],
  { jitterMs = 400, closesMax = 2_000 }: DiagnosisOptions = {},
): Diagnosis {
  const groups = new Map<string, ForeignClose[]>()
  let survivedSilenceMs: number | null = null // the longest that no hop minded

  function take(record: CallRecord): void {
    const close = foreignCloseOf(record)
    if (close === null) {
      if (record.kind === 'call' && record.result === 'sent') survivedSilenceMs = Math.max(survivedSilenceMs ?? 0, record.longestSilenceMs)
      return
    }
    const key = `${close.side} ${close.form}`
    const group = groups.get(key) ?? []
    groups.set(key, group)
    group.push(close)
    if (group.length > 2 * closesMax) group.splice(0, group.length - closesMax)
  }

  function findings(): readonly Finding[] {
    if (groups.size === 0) return []
    const evidence = { known: known(), jitterMs, survivedSilenceMs }
    return [...groups.values()].flatMap((all) => findingsOf(all.slice(-closesMax), evidence))
  }
  return { take, findings, lines: () => findings().flatMap(findingLines) }
}

function findingsOf(closes: readonly ForeignClose[], evidence: Evidence): readonly Finding[] {
  const [first] = closes
  if (first === undefined) return []
  const { side, form } = first
  const of = closes.length
  if (of < CLUSTER_MIN) return [{ is: 'too-few', side, form, count: of }]
  const clusters = clustersOf(closes, evidence.jitterMs)
  const clustered = new Set(clusters.flatMap(({ members }) => members))
  const rest = closes.filter((close) => !clustered.has(close))
  const drops = rest.filter((close) => isAtWrite(close, evidence.jitterMs))
  const hasDrops = drops.length >= CLUSTER_MIN
  const left = hasDrops ? rest.length - drops.length : rest.length
  return [
    ...clusters.map((cluster): Finding => ({ is: 'cluster', cluster, of, explanation: explain(cluster, evidence) })),
    ...(hasDrops ? [dropsOf(drops, of, evidence)] : []),
    ...(left === 0 ? [] : [{ is: 'scattered', side, form, count: left, of } as const]),
  ]
}

/** The server had just written, after a silence much longer than since. */
const isAtWrite = ({ silenceMs, gapMs }: ForeignClose, jitterMs: number): boolean =>
  gapMs !== null && silenceMs <= jitterMs && silenceMs * 4 <= gapMs

function dropsOf(closes: readonly ForeignClose[], of: number, evidence: Evidence): Finding {
  const gaps = closes.map(({ gapMs }) => gapMs ?? 0)
  const gapMs = { least: Math.min(...gaps), most: Math.max(...gaps), survivedMs: evidence.survivedSilenceMs }
  return { is: 'drops', closes, of, gapMs, explanation: explainDrops(gapMs.least, evidence) }
}
