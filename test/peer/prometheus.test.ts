/** The boards and rules before the real Prometheus: every query is asked after a story whose numbers are known. */
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { parse } from 'yaml'
import { BOARDS } from '../../src/dashboards/boards.ts'
import { ANNOTATIONS, PANELS } from '../../src/sinks/metrics/index.ts'
import { boards, shownPanels } from '../support/boards.ts'
import { peerBinary, peerTest } from '../support/peers.ts'
import type { Sample } from '../support/prometheus.ts'
import type { Story } from '../support/prometheus-story.ts'
import { ruleTexts, tellStory } from '../support/prometheus-story.ts'

let told: Story | null = null
const story = (): Story => {
  if (told === null) throw new Error('the story was not told')
  return told
}
beforeAll(async () => {
  const binary = peerBinary('prometheus')
  if (binary !== null) told = await tellStory(binary)
}, 240_000)
afterAll(async () => await told?.close(), 60_000)

const finite = (samples: readonly Sample[]): readonly Sample[] => samples.filter(({ value }) => Number.isFinite(value))
/** The first query of a panel, as it stands on the boards. */
async function shown(id: string, chosen: Readonly<Record<string, string>> = {}): Promise<readonly Sample[]> {
  const query = PANELS.find((panel) => panel.id === id)?.queries[0]
  if (query === undefined) throw new Error(`no panel ${id}`)
  return await story().ask(query.expr, chosen)
}
const only = (samples: readonly Sample[]): number => {
  if (samples.length !== 1) throw new Error(`one number expected: ${JSON.stringify(samples)}`)
  return samples[0]?.value ?? Number.NaN
}
const of = (samples: readonly Sample[], labels: Readonly<Record<string, string>>): number =>
  only(samples.filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value)))

/** Prometheus extrapolates to the edges of the window, by up to a scrape of the few there are. */
const EDGE = 1.3
function expectAbout(value: number, whole: number): void {
  expect(value).toBeGreaterThan(whole * 0.999)
  expect(value).toBeLessThan(whole * EDGE)
}

peerTest('prometheus', 'every query of every panel and mark gives a finite number [boards.every-query]', async () => {
  const queries = boards().flatMap((board) =>
    shownPanels(board).flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr }))),
  )
  const empty: string[] = []
  for (const { title, expr } of [...queries, ...ANNOTATIONS]) {
    if (finite(await story().ask(expr)).length === 0) empty.push(`${title}: ${expr}`)
  }
  expect(empty).toEqual([])
  expect(queries.length).toBeGreaterThan(70)
  expect(new Set(BOARDS.map(({ uid }) => uid)).size).toBe(3)
})

describe('known numbers', () => {
  peerTest('prometheus', 'two orphan seconds show as two, the very first of a tool [boards.two-orphan-seconds]', async () => {
    const record = story().calls.find(({ tool }) => tool === 'deaf')
    expect(record?.work.outcome).toBe('orphaned')
    const counter = 'impatient_orphan_work_seconds_total{job="hop", tool="deaf", revision="2026-07-28"}'
    const [instance] = story().instances
    const seconds = of(await story().ask(counter), { instance })
    expect(seconds).toBeCloseTo((record?.work.afterCloseMs ?? 0) / 1_000, 3)
    expect(seconds).toBeGreaterThan(1.95)
    expect(seconds).toBeLessThan(4)
    expect(of(await story().ask(`min_over_time(${counter}[$__range])`), { instance })).toBe(0) // there before its first event
    expectAbout(only(await shown('orphan-in-range')), seconds)
    expect(of(await shown('orphan-by-tool'), { tool: 'deaf' })).toBeGreaterThan(0)
    expect(of(await shown('orphan-by-cause'), { cause: 'client_abort' })).toBeGreaterThan(0)
  })
  peerTest('prometheus', 'three idle cuts show as three, by their hop [boards.three-idle-cuts]', async () => {
    const [instance] = story().instances
    const cuts = await story().ask(`impatient_cuts_total{instance="${instance}"} > 0`)
    expect(cuts.map(({ labels: { hop, cause, phase, mode }, value }) => [hop, cause, phase, mode, value]).toSorted()).toEqual([
      ['fault', 'fault', 'mid_stream', 'act', 1],
      ['nginx', 'idle_timeout', 'mid_stream', 'act', 3],
    ])
    expectAbout(of(await shown('cuts-by-hop', { instance }), { hop: 'nginx', cause: 'idle_timeout' }), 3)
    expectAbout(of(await shown('cuts-by-hop'), { hop: 'nginx', cause: 'idle_timeout' }), 4) // and one of the draining sidecar
  })
  peerTest('prometheus', 'an unobserved call shows as unobserved [boards.unobserved]', async () => {
    const outcomes = await story().ask('sum by (tool, outcome) (impatient_work_outcomes_total{tool!="talker"}) > 0')
    expect(outcomes.map(({ labels: { tool, outcome }, value }) => [tool, outcome, value]).toSorted()).toEqual([
      ['deaf', 'orphaned', 1],
      ['fast', 'finished', 2],
      ['held', 'finished', 1],
      ['mute', 'unobserved', 1],
      ['obedient', 'stopped', 1],
      ['silent', 'stopped', 3],
    ])
    expectAbout(of(await shown('outcomes-by-tool'), { tool: 'mute', outcome: 'unobserved' }), 1)
    expect(only(await shown('unobserved-share'))).toBeCloseTo(1 / 11, 2) // nine calls here, one each of the other two sidecars
    expect(only(await shown('orphaned-share'))).toBeCloseTo(1 / 5, 2)
  })
  peerTest('prometheus', 'the median silence of calls cut at 60 s reads 60 ± 1 s [boards.sixty-seconds]', async () => {
    const seconds = of(await shown('silence-at-close', { job: 'sixty' }), { closed_by: 'sidecar' })
    expect(seconds).toBeGreaterThan(59)
    expect(seconds).toBeLessThan(61)
  })
  peerTest('prometheus', 'a withheld result, fired and exempt faults, a drain, a shadow cut, phases [boards.known-values]', async () => {
    expectAbout(only(await shown('undelivered-in-range')), 2) // withheld by a fault, and the drained one
    const decisions = await shown('fault-decisions-by-fault')
    expectAbout(of(decisions, { fault: 'withhold', decision: 'fired' }), 1)
    expect(only(await story().ask('impatient_fault_decisions_total{fault="spared", decision="exempt"}'))).toBe(1)
    expectAbout(only(await shown('faults-fired')), 1)
    const [, draining, shadowing] = story().instances
    const drained = await story().ask('impatient_drained_after_cut_seconds_count > 0')
    expect(drained.map(({ labels, value }) => [labels['instance'], labels['tool'], value])).toEqual([[draining, 'talker', 1]])
    const shadow = await story().ask('impatient_cuts_total{mode="shadow"} > 0')
    expect(shadow.map(({ labels, value }) => [labels['instance'], labels['hop'], value])).toEqual([[shadowing, 'nginx', 1]])
    const phases = await story().ask('max_over_time(impatient_scenario_phase_active[$__range])')
    expect(phases.map(({ labels, value }) => [labels['instance'], labels['phase'], value])).toEqual([
      [shadowing, 'calm', 1],
      [shadowing, 'storm', 1],
    ])
    expect(of(await shown('limits-in-force'), { limit: 'total', hop: 'nginx' })).toBe(30)
    expect(of(await shown('limits-in-force'), { limit: 'idle', hop: 'nginx' })).toBe(0.8)
    expect(only(await shown('sidecars'))).toBe(4)
  })
})

peerTest('prometheus', 'every rule is evaluated, and every recorded series is there [boards.every-rule]', async () => {
  const { groups } = (await story().prometheus.get('/api/v1/rules')) as {
    groups: { rules: { name: string; health: string; lastError?: string }[] }[]
  }
  const rules = groups.flatMap((group) => group.rules)
  expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
  const files = (await ruleTexts()).split(/^(?=groups:)/m).filter((text) => text.includes('groups:'))
  const written = files.flatMap((text) =>
    (parse(text) as { groups: { rules: { record?: string; alert?: string; expr: string }[] }[] }).groups.flatMap((group) => group.rules),
  )
  expect(rules.length).toBe(written.length)
  for (const { record, expr } of written) {
    const samples = await story().ask(expr) // an alert's may be empty: nothing is wrong
    if (record !== undefined) {
      expect(finite(samples).length, record).toBeGreaterThan(0)
      expect(finite(await story().ask(record)).length, record).toBeGreaterThan(0)
    }
  }
  const recorded = async (name: string, tool: string) => of(await story().ask(name), { tool })
  expect(await recorded('impatient:orphaned_calls:ratio_rate15m', 'deaf')).toBe(1)
  expect(await recorded('impatient:orphaned_calls:ratio_rate15m', 'obedient')).toBe(0)
  expect(await recorded('impatient:results_undelivered:ratio_rate15m', 'held')).toBe(1)
})

describe('scrapes', () => {
  const page = async (accept: string): Promise<{ contentType: string; body: string }> => {
    const answer = await fetch(story().metricsUrl, { headers: { accept } })
    return { contentType: answer.headers.get('content-type') ?? '', body: await answer.text() }
  }
  const OPEN = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5'
  peerTest(
    'promtool',
    'promtool finds nothing in the text, before and after OpenMetrics of one process [boards.both-formats]',
    async (promtool) => {
      for (const accept of ['text/plain', OPEN, 'text/plain', OPEN]) {
        const { contentType, body } = await page(accept)
        const isOpen = accept === OPEN
        expect(contentType).toContain(isOpen ? 'application/openmetrics-text' : 'text/plain')
        expect(body.endsWith('# EOF\n')).toBe(isOpen)
        if (!isOpen) expect(execFileSync(promtool, ['check', 'metrics'], { input: body, encoding: 'utf8' })).toBe('')
      }
    },
  )
  peerTest('prometheus', 'OpenMetrics is taken without a failed scrape, and exemplars name the calls [boards.exemplars]', async () => {
    const up = await story().prometheus.query('min_over_time(up[90s])', story().atSeconds)
    expect(up.map(({ value }) => value)).toEqual([1, 1, 1, 1])
    const found = (await story().prometheus.get('/api/v1/query_exemplars', {
      query: 'impatient_stream_duration_seconds_bucket{job="hop"}',
      start: `${story().atSeconds - 120}`,
      end: `${story().atSeconds}`,
    })) as { exemplars: { labels: { trace_id?: string } }[] }[]
    const traces = new Set(found.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id)))
    const ours = story().calls.map(({ traceId }) => traceId ?? '')
    expect(ours.filter((traceId) => traces.has(traceId)).length).toBeGreaterThan(0)
  })
  peerTest('prometheus', 'a sidecar’s page is small and comes soon [boards.scrape-cost]', async () => {
    const { body } = await page(OPEN)
    expect(body.length).toBeLessThan(500_000)
    const [acting] = story().instances
    const seconds = await story().prometheus.query(`avg_over_time(scrape_duration_seconds{instance="${acting}"}[90s])`, story().atSeconds)
    process.stdout.write(`scrape of 7 tools: ${body.length} bytes, ${Math.round(only(seconds) * 1_000)} ms on this machine\n`)
  })
})
