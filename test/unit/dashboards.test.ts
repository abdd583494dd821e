/** The boards against everything that can be known without Grafana: their panels, its schema, PromQL's grammar, its linter's rules. */
import { describe, expect, test } from 'vitest'
import { BOARDS } from '../../src/dashboards/boards.ts'
import { buildBoard } from '../../src/dashboards/build.ts'
import { boardFiles } from '../../src/dashboards/files.ts'
import { ANNOTATIONS, METRICS, PANELS } from '../../src/sinks/metrics/index.ts'
import type { BoardJson } from '../support/boards.ts'
import { boardFile, boards, shownPanels } from '../support/boards.ts'
import { RULES } from '../support/dashboard-lint.ts'
import { dashboardChecker } from '../support/grafana-schema.ts'
import { fillVariables, parsePromql } from '../support/promql.ts'

const all = boards()
const expressions = (board: BoardJson): readonly string[] => [
  ...shownPanels(board).flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...board.annotations.list.map(({ expr }) => expr),
]
const selectedIn = (board: BoardJson) => expressions(board).flatMap((expr) => parsePromql(fillVariables(expr)).selected)
const baseOf = (metric: string): string => metric.replace(/^impatient_/, '').replace(/_(bucket|count|sum)$/, '')

test.each(boardFiles())(
  '$name is what its panels say; else: node --import tsx src/dashboards/write.ts [boards.no-drift]',
  ({ name, text }) => {
    expect(boardFile(name)).toBe(text)
  },
)

test('each board is valid by Grafana’s own type [boards.schema]', () => {
  const check = dashboardChecker()
  for (const board of all) expect(check(board)).toEqual([])
  const [board] = all
  expect(check({ ...board, refresh: 30 })).not.toEqual([])
  expect(check({ ...board, pannels: [] })).not.toEqual([])
  expect(check({ ...board, panels: [{ ...board?.panels[1], gridPos: { x: '0' } }] })).not.toEqual([])
}, 180_000)

test('every query is PromQL [boards.promql]', () => {
  const broken = all.flatMap(expressions).filter((expr) => parsePromql(fillVariables(expr)).errorsAt.length > 0)
  expect(broken).toEqual([])
  expect(all.flatMap(expressions).length).toBeGreaterThan(60)
  expect(parsePromql('sum(rate(x[').errorsAt).not.toEqual([])
})

describe('the linter’s rules', () => {
  test.each(Object.entries(RULES))('%s [boards.lint]', (_, rule) => {
    expect(all.flatMap(rule)).toEqual([])
  })
  test.each([
    ['template-datasource-rule', (board: BoardJson) => ({ ...board, templating: { list: [] } })],
    ['template-job-rule', (board: BoardJson) => without(board, 'job')],
    ['template-instance-rule', (board: BoardJson) => without(board, 'instance')],
    ['template-label-promql-rule', (board: BoardJson) => ofVariables(board, { definition: 'label_values(x{, job)' })],
    ['template-on-time-change-reload-rule', (board: BoardJson) => ofVariables(board, { refresh: 1 })],
    ['panel-datasource-rule', (board: BoardJson) => ofPanels(board, { datasource: { uid: 'abc' } })],
    ['panel-title-description-rule', (board: BoardJson) => ofPanels(board, { description: '' })],
    ['panel-units-rule', (board: BoardJson) => ofPanels(board, { fieldConfig: { defaults: {} } })],
    ['panel-no-targets-rule', (board: BoardJson) => ofPanels(board, { targets: [] })],
    ['target-promql-rule', (board: BoardJson) => asking(board, 'sum(')],
    ['target-rate-interval-rule', (board: BoardJson) => asking(board, 'sum(rate(x_total{job=~"$job"}[5m]))')],
    ['target-job-rule', (board: BoardJson) => asking(board, 'sum(x{job="$job", instance=~"$instance"})')],
    ['target-instance-rule', (board: BoardJson) => asking(board, 'sum(x{job=~"$job"})')],
    ['target-counter-agg-rule', (board: BoardJson) => asking(board, 'sum(x_total)')],
    ['target-histogram-rule', (board: BoardJson) => ({ ...asking(board, 'sum(rate(x_bucket[1m]))', 'timeseries') })],
    ['uneditable-dashboard', (board: BoardJson) => ({ ...board, editable: true })],
  ])('%s bites', (name, spoil) => {
    const [board] = all
    if (board === undefined) throw new Error('no board')
    expect(RULES[name]?.(spoil(board))).not.toEqual([])
  })
  const ofPanels = (board: BoardJson, more: object): BoardJson => ({
    ...board,
    panels: board.panels.map((panel) => ({ ...panel, ...more })),
  })
  const ofVariables = (board: BoardJson, more: object): BoardJson => ({
    ...board,
    templating: { list: board.templating.list.map((each) => ({ ...each, ...more })) },
  })
  const without = (board: BoardJson, name: string): BoardJson => ({
    ...board,
    templating: { list: board.templating.list.filter((each) => each.name !== name) },
  })
  const asking = (board: BoardJson, expr: string, type = 'timeseries'): BoardJson =>
    ofPanels(board, { type, targets: [{ refId: 'A', expr, datasource: { uid: '$prometheus_datasource' } }] })
})

describe('queries and metrics [boards.real-metrics]', () => {
  const about = new Map(METRICS.map((metric) => [metric.name, metric]))
  test('each query names a metric that exists, and labels that it has [boards.real-metrics]', () => {
    const offences = all.flatMap(expressions).flatMap((expr) => {
      const { selected, grouped } = parsePromql(fillVariables(expr))
      const labels = new Set(selected.flatMap(({ metric }) => about.get(baseOf(metric))?.labels ?? []))
      const strange = [
        ...grouped.filter((label) => !labels.has(label) && !['le', 'instance'].includes(label)),
        ...selected.flatMap(({ metric, matchers }) => {
          const known = about.get(baseOf(metric))
          if (known === undefined) return [metric]
          return matchers.map(({ label }) => label).filter((label) => !known.labels.includes(label) && !['job', 'instance'].includes(label))
        }),
      ]
      return strange.map((what) => `${what} in ${expr}`)
    })
    expect(offences).toEqual([])
  })
  test('each metric is on a board, and each panel and annotation too [boards.real-metrics]', () => {
    const shown = new Set(all.flatMap(selectedIn).map(({ metric }) => baseOf(metric)))
    expect(METRICS.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([])
    const placed = new Set(
      BOARDS.flatMap(({ rows, annotations }) => [...rows.flatMap((row) => row.panels.map(([id]) => id)), ...annotations]),
    )
    const named = [...PANELS, ...ANNOTATIONS].map(({ id }) => id)
    expect(named.filter((id) => !placed.has(id))).toEqual([])
    expect(new Set(named).size).toBe(named.length)
  })
  test('legends name labels that the query keeps apart', () => {
    const offences = PANELS.flatMap(({ id, queries }) =>
      queries.flatMap(({ expr, legend }) => {
        const { grouped } = parsePromql(fillVariables(expr))
        const named = [...fillVariables(legend).matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label ?? '')
        return named.filter((label) => !grouped.includes(label)).map((label) => `${id}: ${label}`)
      }),
    )
    expect(offences).toEqual([])
  })
})

test('a board that names what no metric has is refused', () => {
  const [board] = BOARDS
  if (board === undefined) throw new Error('no board')
  const drawable = { panels: PANELS, annotations: ANNOTATIONS }
  expect(() => buildBoard({ ...board, annotations: ['nothing'] }, drawable)).toThrow(/names "nothing", which no metric has/)
  const wide = {
    title: 'wide',
    height: 4,
    panels: [
      ['orphan-by-tool', 20],
      ['outcomes', 5],
    ] as const,
  }
  expect(() => buildBoard({ ...board, rows: [wide] }, drawable)).toThrow(/row "wide": wider than 24 at outcomes/)
})

test('ids, places, no overlap [boards.layout]', () => {
  for (const { title, panels } of all) {
    expect(new Set(panels.map(({ id }) => id)).size, title).toBe(panels.length)
    expect(panels.filter(({ id, gridPos: { x, w } }) => id < 1 || x < 0 || x + w > 24)).toEqual([])
    const overlaps = panels.flatMap(({ id, gridPos: a }) =>
      panels
        .filter((other) => other.id > id)
        .filter(({ gridPos: b }) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
        .map((other) => `${title}: panels ${id} and ${other.id}`),
    )
    expect(overlaps).toEqual([])
  }
})

test('links, uids, tags, refresh, shared crosshair; nothing to fill in at import [boards.linked]', () => {
  expect(all.map(({ uid }) => `${uid}.json`)).toEqual(boardFiles().map(({ name }) => name))
  for (const board of all) {
    expect(board.tags).toContain('impatient-hop')
    expect(board.links).toMatchObject([{ type: 'dashboards', tags: ['impatient-hop'], includeVars: true, keepTime: true }])
    expect(board).toMatchObject({ refresh: '30s', graphTooltip: 1 })
    expect(board).not.toHaveProperty('id')
    expect(board).not.toHaveProperty('__inputs')
    const variables = board.templating.list.map(({ name }) => name)
    expect(variables).toEqual(['prometheus_datasource', 'job', 'instance', 'tool', 'revision', 'split', 'before'])
  }
})

test('lines by tool, fault or instance are the highest few [boards.many-sidecars]', () => {
  const many = new Set(['tool', 'fault', 'instance'])
  const unbounded = all
    .flatMap(shownPanels)
    .filter(({ type }) => type === 'timeseries')
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => fillVariables(expr)))
    .filter((expr) => parsePromql(expr).grouped.some((label) => many.has(label)) && !expr.startsWith('topk(10, '))
  expect(unbounded).toEqual([])
  const bare = all.flatMap(expressions).filter((expr) => !/\b(sum|min|max|avg|count)\b/.test(expr))
  expect(bare).toEqual([])
})
