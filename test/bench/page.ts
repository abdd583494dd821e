/** The results in Markdown: a table per measure, the goals, and where the figures come from. Pure. */
import type { Goal, Judged } from './goals.ts'
import { GOALS, judge, LATER_GOALS } from './goals.ts'
import type { Row, Summary } from './summary.ts'
import { pairedRatio, summarise } from './summary.ts'

export interface RunAbout {
  readonly isQuick: boolean
  readonly command: string
  readonly startedAt: string
  readonly tookS: number
  /** Load average of the minute before, and at the end. */
  readonly loadBefore: number
  readonly loadAfter: number
  readonly machine: string
  readonly isPinned: boolean
  /** Target name → title and version; only those measured. */
  readonly targets: Readonly<Record<string, { readonly title: string; readonly version: string }>>
}

export interface Results {
  readonly about: RunAbout
  readonly rows: readonly Row[]
  readonly failures: readonly string[]
}

interface Column {
  readonly title: string
  readonly figure: string
  readonly digits: number
  /** Shown as a ratio to bare http-proxy as well. */
  readonly isCompared?: true
}

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  rtt: [
    { title: 'requests/s', figure: 'rps', digits: 0, isCompared: true },
    { title: 'p50 µs', figure: 'p50Us', digits: 0 },
    { title: 'p99 µs', figure: 'p99Us', digits: 0 },
    { title: 'CPU/request µs', figure: 'cpuUsPerRequest', digits: 1, isCompared: true },
    { title: 'errors', figure: 'errors', digits: 0 },
  ],
  events: [
    { title: 'events/s', figure: 'deliveredPerS', digits: 0 },
    { title: 'p50 µs', figure: 'p50Us', digits: 0, isCompared: true },
    { title: 'p99 µs', figure: 'p99Us', digits: 0 },
    { title: 'CPU/event µs', figure: 'cpuUsPerEvent', digits: 2, isCompared: true },
    { title: 'of it user µs', figure: 'userUsPerEvent', digits: 2 },
  ],
  bulk: [
    { title: 'MB/s', figure: 'mbPerS', digits: 0, isCompared: true },
    { title: 'CPU ms/MB', figure: 'cpuMsPerMb', digits: 2 },
  ],
  idle: [
    { title: 'held', figure: 'held', digits: 0 },
    { title: 'of', figure: 'wanted', digits: 0 },
    { title: 'KB/stream', figure: 'kbPerStream', digits: 1, isCompared: true },
    { title: 'opened in s', figure: 'openS', digits: 1 },
    { title: 'CPU % while held', figure: 'cpuPct', digits: 1 },
  ],
  cut: [
    { title: 'cut', figure: 'cut', digits: 0 },
    { title: 'of', figure: 'wanted', digits: 0 },
    { title: 'early', figure: 'early', digits: 0 },
    { title: 'least since written ms', figure: 'leastMs', digits: 2 },
    { title: 'p50 ms', figure: 'p50Ms', digits: 2 },
    { title: 'p99 ms', figure: 'p99Ms', digits: 2 },
    { title: 'scrapes', figure: 'scrapes', digits: 0 },
    { title: 'open meanwhile', figure: 'alsoOpen', digits: 0 },
    { title: 'MB meanwhile', figure: 'alsoMb', digits: 0 },
    { title: 'left meanwhile', figure: 'left', digits: 0 },
    { title: 'of them seen', figure: 'leftSeen', digits: 0 },
  ],
  abort: [
    { title: 'seen', figure: 'seen', digits: 0 },
    { title: 'of', figure: 'wanted', digits: 0 },
    { title: 'p50 ms', figure: 'p50Ms', digits: 2 },
    { title: 'p99 ms', figure: 'p99Ms', digits: 2 },
  ],
  growth: [
    { title: 'streams', figure: 'many', digits: 0 },
    { title: 'CPU/event µs with 64', figure: 'eventFewUs', digits: 1 },
    { title: 'with all', figure: 'eventManyUs', digits: 1 },
    { title: 'ratio', figure: 'eventRatio', digits: 2 },
    { title: 'ratio, each stream in its own time', figure: 'spreadRatio', digits: 2 },
    { title: 'CPU/request µs with none', figure: 'requestFewUs', digits: 1 },
    { title: 'with all open', figure: 'requestManyUs', digits: 1 },
    { title: 'ratio', figure: 'requestRatio', digits: 2 },
  ],
  memory: [
    { title: 'exchanges', figure: 'exchanges', digits: 0 },
    { title: 'RSS after 10,000 MB', figure: 'earlyMb', digits: 1 },
    { title: 'RSS at the end MB', figure: 'lateMb', digits: 1 },
    { title: 'grown MB', figure: 'grownMb', digits: 1 },
  ],
}
const BASE = 'http-proxy'

const shown = (value: number | null | undefined, digits: number): string =>
  value === null || value === undefined ? '–' : value.toFixed(digits)
const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

function tableOf(measure: string, summaries: readonly Summary[], rows: readonly Row[], about: RunAbout): readonly string[] {
  const shownOf = summaries.filter((summary) => summary.measure === measure)
  const isMeasured = ({ figure }: Column): boolean => shownOf.some(({ medians }) => (medians[figure] ?? null) !== null)
  const columns = (COLUMNS[measure.split(' ')[0] ?? ''] ?? []).filter(isMeasured)
  const compared = columns.filter(({ isCompared }) => isCompared === true)
  const heads = ['proxy', 'runs', ...columns.map(({ title }) => title), ...compared.map(({ title }) => `${title} × http-proxy`)]
  const body = shownOf.map(({ target, repetitions, medians }) =>
    line([
      about.targets[target]?.title ?? target,
      String(repetitions),
      ...columns.map(({ figure, digits }) => shown(medians[figure], digits)),
      ...compared.map(({ figure }) => shown(pairedRatio(rows, measure, figure, target, BASE), 2)),
    ]),
  )
  return [`### ${measure}`, '', line(heads), line(heads.map(() => '---')), ...body, '']
}

const goalLine = ({ goal, reached, verdict }: Judged): string =>
  line([goal.says, `${goal.is === 'at-most' ? '≤' : '≥'} ${goal.bound}`, shown(reached, 2), verdict === 'met' ? 'met' : `**${verdict}**`])

export function goalsTable(rows: readonly Row[], goals: readonly Goal[] = GOALS): readonly string[] {
  return [line(['goal', 'bound', 'reached', '']), line(['---', '---', '---', '---']), ...judge(rows, goals).map(goalLine)]
}

/** The whole page. */
export function pageOf({ about, rows, failures }: Results): string {
  const summaries = summarise(rows)
  const measures = [...new Set(rows.map(({ measure }) => measure))]
  const versions = Object.values(about.targets).map(({ title, version }) => `${title} ${version}`)
  const kind = about.isQuick ? 'A **quick** run: figures to see that all is well, not to quote.' : 'A full run.'
  return [
    '# Benchmark results',
    '',
    `${kind} Made by \`${about.command}\`; this file is written by it.`,
    '',
    `- ${about.startedAt}, ${about.tookS} s; load average before ${about.loadBefore}, after ${about.loadAfter}`,
    `- ${about.machine}${about.isPinned ? '; the proxy on one core, client and server on another' : '; not pinned'}`,
    `- ${versions.join(' · ')}`,
    '',
    'Medians of interleaved repetitions; ratios are medians of the ratios inside each repetition.',
    'For requests, events and leavings all that is compared stands together and one client measures it in turn, seconds apart; before, each is',
    'warmed by 20,000 requests of 64 clients and 10,000 of one, by 50,000 events, by 4,000 leavings.',
    'For growth the proxy stands twice, with few and with many streams; its events come to all streams at once, again and again.',
    'The ledger, the metrics and the reading of events are on; the events file is off. Trust ratios more than figures, and CPU more than p99.',
    '',
    ...measures.flatMap((measure) => tableOf(measure, summaries, rows, about)),
    '## Goals',
    '',
    'The gate (`npm run bench:gate`) asks for these.',
    '',
    ...goalsTable(rows),
    '',
    '## What we aim at next',
    '',
    ...goalsTable(rows, LATER_GOALS),
    '',
    ...(failures.length === 0 ? [] : ['## What failed', '', ...failures.map((failure) => `- ${failure}`), '']),
  ].join('\n')
}
