/** What a scrape costs: 50 tools, every cause that can be, three hops, five faults. */
import { expect, test } from 'vitest'
import { createJournal } from '../../src/journal/journal.ts'
import { createMetrics } from '../../src/sinks/metrics/index.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { call, cutAt, OPENED_AT_MS, toolCall } from '../support/ledger-rig.ts'

const TOOLS = 50
const SIZE_MAX = 500_000

test('50 tools with all causes are under 500 KB in both formats; the time is told [boards.scrape-cost]', async () => {
  const metrics = createMetrics({ toolsMax: TOOLS, version: '1.2.3', gauges: { bufferedBytes: () => 0 } })
  const limit = { ms: 60_000, hop: 'path[0]:nginx', preset: 'nginx' }
  metrics.setPath({ headers: limit, idle: limit, total: limit }, { presets: ['nginx', 'cloudflare', 'aws-alb'] })
  metrics.setFaults([1, 2, 3, 4, 5].map((n) => ({ name: `fault-${n}`, isEnabled: true, expiresWallMs: null })))
  for (let n = 0; n < TOOLS; n += 1) {
    const clock = fakeClock({ startMs: OPENED_AT_MS })
    const journal = createJournal({ clock, sinks: [metrics.sink], graceMs: 500, waitMs: 60_000, onSinkError: () => undefined })
    const { tell } = journal.openExchange()
    for (const fact of [...call('2026-07-28', toolCall(7, `tool-number-${n}`)), ...cutAt(10_000)]) {
      clock.advance(fact.atMs - clock.nowMs())
      tell(fact)
    }
  }
  for (const accept of ['application/openmetrics-text', 'text/plain']) {
    const times: number[] = []
    let body = ''
    for (let run = 0; run < 15; run += 1) {
      const beganMs = performance.now()
      body = (await metrics.render(accept)).body
      times.push(performance.now() - beganMs)
    }
    expect(new Set(body.match(/tool="[^"]*"/g)).size).toBeGreaterThanOrEqual(TOOLS)
    expect(body.length).toBeLessThan(SIZE_MAX)
    process.stdout.write(`scrape of ${TOOLS} tools, ${accept}: ${body.length} bytes, best ${Math.min(...times).toFixed(1)} ms\n`)
  }
})
