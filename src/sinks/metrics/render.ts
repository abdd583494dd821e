/**
 * What a scraper gets. prom-client's registry stays in OpenMetrics mode for good (one such scrape strips `_total` from its counters
 * and never gives it back), so the text format is made from its output.
 */
import { Registry } from 'prom-client'
import type { MetricAbout } from './about.ts'
import { PREFIX } from './about.ts'
import type { OpenRegistry } from './kit.ts'

export interface Rendered {
  readonly contentType: string
  readonly body: string
}

const TEXT = 'text/plain; version=0.0.4; charset=utf-8'

/** OpenMetrics for those who ask for it, as Prometheus does, else the text format. */
export async function render(registry: OpenRegistry, about: readonly MetricAbout[], accept: string | undefined): Promise<Rendered> {
  const openMetrics = await registry.metrics()
  if (wantsOpenMetrics(accept ?? '')) return { contentType: Registry.OPENMETRICS_CONTENT_TYPE, body: openMetrics }
  return { contentType: TEXT, body: toText(openMetrics, about) }
}

function wantsOpenMetrics(accept: string): boolean {
  const quality = (type: string): number => {
    const range = accept.split(',').find((part) => part.trim().toLowerCase().startsWith(type))
    return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1)
  }
  const open = quality('application/openmetrics-text')
  return open > 0 && open >= quality('text/plain')
}

const HELP = '# HELP '

/** Metric by metric: only the heads of counters and the buckets with exemplars differ. */
function toText(openMetrics: string, about: readonly MetricAbout[]): string {
  const counters = new Set(about.filter(({ type }) => type === 'counter').map(({ name }) => PREFIX + name.replace(/_total$/, '')))
  const withExemplars = new Set(
    about.filter((metric) => metric.type === 'histogram' && metric.hasExemplars === true).map(({ name }) => PREFIX + name),
  )
  const metrics = openMetrics
    .replace(/# EOF\n$/, '')
    .slice(HELP.length)
    .split(`\n${HELP}`)
  const texts = metrics.map((metric) => {
    const name = metric.slice(0, metric.indexOf(' '))
    if (counters.has(name)) return `${name}_total${metric.slice(name.length).replace(`\n# TYPE ${name} `, `\n# TYPE ${name}_total `)}`
    // Their labels are closed sets without `#`, so this can only be an exemplar.
    return withExemplars.has(name) ? withoutExemplars(metric) : metric
  })
  return texts.map((text) => HELP + text).join('\n')
}

const EXEMPLAR = ' # {'

/** By hand, for a scrape holds up the timers: a pattern over half a megabyte takes several times as long. */
function withoutExemplars(metric: string): string {
  let kept = ''
  let from = 0
  for (let at = metric.indexOf(EXEMPLAR); at !== -1; at = metric.indexOf(EXEMPLAR, from)) {
    kept += metric.slice(from, at)
    const lineEnd = metric.indexOf('\n', at)
    from = lineEnd === -1 ? metric.length : lineEnd
  }
  return kept + metric.slice(from)
}
