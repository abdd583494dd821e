/** The comparison as it is printed: scenarios down, programs across, and under it why what is known to differ does. */
import type { Verdict } from './hop-peer-look.ts'

const WORDS = { same: 'same', known: 'known', different: 'DIFFERENT' } as const

/** A column without verdicts: its program was not there. */
export function comparisonTable(columns: ReadonlyMap<string, readonly Verdict[]>, scenarios: readonly string[]): string {
  const peers = [...columns.keys()]
  const reasons: string[] = []
  const cell = (peer: string, scenario: string): string => {
    const verdict = columns.get(peer)?.find((one) => one.scenario === scenario)
    if (verdict === undefined) return '-'
    const notes = new Set(
      verdict.reasons.map((reason) => {
        if (!reasons.includes(reason)) reasons.push(reason)
        return reasons.indexOf(reason) + 1
      }),
    )
    return WORDS[verdict.is] + (notes.size === 0 ? '' : ` ${[...notes].join(' ')}`)
  }
  const rows = [['', ...peers], ...scenarios.map((scenario) => [scenario, ...peers.map((peer) => cell(peer, scenario))])]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return [...lines, '', ...reasons.map((reason, index) => `known ${index + 1}: ${reason}`), ''].join('\n')
}
