/** The rules of Grafana's dashboard linter, as functions: a board in, its offences out. */
import type { BoardJson, PanelJson, Target, VariableJson } from './boards.ts'
import { shownPanels } from './boards.ts'
import { fillVariables, parsePromql } from './promql.ts'

const SOURCE_UID = '$prometheus_datasource'
const UNITS = new Set(['s', 'short', 'cps', 'percentunit', 'bytes', 'Bps', 'bool_yes_no', 'dateTimeFromNow'])
const ON_TIME_RANGE_CHANGE = 2
/** Stands for `$__rate_interval` where windows are looked at. */
const RATE_INTERVAL = '77s'
/** Stand for the reader's choice where matchers are looked at. */
const CHOSEN = { job: 'job chosen', instance: 'instance chosen' }

export type Rule = (board: BoardJson) => readonly string[]

const perPanel =
  (check: (panel: PanelJson) => readonly string[]): Rule =>
  (board) =>
    shownPanels(board).flatMap((panel) => check(panel).map((why) => `${board.title} / ${panel.title}: ${why}`))
const perTarget = (check: (target: Target) => readonly string[]): Rule =>
  perPanel((panel) => (panel.targets ?? []).flatMap((target) => check(target).map((why) => `${target.refId}: ${why}`)))
const perSelected = (check: (selected: ReturnType<typeof parsePromql>['selected'][number]) => string | null): Rule =>
  perTarget(({ expr }) =>
    parsePromql(fillVariables(expr, { __rate_interval: RATE_INTERVAL, ...CHOSEN })).selected.flatMap((selected) => {
      const why = check(selected)
      return why === null ? [] : [`${selected.metric}: ${why}`]
    }),
  )
function variable(name: string, label: string): Rule {
  return ({ title, templating }) => {
    const found = templating.list.find((each) => each.name === name)
    if (found === undefined) return [`${title}: no variable ${name}`]
    const faults = [
      found.type === 'query' ? '' : `is a ${found.type}`,
      found.label === label ? '' : `is labelled ${found.label}`,
      found.multi === true ? '' : 'is not multi-select',
      found.allValue === '.+' ? '' : `has allValue ${found.allValue}`,
      found.datasource?.uid === SOURCE_UID ? '' : `asks ${found.datasource?.uid}`,
    ]
    return faults.filter((why) => why !== '').map((why) => `${title}: variable ${name} ${why}`)
  }
}

const queries = ({ templating }: BoardJson): readonly VariableJson[] => templating.list.filter(({ type }) => type === 'query')

const matcher = (label: keyof typeof CHOSEN): Rule =>
  perSelected(({ matchers }) =>
    matchers.some((each) => each.label === label && each.op === '=~' && each.value === CHOSEN[label]) ? null : `no ${label}=~"$${label}"`,
  )

export const RULES: Readonly<Record<string, Rule>> = {
  'template-datasource-rule': ({ title, templating }) => {
    const sources = templating.list.filter(({ type }) => type === 'datasource')
    const isRight = sources.length === 1 && sources[0]?.name === 'prometheus_datasource' && sources[0]?.label === 'Prometheus data source'
    return isRight ? [] : [`${title}: no data source variable prometheus_datasource`]
  },
  'template-job-rule': variable('job', 'Job'),
  'template-instance-rule': variable('instance', 'Instance'),
  'template-label-promql-rule': (board) =>
    queries(board).flatMap(({ name, definition = '' }) => {
      const inner = /^label_values\((.+), \w+\)$/.exec(definition)?.[1]
      const isRight = inner !== undefined && parsePromql(fillVariables(inner)).errorsAt.length === 0
      return isRight ? [] : [`${board.title}: variable ${name} asks ${definition}`]
    }),
  'template-on-time-change-reload-rule': (board) =>
    queries(board)
      .filter(({ refresh }) => refresh !== ON_TIME_RANGE_CHANGE)
      .map(({ name }) => `${board.title}: variable ${name} is not asked again when the time changes`),
  'panel-datasource-rule': perPanel(({ datasource, targets = [] }) =>
    [datasource, ...targets.map((target) => target.datasource)].every((each) => each?.uid === SOURCE_UID)
      ? []
      : ['does not ask the data source chosen'],
  ),
  'panel-title-description-rule': perPanel(({ title, description = '' }) => (title !== '' && description !== '' ? [] : ['says nothing'])),
  'panel-units-rule': perPanel(({ fieldConfig }) => (UNITS.has(fieldConfig?.defaults.unit ?? '') ? [] : ['has no unit'])),
  'panel-no-targets-rule': perPanel(({ targets = [] }) => (targets.length > 0 ? [] : ['asks nothing'])),
  'target-promql-rule': perTarget(({ expr }) => (expr !== '' && parsePromql(fillVariables(expr)).errorsAt.length === 0 ? [] : [expr])),
  'target-rate-interval-rule': perSelected(({ window, functions: [inner = ''] }) =>
    window !== null && ['rate', 'irate'].includes(inner) && window !== RATE_INTERVAL ? `${inner} over ${window}` : null,
  ),
  'target-job-rule': matcher('job'),
  'target-instance-rule': matcher('instance'),
  'target-counter-agg-rule': perSelected(({ metric, window, functions: [inner = ''] }) =>
    metric.endsWith('_total') && !(window !== null && ['rate', 'irate', 'increase'].includes(inner)) ? 'a counter as it stands' : null,
  ),
  /** Of all but heat maps, which want buckets. */
  'target-histogram-rule': perPanel(({ type, targets = [] }) =>
    type === 'heatmap'
      ? []
      : targets
          .flatMap(({ expr }) => parsePromql(fillVariables(expr)).selected)
          .filter(({ metric, functions }) => metric.endsWith('_bucket') && !functions.includes('histogram_quantile'))
          .map(({ metric }) => `${metric} without histogram_quantile`),
  ),
  'uneditable-dashboard': ({ title, editable }) => (editable ? [`${title}: editable`] : []),
}
