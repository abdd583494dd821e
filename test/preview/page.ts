/** A board as an HTML page: its panels where the grid has them, filled by a real Prometheus. */
import type { BoardJson, PanelJson } from '../support/boards.ts'
import type { Prometheus, Sample } from '../support/prometheus.ts'
import { fillVariables } from '../support/promql.ts'
import type { Frame, Series } from './svg.ts'
import { drawHeat, drawLines, drawTimeline, escapeHtml, format } from './svg.ts'

export interface Shown {
  readonly prometheus: Prometheus
  readonly from: number
  readonly to: number
  readonly stepSeconds: number
  readonly chosen: Readonly<Record<string, string>>
}

const COLUMN = 60
const ROW = 38
const GAP = 8
const HEADER = 78

interface Pivot {
  readonly rowField: string
  readonly columnField: string
}
type Drawn = PanelJson & {
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string
      readonly noValue?: string
      readonly thresholds?: { readonly steps: Steps }
      readonly custom?: { readonly stacking?: unknown }
    }
  }
  readonly transformations?: readonly { readonly id: string; readonly options: Partial<Pivot> }[]
}
type Steps = readonly { readonly value: number | null; readonly color: string }[]

export async function boardPage(board: BoardJson, shown: Shown): Promise<string> {
  const parts: string[] = []
  for (const panel of board.panels as readonly Drawn[]) parts.push(await placed(panel, shown))
  const height = Math.max(...board.panels.map(({ gridPos: { y, h } }) => y + h)) * ROW + HEADER + 20
  return `<!doctype html><meta charset="utf-8"><title>${escapeHtml(board.title)}</title><style>${STYLE}</style>
<body style="width:${24 * COLUMN + 2 * GAP}px;height:${height}px"><h1>${escapeHtml(board.title)}</h1>
<p class="note">Preview, drawn by a script from the board's own queries and a real Prometheus; it is not Grafana. Times in the story are shortened: limits of seconds instead of minutes.</p>
${parts.join('\n')}</body>`
}

async function placed(panel: Drawn, shown: Shown): Promise<string> {
  const { x, y, w, h } = panel.gridPos
  const box = `left:${x * COLUMN + GAP}px;top:${y * ROW + HEADER}px;width:${w * COLUMN - GAP}px;height:${h * ROW - GAP}px`
  if (panel.type === 'row') return `<h2 style="${box}">${escapeHtml(panel.title)}</h2>`
  const frame = {
    width: w * COLUMN - GAP - 16,
    height: h * ROW - GAP - 38,
    from: shown.from,
    to: shown.to,
    unit: panel.fieldConfig?.defaults.unit ?? '',
  }
  return `<section style="${box}"><h3>${escapeHtml(panel.title)}</h3>${await content(panel, frame, shown)}</section>`
}

async function content(panel: Drawn, frame: Frame, shown: Shown): Promise<string> {
  if (panel.type === 'stat') return stat(panel, await instant(panel, shown), frame)
  if (panel.type === 'table') return table(panel, await instant(panel, shown), frame)
  const series = (await Promise.all((panel.targets ?? []).map((target) => range(target, shown)))).flat()
  if (series.length === 0) return '<p class="none">No data</p>'
  if (panel.type === 'heatmap') return drawHeat(series, frame)
  if (panel.type === 'state-timeline') return drawTimeline(series, frame)
  const shownSeries = series.filter(({ points }) => points.some(([, value]) => value > 0))
  return drawLines(
    shownSeries.length > 0 ? shownSeries : series.slice(0, 4),
    JSON.stringify(panel.fieldConfig?.defaults.custom?.stacking ?? '').includes('normal'),
    frame,
  )
}

const instant = ({ targets = [] }: Drawn, { prometheus, to, chosen }: Shown): Promise<readonly Sample[]> =>
  prometheus.query(fillVariables(targets[0]?.expr ?? '', chosen), to)

async function range(target: NonNullable<PanelJson['targets']>[number], shown: Shown): Promise<Series[]> {
  const { prometheus, from, to, stepSeconds, chosen } = shown
  const { result } = (await prometheus.get('/api/v1/query_range', {
    query: fillVariables(target.expr, chosen),
    start: `${from}`,
    end: `${to}`,
    step: `${stepSeconds}`,
  })) as { result: { metric: Record<string, string>; values: [number, string][] }[] }
  return result.map(({ metric, values }) => ({
    name: nameOf(fillVariables(target.legendFormat ?? '', chosen), metric),
    points: values.map(([at, value]) => [at, Number(value)] as const).filter(([, value]) => Number.isFinite(value)),
  }))
}

const nameOf = (legend: string, metric: Readonly<Record<string, string>>): string =>
  legend === '__auto' ? Object.values(metric).join(' ') : legend.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '')

function stat({ fieldConfig }: Drawn, [sample]: readonly Sample[], { unit, height }: Frame): string {
  const defaults = fieldConfig?.defaults
  const value = sample?.value
  const shown = value === undefined ? (defaults?.noValue ?? 'No data') : format(unit === 'short' ? Math.round(value) : value, unit)
  const step = (defaults?.thresholds?.steps ?? []).filter((each) => each.value === null || (value ?? 0) >= each.value).at(-1)
  const color = { green: '#73bf69', red: '#f2495c' }[step?.color ?? ''] ?? '#d8d9da'
  return `<div class="stat" style="color:${color};line-height:${height}px">${escapeHtml(shown)}</div>`
}

function table({ transformations = [] }: Drawn, samples: readonly Sample[], { unit, height }: Frame): string {
  const pivot = transformations.find(({ id }) => id === 'groupingToMatrix')?.options
  const cell = (value: number): string => escapeHtml(format(unit === 'short' ? Math.round(value) : value, unit))
  const rowsOf = (head: readonly string[], body: readonly (readonly string[])[]): string =>
    `<div style="max-height:${height}px;overflow:hidden"><table><tr>${head.map((each) => `<th>${escapeHtml(each)}</th>`).join('')}</tr>${body
      .map((row) => `<tr>${row.map((each) => `<td>${each}</td>`).join('')}</tr>`)
      .join('')}</table></div>`
  if (pivot?.rowField === undefined || pivot.columnField === undefined) {
    const labels = Object.keys(samples[0]?.labels ?? {})
    return rowsOf(
      [...labels, 'value'],
      samples.map(({ labels: of, value }) => [...labels.map((label) => escapeHtml(of[label] ?? '')), cell(value)]),
    )
  }
  const { rowField, columnField } = pivot
  const distinct = (label: string): string[] => [...new Set(samples.map(({ labels }) => labels[label] ?? ''))].sort()
  const total = (label: string, is: string): number =>
    samples.filter(({ labels }) => labels[label] === is).reduce((sum, { value }) => sum + value, 0)
  const columns = distinct(columnField).filter((column) => total(columnField, column) > 0)
  const rows = distinct(rowField).filter((row) => total(rowField, row) > 0)
  const valueAt = (row: string, column: string): number =>
    samples.find(({ labels }) => labels[rowField] === row && labels[columnField] === column)?.value ?? 0
  return rowsOf(
    [`${rowField}\\${columnField}`, ...columns],
    rows.map((row) => [escapeHtml(row), ...columns.map((column) => cell(valueAt(row, column)))]),
  )
}

const STYLE = `body{position:relative;margin:0;background:#111217;color:#d8d9da;font-family:'DejaVu Sans',Arial,sans-serif}
h1{position:absolute;left:8px;top:6px;margin:0;font-size:19px;font-weight:600}.note{position:absolute;left:8px;top:34px;margin:0;font-size:12px;color:#f2cc0c}
h2{position:absolute;margin:0;font-size:15px;font-weight:600;line-height:32px;color:#d8d9da}
section{position:absolute;box-sizing:border-box;background:#181b1f;border:1px solid #2c3235;border-radius:2px;overflow:hidden;padding:6px 8px}
h3{margin:0 0 4px;font-size:13px;font-weight:600;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.stat{font-size:34px;font-weight:600;text-align:center}.none{color:#9fa7b3;text-align:center;margin-top:70px;font-size:13px}
table{border-collapse:collapse;width:100%;font-size:12px}td,th{text-align:left;padding:4px 6px;border-bottom:1px solid #2c3235;white-space:nowrap}th{color:#6e9fff;font-weight:600}`
