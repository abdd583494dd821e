/**
 * What a scraper gets. prom-client's registry stays in OpenMetrics mode for good (one such scrape strips `_total` from its counters
 * and never gives it back), so the text format is made from its output.
 */
import type { Metric } from 'prom-client'
import { Registry } from 'prom-client'
import type { MetricAbout } from './about.ts'
import { PREFIX } from './about.ts'
import type { Editions, OpenRegistry } from './kit.ts'

export interface Rendered {
  readonly contentType: string
  readonly body: Buffer
}

const TEXT = 'text/plain; version=0.0.4; charset=utf-8'

/** Comes back when others have had their turn of the event loop. */
export type Turn = () => Promise<void>

export interface PageAsked {
  readonly registry: OpenRegistry
  readonly about: readonly MetricAbout[]
  readonly turn: Turn
  readonly editions: Editions
}

export interface Page {
  /**
   * OpenMetrics for those who ask for it, as Prometheus does, else the text format. Each metric is read in one moment, but not all
   * metrics in the same: as with any process that works on while it is scraped. `accept`: the scraper's header.
   */
  render(accept: string | undefined): Promise<Rendered>
}

/** So many lines take a quarter of a millisecond: a page made in one go would hold up every cut that is due meanwhile. */
const LINES_PER_TURN = 100

export function createPage(asked: PageAsked): Page {
  const pages = { openMetrics: createSections(asked, (lines) => lines), text: createSections(asked, textOf(asked.about)) }
  return {
    async render(accept) {
      if (!wantsOpenMetrics(accept ?? '')) return { contentType: TEXT, body: Buffer.concat(await pages.text()) }
      const body = Buffer.concat([...(await pages.openMetrics()), Buffer.from('# EOF\n')])
      return { contentType: Registry.OPENMETRICS_CONTENT_TYPE, body }
    },
  }
}

/** One format's page, metric by metric; one that did not change is not made anew: what it leaves behind is for the collector to stop for. */
function createSections({ registry, turn, editions }: PageAsked, format: (lines: string) => string): () => Promise<readonly Buffer[]> {
  const kept = new Map<string, { readonly edition: number; readonly pieces: readonly Buffer[] }>()
  return async () => {
    const pace = createPace(turn)
    const page: Buffer[] = []
    for (const metric of registry.getMetricsAsArray() as unknown as readonly Readable[]) {
      const edition = editions.get(metric.name)?.() ?? null
      const before = kept.get(metric.name)
      const isSame = before !== undefined && before.edition === edition
      const pieces = isSame ? before.pieces : await piecesOf(metric, pace, format)
      if (!isSame && edition !== null) kept.set(metric.name, { edition, pieces })
      page.push(...pieces)
    }
    return page
  }
}

type Pace = (lines: number) => Promise<void>

/** Others have their turn before it would be too many lines since the last. */
function createPace(turn: Turn): Pace {
  let since = 0
  return async (lines) => {
    if (since + lines > LINES_PER_TURN) {
      await turn()
      since = 0
    }
    since += lines
  }
}

async function piecesOf(metric: Readable, pace: Pace, format: (lines: string) => string): Promise<readonly Buffer[]> {
  const { values, ...head } = await (metric.getForPromString?.() ?? metric.get())
  const pieces: Buffer[] = []
  for (let at = 0; at === 0 || at < values.length; at += LINES_PER_TURN) {
    const some = values.slice(at, at + LINES_PER_TURN)
    await pace(some.length)
    const piece = format(await linesOf({ ...head, name: nameOf(head), values: some }))
    pieces.push(Buffer.from(at === 0 ? `${piece}\n` : withoutHead(piece))) // here: bytes take as long to make as lines
  }
  return pieces
}

/** What prom-client tells of a metric. */
interface Told {
  readonly name: string
  readonly type: string
  readonly values: readonly unknown[]
}

interface Readable {
  readonly name: string
  get(): Promise<Told>
  getForPromString?(): Promise<Told>
}

/** A registry of their own, for only a registry makes lines, and only of whole metrics. */
function linesOf(told: Told): Promise<string> {
  const registry: OpenRegistry = new Registry()
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  registry.registerMetric({ name: told.name, get: () => Promise.resolve(told) } as unknown as Metric)
  return registry.getSingleMetricAsString(told.name)
}

/** OpenMetrics names a counter without the ending that its lines have. */
const nameOf = ({ name, type }: Omit<Told, 'values'>): string => (type === 'counter' ? name.replace(/_total$/, '') : name)

/** Without the two lines that each metric begins with. */
const withoutHead = (piece: string): string => `${piece.slice(piece.indexOf('\n', piece.indexOf('\n') + 1) + 1)}\n`

function wantsOpenMetrics(accept: string): boolean {
  const quality = (type: string): number => {
    const range = accept.split(',').find((part) => part.trim().toLowerCase().startsWith(type))
    return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1)
  }
  const open = quality('application/openmetrics-text')
  return open > 0 && open >= quality('text/plain')
}

/** Turns one metric's OpenMetrics lines into the text format: only the heads of counters and the buckets with exemplars differ. */
function textOf(about: readonly MetricAbout[]): (metric: string) => string {
  const counters = new Set(about.filter(({ type }) => type === 'counter').map(({ name }) => PREFIX + name.replace(/_total$/, '')))
  const withExemplars = new Set(
    about.filter((metric) => metric.type === 'histogram' && metric.hasExemplars === true).map(({ name }) => PREFIX + name),
  )
  return (metric) => {
    const name = metric.slice(HELP.length, metric.indexOf(' ', HELP.length))
    if (counters.has(name))
      return metric.replace(`${HELP}${name} `, `${HELP}${name}_total `).replace(`\n# TYPE ${name} `, `\n# TYPE ${name}_total `)
    // Their labels are closed sets without `#`, so this can only be an exemplar.
    return withExemplars.has(name) ? withoutExemplars(metric) : metric
  }
}

const HELP = '# HELP '
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
