/** What a scenario came to: for the API as data, for people as lines. */
import { formatDuration } from '../core/units.ts'
import type { Judgement } from './expectation.ts'
import type { Measures } from './measures.ts'

export type EndedBy = 'complete' | 'stop-condition' | 'operator' | 'shutdown' | 'crash'
export type Verdict = 'passed' | 'failed' | 'inconclusive'

export interface PhaseReport {
  readonly name: string
  readonly state: 'waiting' | 'running' | 'over'
  /** Since the scenario began; null: it never did. */
  readonly startedMs: number | null
  readonly endedMs: number | null
  readonly figures: Figures
  readonly expect: readonly Judgement[]
}

export interface Figures {
  readonly calls: number
  readonly abandoned: number
  readonly orphanMs: { readonly sum: number; readonly max: number }
  readonly undelivered: number
  readonly duplicates: number
  readonly unobserved: number
  readonly violations: number
}

export interface ScenarioReport {
  readonly name: string
  /** `settling`: in pass-through already, waiting for calls to settle. */
  readonly state: 'running' | 'settling' | 'ended'
  /** Null while it runs. */
  readonly verdict: Verdict | null
  readonly startedAt: string
  readonly endedAt: string | null
  readonly endedBy: EndedBy | null
  /** Which stop condition, or what crashed. */
  readonly why: string | null
  readonly phases: readonly PhaseReport[]
  readonly figures: Figures
  readonly expect: readonly Judgement[]
  /** Calls of its time that had not settled when it was judged. */
  readonly unsettled: number
}

export function figuresOf({ calls, orphan, undelivered, duplicates, unobserved, violations }: Measures): Figures {
  return {
    calls,
    abandoned: orphan.samples.length + orphan.unknown,
    orphanMs: { sum: orphan.samples.reduce((sum, ms) => sum + ms, 0), max: orphan.samples.reduce((most, ms) => Math.max(most, ms), 0) },
    undelivered,
    duplicates,
    unobserved,
    violations,
  }
}

/** An expectation that broke fails it, whatever else; one that nothing is known of, or an end from outside, leaves it open. */
export function verdictOf(judgements: readonly Judgement[], endedBy: EndedBy): Verdict {
  if (endedBy === 'stop-condition' || judgements.some(({ verdict }) => verdict === 'broken')) return 'failed'
  return endedBy === 'complete' && judgements.every(({ verdict }) => verdict === 'held') ? 'passed' : 'inconclusive'
}

const ENDED: Readonly<Record<EndedBy, string>> = {
  complete: 'all phases played',
  'stop-condition': 'ended early by a stop condition',
  operator: 'ended early by an operator',
  shutdown: 'ended early: the sidecar was stopped',
  crash: 'ended early: it failed in itself',
}

/** Lines without newlines. */
export function reportLines(report: ScenarioReport): readonly string[] {
  const { name, verdict, endedBy, why, phases, figures, expect, unsettled } = report
  return [
    `scenario     ${name}: ${verdict ?? report.state}${endedBy === null ? '' : `, ${ENDED[endedBy]}`}${why === null ? '' : ` (${why})`}`,
    ...phases.flatMap((phase) => [
      `phase        ${phase.name}: ${timesOf(phase)}${inWords(phase.figures)}`,
      ...phase.expect.map(judgementLine),
    ]),
    `all phases   ${inWords(figures)}`,
    ...expect.map(judgementLine),
    ...(unsettled === 0 ? [] : [`unsettled    ${unsettled} calls had not settled when it was judged`]),
    'now          pass-through until impatient-hop resume',
  ]
}

const timesOf = ({ startedMs, endedMs }: PhaseReport): string =>
  startedMs === null || endedMs === null ? 'not played; ' : `${formatDuration(Math.round((endedMs - startedMs) / 100) * 100)}; `

function inWords({ calls, abandoned, orphanMs, undelivered, duplicates, unobserved, violations }: Figures): string {
  const orphan =
    orphanMs.sum === 0
      ? 'no orphan work'
      : `${formatDuration(Math.round(orphanMs.sum))} of orphan work, ${formatDuration(Math.round(orphanMs.max))} at most`
  const counts = Object.entries({ undelivered, duplicates, unobserved, violations }).filter(([, count]) => count > 0)
  return [`${calls} calls, ${abandoned} abandoned`, orphan, ...counts.map(([what, count]) => `${count} ${what}`)].join(', ')
}

const MARKS: Readonly<Record<Judgement['verdict'], string>> = { held: 'ok', broken: 'FAILED', unknown: 'unknown' }
const judgementLine = ({ text, verdict, told }: Judgement): string => `  ${MARKS[verdict].padEnd(9)}  ${text}: ${told}`
