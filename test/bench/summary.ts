/** From repetitions to medians and ratios. Pure. */

/** One measure of one target in one repetition. */
export interface Row {
  readonly measure: string
  readonly target: string
  readonly repetition: number
  /** It stood together with others, and was measured in turn with them: a repetition of these is none of those that stood alone. */
  readonly isTogether?: boolean
  readonly figures: Readonly<Record<string, number | null>>
}

/** Medians over the repetitions, by figure. */
export interface Summary {
  readonly measure: string
  readonly target: string
  readonly repetitions: number
  readonly medians: Readonly<Record<string, number | null>>
}

/** Null of nothing; of an even number the mean of the middle two. */
export function medianOf(values: readonly (number | null | undefined)[]): number | null {
  const sorted = values.filter((value) => value !== null && value !== undefined && Number.isFinite(value)) as number[]
  sorted.sort((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half]
  if (upper === undefined) return null
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? upper) + upper) / 2
}

/** Repetitions in which others used more of the machine than this are left out, where two quiet ones remain. */
const OTHERS_PCT_MAX = 20

export function summarise(rows: readonly Row[]): readonly Summary[] {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const key = `${row.measure}\n${row.target}`
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return [...groups.values()].flatMap((group) => {
    const quiet = group.filter(({ figures }) => (figures['othersPct'] ?? 0) <= OTHERS_PCT_MAX)
    const used = quiet.length >= 2 ? quiet : group
    const [first] = group
    if (first === undefined) return []
    const names = new Set(used.flatMap(({ figures }) => Object.keys(figures)))
    const medians = Object.fromEntries([...names].map((name) => [name, medianOf(used.map(({ figures }) => figures[name]))]))
    return [{ measure: first.measure, target: first.target, repetitions: used.length, medians }]
  })
}

/** The median of one figure, null where it was not measured. */
export function figureOf(summaries: readonly Summary[], measure: string, target: string, figure: string): number | null {
  return summaries.find((one) => one.measure === measure && one.target === target)?.medians[figure] ?? null
}

export function ratioOf(a: number | null, b: number | null): number | null {
  return a === null || b === null || b === 0 ? null : a / b
}

/**
 * The median of the ratios inside each repetition: what the machine did to both of a pair at the same time goes out of it.
 * Where no repetition has both, that of their medians; null where there is none.
 */
export const pairedRatio = (rows: readonly Row[], measure: string, figure: string, target: string, base: string): number | null =>
  pairedOf(rows, measure, figure, [target, base], ([of = 0, to = 0]) => ratioOf(of, to)) ??
  ratioOfMedians(rows, measure, figure, target, base)

function ratioOfMedians(rows: readonly Row[], measure: string, figure: string, target: string, base: string): number | null {
  const summaries = summarise(rows)
  return ratioOf(figureOf(summaries, measure, target, figure), figureOf(summaries, measure, base, figure))
}

/** The same of what `combine` makes of one figure of several targets; null: nothing. */
export function pairedOf(
  rows: readonly Row[],
  measure: string,
  figure: string,
  targets: readonly string[],
  combine: (values: readonly number[]) => number | null,
): number | null {
  const momentOf = ({ isTogether = false, repetition }: Row): string => `${isTogether} ${repetition}`
  const valuesIn = (moment: string): readonly number[] =>
    targets.flatMap((name) => {
      const own = rows.filter((row) => row.measure === measure && row.target === name && momentOf(row) === moment)
      return medianOf(own.map(({ figures }) => figures[figure])) ?? []
    })
  const repetitions = [...new Set(rows.map(momentOf))]
  const whole = repetitions.map(valuesIn).filter(({ length }) => length === targets.length)
  return medianOf(whole.map(combine))
}
