/** The few queries that panels ask, each with the boards' own choice of job, instance, tool and revision. */
import type { CounterAbout, GaugeAbout, HistogramAbout, MetricAbout } from './about.ts'
import { PREFIX } from './about.ts'
import type { PanelQuery } from './panel.ts'

export interface Asked {
  /** Labels that stay apart; without any, one series. */
  readonly by?: readonly string[]
  /** Besides the board's choice. */
  readonly where?: Readonly<Record<string, string>>
  /** So long ago, as PromQL has it: `$before`. */
  readonly offset?: string
}

/** Apart by what the board's reader chose: instances, pods, namespaces. */
export const BY_SPLIT: readonly string[] = ['$split']

/** How many series a panel of one line per tool or per instance draws at most. */
const TOP = 10

function selector({ name, labels }: MetricAbout, where: Asked['where'] = {}, suffix = ''): string {
  const chosen = ['job', 'instance', ...['tool', 'revision'].filter((label) => labels.includes(label) && !(label in where))]
  const matchers = [...chosen.map((label) => `${label}=~"$${label}"`), ...Object.entries(where).map(([label, is]) => `${label}="${is}"`)]
  return `${PREFIX}${name}${suffix}{${matchers.join(', ')}}`
}

const aggregate = (how: string, by: readonly string[], expr: string): string =>
  by.length === 0 ? `${how}(${expr})` : `${how} by (${by.join(', ')}) (${expr})`

function counted(how: 'rate' | 'increase', window: string, selected: string, { by = [], offset }: Asked): string {
  return aggregate('sum', by, `${how}(${selected}[${window}]${offset === undefined ? '' : ` offset ${offset}`})`)
}

/** Per second; of a counter of seconds: how many were busy at a time. */
export const perSecond = (about: CounterAbout, asked: Asked = {}): string =>
  counted('rate', '$__rate_interval', selector(about, asked.where), asked)

/** In all of the time shown. */
export const inRange = (about: CounterAbout, asked: Asked = {}): string =>
  counted('increase', '$__range', selector(about, asked.where), asked)

/** How many observations a second. */
export const observedPerSecond = (about: HistogramAbout, asked: Asked = {}): string =>
  counted('rate', '$__rate_interval', selector(about, asked.where, '_count'), asked)

/** The value that this share of the observations stays under. */
export const quantile = (share: number, about: HistogramAbout, { by = [], ...asked }: Asked = {}): string =>
  `histogram_quantile(${share}, ${counted('rate', '$__rate_interval', selector(about, asked.where, '_bucket'), { ...asked, by: ['le', ...by] })})`

/** Half of the observations, and nearly all: two lines with their exemplars. */
export function medianAndTail(about: HistogramAbout, asked: Asked = {}): readonly PanelQuery[] {
  const names = (asked.by ?? []).map((label) => `{{${label}}}`)
  const exemplars = about.hasExemplars === true ? ({ hasExemplars: true } as const) : {}
  return [
    { expr: quantile(0.5, about, asked), legend: [...names, 'median'].join(' '), ...exemplars },
    { expr: quantile(0.95, about, asked), legend: [...names, '95 %'].join(' ') },
  ]
}

/** Observations by bucket. */
export const heat = (about: HistogramAbout, asked: Asked = {}): string =>
  counted('increase', '$__rate_interval', selector(about, asked.where, '_bucket'), { ...asked, by: ['le'] })

/** A gauge now. */
export const now = (about: GaugeAbout, how: 'sum' | 'min' | 'max' | 'avg' | 'count' = 'sum', { by = [], where }: Asked = {}): string =>
  aggregate(how, by, selector(about, where))

/** A gauge's changes, as marks in time. */
export const changesOf = (about: GaugeAbout): string => `sum(changes(${selector(about)}[$__rate_interval]))`

/** The highest few, so that two hundred instances or fifty tools stay readable. */
export const top = (expr: string): string => `topk(${TOP}, ${expr})`

/** Nothing where there is nothing to share. */
export const share = (part: string, whole: string): string => `${part} / (${whole} > 0)`

/** Rows of those values of a label that have most in all. */
export const topBy = (label: string, about: CounterAbout, asked: Asked & { readonly by: readonly string[] }): string =>
  `${inRange(about, asked)} and on (${label}) ${top(inRange(about, { ...asked, by: [label] }))}`
