/** A panel as Grafana draws it: each kind with its own few settings, all with title, description, unit and queries. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog'
import {
  AxisPlacement,
  BigValueColorMode,
  BigValueGraphMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import type { Panel as Drawn, GridPos } from '@grafana/grafana-foundation-sdk/dashboard'
import { MappingType, ThresholdsConfigBuilder, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard'
import {
  PanelBuilder as Heatmap,
  HeatmapColorMode,
  HeatmapColorOptionsBuilder,
  YAxisConfigBuilder,
} from '@grafana/grafana-foundation-sdk/heatmap'
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat'
import { PanelBuilder as StateTimeline } from '@grafana/grafana-foundation-sdk/statetimeline'
import { PanelBuilder as Table } from '@grafana/grafana-foundation-sdk/table'
import { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries'
import { assertNever } from '../core/assert.ts'
import type { Panel } from '../sinks/metrics/panel.ts'
import { SOURCE } from './variables.ts'

type Kind<K extends Panel['kind']> = Extract<Panel, { kind: K }>

export function drawPanel(panel: Panel, id: number, place: GridPos): Builder<Drawn> {
  return asWhole(sketch(panel), panel)
    .id(id)
    .gridPos(place)
    .title(panel.title)
    .description(panel.description)
    .datasource(SOURCE)
    .unit(panel.unit)
    .targets(panel.queries.map((_, index) => target(panel, index)))
}

type Sketch = Stat | TimeSeries | Heatmap | Table | StateTimeline

/** Prometheus extrapolates to the edges of the time shown, so that 3 comes as 3.1: what was counted is whole. */
function asWhole(sketched: Sketch, { kind, unit }: Panel): Sketch {
  return unit === 'short' && (kind === 'stat' || kind === 'table') ? sketched.decimals(0) : sketched
}

function sketch(panel: Panel): Sketch {
  switch (panel.kind) {
    case 'stat':
      return stat(panel)
    case 'lines':
      return lines(panel)
    case 'heatmap':
      return heatmap()
    case 'table':
      return table(panel)
    case 'timeline':
      return timeline()
    default:
      return assertNever(panel)
  }
}

function target({ kind, queries }: Panel, index: number): DataqueryBuilder {
  const query = queries[index]
  if (query === undefined) throw new RangeError(`no query ${index}`)
  const builder = new DataqueryBuilder()
    .refId(String.fromCharCode(65 + index))
    .datasource(SOURCE)
    .expr(query.expr)
    .legendFormat(query.legend === '' ? '__auto' : query.legend)
  if (kind === 'heatmap') return builder.range().format(PromQueryFormat.Heatmap)
  if (kind === 'table') return builder.instant().format(PromQueryFormat.Table)
  if (kind === 'stat') return builder.instant()
  return query.hasExemplars === true ? builder.range().exemplar(true) : builder.range()
}

function stat({ alarm, ifNone }: Kind<'stat'>): Stat {
  const [calm, alarming] = ['green', 'red']
  const steps =
    alarm === undefined
      ? [{ value: null, color: 'text' }]
      : 'from' in alarm
        ? [
            { value: null, color: calm },
            { value: alarm.from, color: alarming },
          ]
        : [
            { value: null, color: alarming },
            { value: alarm.below, color: calm },
          ]
  const builder = new Stat()
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps))
  return ifNone === undefined ? builder : builder.noValue(ifNone)
}

function lines({ isStacked }: Kind<'lines'>): TimeSeries {
  const builder = new TimeSeries()
    .min(0)
    .lineWidth(1)
    .fillOpacity(isStacked === true ? 40 : 8)
    .showPoints(VisibilityMode.Never)
    .legend(new VizLegendOptionsBuilder().displayMode(LegendDisplayMode.List).placement(LegendPlacement.Bottom).showLegend(true).calcs([]))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi))
  return isStacked === true ? builder.stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A')) : builder
}

/** Buckets come counted; rows are their upper edges, in seconds. */
function heatmap(): Heatmap {
  return new Heatmap()
    .calculate(false)
    .color(new HeatmapColorOptionsBuilder().mode(HeatmapColorMode.Scheme).scheme('Oranges').steps(64).exponent(0.5))
    .yAxis(new YAxisConfigBuilder().unit('s').axisPlacement(AxisPlacement.Left))
}

function table({ pivot }: Kind<'table'>): Table {
  const builder = new Table().showHeader(true).filterable(true)
  if (pivot === undefined) {
    return builder.withTransformation({ id: 'organize', options: { excludeByName: { Time: true }, renameByName: { Value: 'value' } } })
  }
  return builder.withTransformation({
    id: 'groupingToMatrix',
    options: { rowField: pivot.rows, columnField: pivot.columns, valueField: 'Value', emptyValue: 'zero' },
  })
}

function timeline(): StateTimeline {
  return new StateTimeline()
    .mergeValues(true)
    .showValue(VisibilityMode.Never)
    .mappings([
      { type: MappingType.ValueToText, options: { '0': { text: 'no', color: 'transparent' }, '1': { text: 'yes', color: 'orange' } } },
    ])
}
