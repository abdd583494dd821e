/** Findings for programs: figures instead of closes, and the line that people get. */

import type { Finding } from './diagnosis.ts'
import { findingLines } from './diagnosis-words.ts'
import type { Explanation } from './match-limits.ts'

export interface FindingJson {
  readonly is: Finding['is']
  readonly side: 'client' | 'server'
  readonly form: 'close' | 'cancel' | number
  readonly calls: number
  readonly of: number
  readonly measure?: 'silence' | 'total' | 'sinceHead' | 'gap'
  readonly medianMs?: number
  readonly spreadMs?: number
  readonly limitMs?: number
  readonly kinds?: readonly string[]
  readonly fits?: readonly string[]
  readonly ruledOut?: readonly { readonly preset: string; readonly why: string }[]
  readonly line: string
}

export function findingAsJson(finding: Finding): FindingJson {
  const line = findingLines(finding).join(' ')
  if (finding.is === 'too-few')
    return { is: finding.is, side: finding.side, form: finding.form, calls: finding.count, of: finding.count, line }
  if (finding.is === 'scattered')
    return { is: finding.is, side: finding.side, form: finding.form, calls: finding.count, of: finding.of, line }
  const closes = finding.is === 'cluster' ? finding.cluster.members : finding.closes
  const { side = 'client', form = 'close' } = closes[0] ?? {}
  const base = { is: finding.is, side, form, calls: closes.length, of: finding.of }
  if (finding.is === 'drops') return { ...base, measure: 'gap', ...explained(finding.explanation), line }
  const { measure, medianMs, spreadMs } = finding.cluster
  return { ...base, measure, medianMs, spreadMs, ...explained(finding.explanation), line }
}

const explained = ({ limitMs, kinds, fits, ruledOut }: Explanation) => ({
  limitMs,
  kinds,
  fits: fits.map(({ preset }) => preset),
  ruledOut: ruledOut.map(({ limit, why }) => ({ preset: limit.preset, why })),
})
