/** What is expected of calls, as one line: `MEASURE [pNN|max|sum] OP VALUE`. Read and judged here, by scenarios and by the gate for CI alike. */
import { suggestion } from '../core/suggest.ts'
import { formatDuration, parseDuration } from '../core/units.ts'
import type { Measures } from './measures.ts'

export const TIME_MEASURES = ['orphan', 'cancel-to-stop'] as const
export const COUNT_MEASURES = ['undelivered', 'duplicates', 'unobserved', 'violations'] as const
export type TimeMeasure = (typeof TIME_MEASURES)[number]
export type CountMeasure = (typeof COUNT_MEASURES)[number]

const OPERATORS = {
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
  '=': (a: number, b: number) => a === b,
  '!=': (a: number, b: number) => a !== b,
} as const
type Operator = keyof typeof OPERATORS
export type Statistic = 'max' | 'sum' | { readonly percentile: number }

/** `value`: milliseconds of a time, else a count. */
export type Expectation = {
  /** As written, blanks tidied. */
  readonly text: string
  readonly operator: Operator
  readonly value: number
} & ({ readonly measure: TimeMeasure; readonly statistic: Statistic } | { readonly measure: CountMeasure; readonly statistic: null })

export const EXPECTATION_FORM = 'MEASURE [pNN|max|sum] OP VALUE, such as "orphan p95 < 2s" or "undelivered = 0"'
const FORM = /^([a-z-]+)(?: +([a-z][a-z0-9.]*))? *(<=|>=|!=|==|<|>|=) *(\S+)$/i

/** Of a time the statistic is `max` unless said otherwise; a count has none. */
export function parseExpectation(written: string): Expectation | { readonly problem: string } {
  const text = written.trim().replaceAll(/\s+/g, ' ')
  const found = FORM.exec(text)
  if (found === null) return { problem: `expected ${EXPECTATION_FORM}, got ${JSON.stringify(written)}` }
  const [, name = '', word, sign = '', valueText = ''] = found
  const operator = (sign === '==' ? '=' : sign) as Operator
  const time = TIME_MEASURES.find((measure) => measure === name)
  const count = COUNT_MEASURES.find((measure) => measure === name)
  if (time !== undefined) {
    const statistic = word === undefined ? 'max' : statisticOf(word)
    const value = parseDuration(valueText)
    if (statistic === null) return { problem: `expected pNN (p1 to p100), max or sum after ${name}, got ${JSON.stringify(word)}` }
    if (value === null)
      return { problem: `expected a duration such as 2s or 250ms after ${sign}, got ${JSON.stringify(valueText)}${unitHint(valueText)}` }
    return { text, measure: time, statistic, operator, value }
  }
  if (count === undefined) {
    const known = [...TIME_MEASURES, ...COUNT_MEASURES]
    return { problem: `expected one of ${known.join(', ')}, got ${JSON.stringify(name)}${suggestion(name, known)}` }
  }
  if (word !== undefined) return { problem: `${name} is a count: leave ${JSON.stringify(word)} out` }
  if (!/^\d{1,15}$/.test(valueText)) return { problem: `expected a whole number after ${sign}, got ${JSON.stringify(valueText)}` }
  return { text, measure: count, statistic: null, operator, value: Number(valueText) }
}

function statisticOf(word: string): Statistic | null {
  if (word === 'max' || word === 'sum') return word
  const percentile = /^p(\d{1,3}(?:\.\d{1,3})?)$/.exec(word)?.[1]
  return percentile === undefined || Number(percentile) <= 0 || Number(percentile) > 100 ? null : { percentile: Number(percentile) }
}

const unitHint = (text: string): string => (/^\d+(\.\d+)?$/.test(text) ? `: a number needs a unit, write ${text}s or ${text}ms` : '')

/** `held` and `broken` are certain; `unknown`: there was nothing to judge by, or something is still to come. `value` null: none is known. */
export interface Judgement {
  readonly text: string
  readonly verdict: 'held' | 'broken' | 'unknown'
  readonly value: number | null
  /** The value in words, or why there is none. */
  readonly told: string
}

/** `unsettled`: calls in the measures' scope that may still change them. */
export function judge(expectation: Expectation, measures: Measures, unsettled = 0): Judgement {
  const { text, operator, value: wanted } = expectation
  const known = figureOf(expectation, measures)
  if (typeof known === 'string') return { text, verdict: 'unknown', value: null, told: known }
  const told = expectation.statistic === null ? String(known) : formatDuration(Math.round(known))
  if (!OPERATORS[operator](known, wanted)) return { text, verdict: 'broken', value: known, told }
  if (unsettled > 0) return { text, verdict: 'unknown', value: known, told: `${told} so far, ${unsettled} calls not settled` }
  return { text, verdict: 'held', value: known, told }
}

/** The figure, or why there is none. */
function figureOf({ measure, statistic }: Expectation, measures: Measures): number | string {
  if (measures.calls === 0) return 'no tools/call was seen'
  if (statistic === null) return measures[measure]
  const { samples, unknown } = measure === 'orphan' ? measures.orphan : measures.cancelToStop
  if (samples.length === 0 && unknown > 0) return `nobody reported the work of ${unknown} abandoned calls`
  if (samples.length === 0) return measure === 'orphan' ? 0 : 'no call was cancelled'
  return statisticOver(samples, statistic)
}

/** Percentiles by the nearest rank. `samples` is not empty. */
export function statisticOver(samples: readonly number[], statistic: Statistic): number {
  if (statistic === 'sum') return samples.reduce((sum, sample) => sum + sample, 0)
  const sorted = [...samples].sort((a, b) => a - b)
  const rank = statistic === 'max' ? sorted.length : Math.ceil((statistic.percentile / 100) * sorted.length)
  return sorted[Math.max(0, rank - 1)] ?? 0
}
