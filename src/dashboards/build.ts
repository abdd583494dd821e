/** Boards from their lists and the metrics' panels: Grafana's classic JSON, the same text for the same panels. */
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard'
import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus'
import type { Annotation, Panel } from '../sinks/metrics/panel.ts'
import type { Board } from './boards.ts'
import { drawPanel } from './draw.ts'
import { boardVariables, SOURCE } from './variables.ts'

const TAG = 'impatient-hop'
const COLUMNS = 24

export interface Drawable {
  readonly panels: readonly Panel[]
  readonly annotations: readonly Annotation[]
}

/** Throws where the board names a panel or an annotation that there is not, or a row is too wide. */
export function buildBoard({ uid, title, description, annotations, rows }: Board, drawable: Drawable): Dashboard {
  const board = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG, 'mcp'])
    .readonly()
    .timezone('browser')
    .time({ from: 'now-1h', to: 'now' })
    .refresh('30s')
    .tooltip(DashboardCursorSync.Crosshair)
    .variables([...boardVariables()])
    .annotations(annotations.map((id) => mark(find(drawable.annotations, id, uid))))
    .link(boardsOf(TAG))
  let id = 0
  let y = 0
  for (const row of rows) {
    board.withRow(new RowBuilder(row.title).id(++id).gridPos({ x: 0, y, w: COLUMNS, h: 1 }))
    y += 1
    let x = 0
    for (const [name, width] of row.panels) {
      if (x + width > COLUMNS) throw new RangeError(`${uid}, row "${row.title}": wider than ${COLUMNS} at ${name}`)
      board.withPanel(drawPanel(find(drawable.panels, name, uid), ++id, { x, y, w: width, h: row.height }))
      x += width
    }
    y += row.height
  }
  return board.build()
}

function find<T extends { readonly id: string }>(all: readonly T[], id: string, uid: string): T {
  const found = all.find((each) => each.id === id)
  if (found === undefined)
    throw new RangeError(`${uid} names "${id}", which no metric has; there are ${all.map((each) => each.id).join(', ')}`)
  return found
}

const mark = ({ title, expr, legend, color }: Annotation): AnnotationQueryBuilder =>
  new AnnotationQueryBuilder()
    .name(title)
    .datasource(SOURCE)
    .enable(true)
    .iconColor(color)
    .expr(expr)
    .titleFormat(title)
    .textFormat(legend)
    .step('15s')
    .target(new DataqueryBuilder().refId('Anno').expr(expr).range())

const boardsOf = (tag: string): DashboardLinkBuilder =>
  new DashboardLinkBuilder('Boards')
    .type(DashboardLinkType.Dashboards)
    .tags([tag])
    .asDropdown(false)
    .includeVars(true)
    .keepTime(true)
    .icon('dashboard')
    .tooltip('')
    .url('')
    .targetBlank(false)

/** As it stands in dashboards/: two spaces, a newline at the end. */
export const boardText = (board: Dashboard): string => `${JSON.stringify(board, null, 2)}\n`
