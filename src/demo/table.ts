/** What the demo says of its calls: a table for somebody who sees this for the first time, from measured values only. */
import { assertNever } from '../core/assert.ts'
import type { CallRecord } from '../core/record.ts'
import type { RunName, StoryLine } from './story.ts'
import type { Timing } from './timing.ts'

export type Colour = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan'
export type Paint = (colour: Colour, text: string) => string

const HEADINGS = ['', 'closed by', 'when', 'work ended', 'after the close', 'verdict'] as const
/** Times stand to the right. */
const RIGHT = new Set([2, 3, 4])
const GAP = '   '

/** The table's lines, in the order of `lines`, grouped by run. */
export function storyTable(lines: readonly StoryLine[], timing: Timing, paint: Paint): readonly string[] {
  const rows = lines.map(cellsOf)
  const widths = HEADINGS.map((heading, column) => Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const pad = (cells: readonly string[]): string[] =>
    cells.map((cell, column) => (RIGHT.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
  const out = [paint('bold', pad(HEADINGS).join(GAP).trimEnd())]
  let group: RunName | null = null
  for (const [index, line] of lines.entries()) {
    if (line.run !== group) out.push('', paint('cyan', titleOf(line.run, timing)))
    group = line.run
    const cells = pad(rows[index] ?? [])
    const verdict = cells.pop() ?? ''
    out.push(`${cells.join(GAP)}${GAP}${paint(colourOf(line.record), verdict.trimEnd())}`)
  }
  return out
}

function titleOf(run: RunName, { leaveAfterMs, silentAfterMs, idleTimeoutMs }: Timing): string {
  switch (run) {
    case 'undisturbed':
      return 'nothing in the way'
    case 'client-leaves':
      return `the client leaves after ${seconds(leaveAfterMs)}`
    case 'idle-timeout':
      return `a hop allows ${seconds(idleTimeoutMs)} of silence, the tool falls silent after ${seconds(silentAfterMs)}`
    default:
      return assertNever(run)
  }
}

function cellsOf({ tool, record }: StoryLine): readonly string[] {
  const name = tool === 'render_obedient' ? '  a tool that stops when told' : '  a tool that does not listen'
  if (record === null) return [name, 'not seen by the sidecar', '–', '–', '–', 'unknown']
  const { endedMs, afterCloseMs } = record.work
  return [
    name,
    closerOf(record),
    seconds(record.closedMs),
    seconds(endedMs),
    afterCloseMs === 0 ? '–' : seconds(afterCloseMs),
    verdictOf(record),
  ]
}

function closerOf({ closedBy, cause, result, hop }: CallRecord): string {
  if (closedBy === null) return 'nobody yet'
  if (cause === 'complete') return result === 'none' ? 'the server' : 'the server, with its result'
  const why = (cause ?? 'unknown').replaceAll('_', ' ')
  return closedBy === 'sidecar'
    ? `the hop: ${why}`
    : closedBy === 'client'
      ? 'the client'
      : `the server: ${why}${hop === null ? '' : ` (${hop})`}`
}

function verdictOf({ work }: CallRecord): string {
  switch (work.outcome) {
    case 'finished':
      return 'finished in time'
    case 'stopped':
      return 'stopped when told'
    case 'orphaned':
      return 'orphan work'
    case 'unobserved':
      return 'nobody reported'
    case 'delegated':
      return 'a task of its own'
    case 'pending':
      return 'still at work'
    default:
      return assertNever(work.outcome)
  }
}

function colourOf(record: CallRecord | null): Colour {
  if (record === null) return 'yellow'
  const { outcome } = record.work
  return outcome === 'orphaned' ? 'red' : outcome === 'finished' || outcome === 'stopped' ? 'green' : 'yellow'
}

/** `client gone at 2.0 s, server worked until 6.0 s: 4.0 s orphaned`; null where the record measured no orphan work. */
export function orphanSentence({ closedBy, abandonedMs, work }: CallRecord): string | null {
  const { outcome, endedMs, afterCloseMs } = work
  if (outcome !== 'orphaned' || abandonedMs === null || endedMs === null || afterCloseMs === null) return null
  const who = closedBy === 'client' ? 'client gone' : 'stream cut'
  const [gone, ended, after] = addingUp(abandonedMs, endedMs, afterCloseMs)
  return `${who} at ${gone} s, server worked until ${ended} s: ${after} s orphaned`
}

/** Seconds with as few decimals as let the reader add them up: 1.94 + 4.32 = 6.26 would read 1.9 + 4.3 = 6.3. */
function addingUp(...measuredMs: readonly [number, number, number]): readonly string[] {
  const rounded = (digits: number): readonly string[] => measuredMs.map((ms) => (ms / 1_000).toFixed(digits))
  const isSum = ([gone, ended, after]: readonly string[], digits: number): boolean =>
    (Number(gone) + Number(after)).toFixed(digits) === ended
  return [1, 2].map(rounded).find((texts, index) => isSum(texts, index + 1)) ?? rounded(3)
}

/** `2.0 s`; under a tenth of a second `8 ms`; `–` where there is none. */
export function seconds(ms: number | null): string {
  if (ms === null) return '–'
  return ms > 0 && ms < 95 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1_000).toFixed(1)} s`
}
