/** The choices above every board: data source, job, instance, tool, revision, and by what to split. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog'
import type { VariableModel } from '@grafana/grafana-foundation-sdk/dashboard'
import {
  CustomVariableBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard'

/** Whatever Prometheus the reader chose. */
export const SOURCE = { type: 'prometheus', uid: '$prometheus_datasource' }
const ALL = { selected: true, text: 'All', value: '$__all' }
const CHOSEN = 'job=~"$job", instance=~"$instance"'

export function boardVariables(): readonly Builder<VariableModel>[] {
  return [
    new DatasourceVariableBuilder('prometheus_datasource')
      .label('Prometheus data source')
      .type('prometheus')
      .current({ selected: true, text: 'default', value: 'default' }),
    labelValues('job', 'Job', 'impatient_build_info', 'job'),
    labelValues('instance', 'Instance', 'impatient_build_info{job=~"$job"}', 'instance'),
    labelValues('tool', 'Tool', `impatient_results_undelivered_total{${CHOSEN}}`, 'tool'),
    labelValues('revision', 'Revision', `impatient_work_outcomes_by_revision_total{${CHOSEN}}`, 'revision'),
    choice('split', 'Split by', ['instance', 'pod', 'namespace', 'job']),
    choice('before', 'Before', ['1h', '5m', '15m', '6h', '1d', '7d']),
  ]
}

function labelValues(name: string, label: string, series: string, of: string): QueryVariableBuilder {
  const query = `label_values(${series}, ${of})`
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(SOURCE)
    .query({ qryType: 1, query, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
    .definition(query)
    .multi(true)
    .includeAll(true)
    .allValue('.+')
    .current(ALL)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
}

function choice(name: string, label: string, values: readonly string[]): CustomVariableBuilder {
  const options = values.map((value, index) => ({ selected: index === 0, text: value, value }))
  const builder = new CustomVariableBuilder(name).label(label).values(values.join(',')).options(options)
  const [first] = options
  return first === undefined ? builder : builder.current(first)
}
