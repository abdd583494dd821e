/** What a scrape costs: 50 tools, every cause that can be, three hops, five faults. */
import { expect, test } from 'vitest'
import { createJournal } from '../../src/journal/journal.ts'
import type { Metrics } from '../../src/sinks/metrics/index.ts'
import { createMetrics } from '../../src/sinks/metrics/index.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { call, cutAt, OPENED_AT_MS, toolCall } from '../support/ledger-rig.ts'
import { pageOf } from '../support/metrics-page.ts'

const TOOLS = 50
const SIZE_MAX = 500_000
const LINES_PER_TURN_MAX = 100
const FORMATS = ['application/openmetrics-text', 'text/plain']

function metricsOfPath(turn?: () => Promise<void>) {
  const metrics = createMetrics({ toolsMax: TOOLS, version: '1.2.3', gauges: { bufferedBytes: () => 0 }, ...(turn && { turn }) })
  const limit = { ms: 60_000, hop: 'path[0]:nginx', preset: 'nginx' }
  metrics.setPath({ headers: limit, idle: limit, total: limit }, { presets: ['nginx', 'cloudflare', 'aws-alb'] })
  metrics.setFaults([1, 2, 3, 4, 5].map((n) => ({ name: `fault-${n}`, isEnabled: true, expiresWallMs: null })))
  return metrics
}

function cutCallsOf(metrics: Metrics, { from, to }: { readonly from: number; readonly to: number }): void {
  for (let n = from; n < to; n += 1) {
    const clock = fakeClock({ startMs: OPENED_AT_MS })
    const journal = createJournal({ clock, sinks: [metrics.sink], graceMs: 500, waitMs: 60_000, onSinkError: () => undefined })
    const { tell } = journal.openExchange()
    for (const fact of [...call('2026-07-28', toolCall(7, `tool-number-${n}`)), ...cutAt(10_000 + n)]) {
      clock.advance(fact.atMs - clock.nowMs())
      tell(fact)
    }
  }
}

function metricsOfManyTools(turn?: () => Promise<void>) {
  const metrics = metricsOfPath(turn)
  cutCallsOf(metrics, { from: 0, to: TOOLS })
  return metrics
}

test('50 tools with all causes are under 500 KB in both formats; the time is told [boards.scrape-cost]', async () => {
  const metrics = metricsOfManyTools()
  for (const accept of FORMATS) {
    const times: number[] = []
    let body = ''
    for (let run = 0; run < 15; run += 1) {
      const beganMs = performance.now()
      body = (await pageOf(metrics, accept)).body
      times.push(performance.now() - beganMs)
    }
    expect(new Set(body.match(/tool="[^"]*"/g)).size).toBeGreaterThanOrEqual(TOOLS)
    expect(body.length).toBeLessThan(SIZE_MAX)
    process.stdout.write(`scrape of ${TOOLS} tools, ${accept}: ${body.length} bytes, best ${Math.min(...times).toFixed(1)} ms\n`)
  }
})

/** All but what tells of the process and the moment. */
const linesOf = (page: string): readonly string[] =>
  page
    .split('\n')
    .filter((line) => !/process_|nodejs_|seconds_since|eventloop/.test(line))
    .map((line) => line.replace(/( # \{.*\} \S+) \S+$/, '$1'))
    .map((line) => line.replace(/(_sum\{.*\}) (\S+)$/, (_, name, sum) => `${name} ${Number(sum).toFixed(6)}`)) // added in another order

test.each(FORMATS)('a page is made in turns, and is the same as one made in one go: %s [boards.scrape-turns]', async (accept) => {
  let turns = 0
  const inTurns = metricsOfManyTools(() => {
    turns += 1
    return new Promise((resolve) => setImmediate(resolve))
  })
  const [first, second] = await Promise.all([pageOf(inTurns, accept), pageOf(inTurns, accept)]) // two scrapers at once
  const page = linesOf(first.body)
  const samples = first.body.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
  expect(turns).toBeGreaterThanOrEqual(2 * (samples / LINES_PER_TURN_MAX - 1))
  expect(linesOf(second.body)).toEqual(page)
  expect(linesOf((await pageOf(metricsOfManyTools(), accept)).body)).toEqual(page)
  const heads = page.filter((line) => line.startsWith('# TYPE '))
  expect(new Set(heads).size).toBe(heads.length)
})

/** Each scrape asks for new ones. */
const withoutExemplars = (page: string): readonly string[] => linesOf(page).map((line) => line.replace(/ # \{.*/, ''))

test.each(FORMATS)('what did not change is not made anew, what did is: %s [boards.scrape-turns]', async (accept) => {
  let turns = 0
  const scraped = metricsOfPath(async () => {
    turns += 1
  })
  for (const [from, to] of [
    [0, 20],
    [20, 21],
    [10, 12], // known tools once more
    [21, TOOLS + 5], // some of them without a label of their own
  ] as const) {
    cutCallsOf(scraped, { from, to })
    await pageOf(scraped, accept)
  }
  turns = 0
  const last = withoutExemplars((await pageOf(scraped, accept)).body)
  expect(turns).toBe(0)
  const fresh = metricsOfPath()
  for (const [from, to] of [
    [0, 21],
    [10, 12],
    [21, TOOLS + 5],
  ] as const) {
    cutCallsOf(fresh, { from, to })
  }
  expect(last).toEqual(withoutExemplars((await pageOf(fresh, accept)).body))
})
