/** The benchmark's judgement: medians, ratios, order, goals and page, on figures made up. */
import { describe, expect, test } from 'vitest'
import { turned } from '../bench/actors/turns.ts'
import { asked } from '../bench/args.ts'
import { exitCodeOf, GOALS, judge } from '../bench/goals.ts'
import type { RunAbout } from '../bench/page.ts'
import { pageOf } from '../bench/page.ts'
import { aboutMsOf, FULL, planOf, QUICK, QUICK_TARGETS } from '../bench/plan.ts'
import type { Row } from '../bench/summary.ts'
import { figureOf, medianOf, pairedRatio, summarise } from '../bench/summary.ts'
import { TARGETS } from '../bench/targets.ts'

const row = (measure: string, target: string, repetition: number, figures: Row['figures']): Row => ({
  measure,
  target,
  repetition,
  figures,
})

describe('medians', () => {
  test('of odd, even and no values; what is not known does not count [bench.median]', () => {
    expect(medianOf([3, 1, 2])).toBe(2)
    expect(medianOf([4, 1, 2, 3])).toBe(2.5)
    expect(medianOf([null, 5, undefined, Number.NaN])).toBe(5)
    expect(medianOf([null])).toBeNull()
  })
  test('leave out repetitions in which others were busy, while two quiet ones remain [bench.median]', () => {
    const rows = [1, 2, 100].map((rps, at) => row('rtt', 'a', at, { rps, othersPct: rps === 100 ? 60 : 5 }))
    expect(figureOf(summarise(rows), 'rtt', 'a', 'rps')).toBe(1.5)
    expect(figureOf(summarise(rows.slice(1)), 'rtt', 'a', 'rps')).toBe(51)
  })
})

test('ratios are taken inside each repetition [bench.paired-ratio]', () => {
  const rows = [
    ...[10, 100, 1_000].map((rps, at) => row('rtt', 'base', at, { rps })),
    ...[9, 90, 900].map((rps, at) => row('rtt', 'own', at, { rps })),
    row('rtt', 'own', 7, { rps: 1 }),
  ]
  expect(pairedRatio(rows, 'rtt', 'rps', 'own', 'base')).toBeCloseTo(0.9)
  expect(pairedRatio(rows, 'rtt', 'p50Us', 'own', 'base')).toBeNull()
})

test('windows in turn are not paired with windows alone: their medians are compared [bench.paired-ratio]', () => {
  const rows = [
    ...[100, 200, 300].map((p50Us, at) => ({ ...row('events', 'http-proxy', at + 1, { p50Us }), isTogether: true })),
    ...[90, 110].map((p50Us, at) => row('events', 'nginx', at + 1, { p50Us })),
  ]
  expect(pairedRatio(rows, 'events', 'p50Us', 'nginx', 'http-proxy')).toBeCloseTo(0.5)
})

test('what is added to direct is compared inside each repetition too, where it has all three [bench.paired-ratio]', () => {
  const rows = [
    [100, 150, 140],
    [200, 310, 300], // a slow moment for all
    [100, 160, 140],
    [100, 190, null],
    [100, 190, 90], // it says nothing where the base adds nothing
  ].flatMap(([direct, own, base], at) => [
    row('events', 'direct', at, { p50Us: direct ?? null }),
    row('events', 'sidecar', at, { p50Us: own ?? null }),
    row('events', 'http-proxy', at, { p50Us: base ?? null }),
  ])
  expect(judge(rows).find(({ goal }) => goal.id === 'event-added')?.reached).toBeCloseTo(1.25)
})

describe('the plan', () => {
  const targets = [
    { name: 'direct', cutsIdle: false },
    { name: 'sidecar', cutsIdle: true },
    { name: 'http-proxy', cutsIdle: false },
  ]
  test('each repetition has every target once, in turning order, alone or standing together [bench.interleaved]', () => {
    const alone = FULL.filter(({ measure, rounds }) => measure === 'bulk' && rounds === undefined)
    expect(
      planOf({ steps: alone.slice(0, 1), targets, repetitions: 3 }).map(({ repetition, targets: of }) => `${repetition} ${of}`),
    ).toEqual([
      ...['1 direct', '1 sidecar', '1 http-proxy', '2 http-proxy', '2 sidecar', '2 direct'],
      ...['3 sidecar', '3 http-proxy', '3 direct'],
    ])
    const together = FULL.filter(({ measure, rounds }) => measure === 'events' && rounds !== undefined)
    expect(planOf({ steps: together, targets, repetitions: 2 }).map(({ repetition, targets: of }) => `${repetition} ${of}`)).toEqual([
      ...['1 direct,sidecar,http-proxy', '2 http-proxy,sidecar,direct'],
    ])
  })
  test('those that stand together take turns, and none is always the one after the same other [bench.interleaved]', () => {
    expect([0, 1, 2, 3, 4, 6].map((round) => turned(['a', 'b', 'c'], round).join(''))).toEqual(['abc', 'cba', 'bca', 'acb', 'cab', 'abc'])
    expect([0, 1, 2, 3].map((round) => turned(['a', 'b'], round).join(''))).toEqual(['ab', 'ba', 'ba', 'ab'])
    expect(turned([], 2)).toEqual([])
  })
  test('what a goal compares is measured five times at least, and none of those together is reported or scraped to [bench.interleaved]', () => {
    const together = (steps: typeof FULL) => steps.filter(({ rounds }) => rounds !== undefined)
    for (const { measure, rounds, repetitions } of together(FULL)) {
      expect([measure, (rounds ?? 0) * repetitions >= 5]).toEqual([measure, true])
    }
    for (const { measure, only, clientArgs } of together([...FULL, ...QUICK])) {
      expect([measure, only !== undefined, clientArgs.includes('--first')]).toEqual([measure, true, true])
      expect(TARGETS.filter(({ name, reportUrl, scrapeUrl }) => only?.includes(name) && (reportUrl ?? scrapeUrl) !== undefined)).toEqual([])
    }
  })
  test('growth compares a proxy with itself: it stands twice, and the client takes turns [bench.interleaved]', () => {
    const growth = FULL.filter(({ measure }) => measure === 'growth')
    expect(growth.map(({ isTwice, clientArgs }) => [isTwice, clientArgs.slice(-2)])).toEqual([[true, ['--rounds', '5']]])
  })
  test('who has no idle limit is not asked to cut [bench.idle-capable]', () => {
    const cuts = planOf({ steps: FULL, targets, repetitions: 1 }).filter(({ step }) => step.measure === 'cut')
    expect([...new Set(cuts.flatMap((one) => one.targets))]).toEqual(['sidecar'])
  })
  test('a quick run takes less than 90 s, a full one less than 15 minutes [bench.interleaved]', () => {
    const all = [
      ...['direct', 'sidecar', 'sidecar-loaded', 'sidecar-reports', 'sidecar-direct', 'sidecar-scraped'],
      ...['http-proxy', 'nginx', 'haproxy', 'toxiproxy'],
    ]
    const of = (names: readonly string[]) => names.map((name) => ({ name, cutsIdle: /sidecar$|loaded|scraped|nginx|haproxy/.test(name) }))
    expect(aboutMsOf(planOf({ steps: QUICK, targets: of(QUICK_TARGETS), repetitions: null }))).toBeLessThan(90_000)
    expect(aboutMsOf(planOf({ steps: FULL, targets: of(all), repetitions: null }))).toBeLessThan(15 * 60_000)
  })
})

describe('the gate', () => {
  /** A run in which every goal is met, all at its bound. */
  function goodRows(): Row[] {
    const both = (measure: string, own: Row['figures'], base: Row['figures']): Row[] => [
      row(measure, 'sidecar', 1, own),
      row(measure, 'http-proxy', 1, base),
    ]
    return [
      ...both('events', { cpuUsPerEvent: 11, p50Us: 110, userUsPerEvent: 1 }, { cpuUsPerEvent: 10, p50Us: 100 }),
      row('events', 'sidecar-loaded', 1, { cpuUsPerEvent: 13.75 }),
      row('events', 'direct', 1, { p50Us: 0 }),
      ...both('rtt c=64', { rps: 85, cpuUsPerRequest: 100 }, { rps: 100 }),
      row('rtt c=64', 'sidecar-loaded', 1, { cpuUsPerRequest: 125 }),
      ...both('rtt c=1', { rps: 85 }, { rps: 100 }),
      ...both('bulk', { mbPerS: 95 }, { mbPerS: 100 }),
      row('idle', 'sidecar', 1, { kbPerStream: 32, held: 9_900, wanted: 9_900 }),
      row('cut', 'sidecar', 1, { wanted: 200, cut: 200, early: 0, p50Ms: 1.5, p99Ms: 5 }),
      row('abort silent', 'sidecar', 1, { wanted: 500, seen: 500, p99Ms: 6 }),
      row('memory', 'sidecar', 1, { grownMb: 32 }),
      row('growth', 'sidecar', 1, { eventRatio: 1.3, requestRatio: 1.3 }),
      row('abort active', 'sidecar', 1, { wanted: 500, seen: 500, p99Ms: 12 }),
    ]
  }
  test('passes where all is met [bench.gate] [bench.goals]', () => {
    const judged = judge(goodRows())
    expect(judged.filter(({ verdict }) => verdict !== 'met').map(({ goal, reached }) => [goal.id, reached])).toEqual([])
    expect(judged).toHaveLength(GOALS.length)
    expect(exitCodeOf(judged)).toBe(0)
    expect(exitCodeOf(judged, ['events, sidecar: it ended'])).toBe(1)
  })
  test.each([
    ['cut-early', 'cut', 'sidecar', 'early', 1],
    ['cut-all', 'cut', 'sidecar', 'cut', 199],
    ['rps-64', 'rtt c=64', 'sidecar', 'rps', 84],
    ['event-cpu', 'events', 'sidecar', 'cpuUsPerEvent', 11.1],
    ['event-added', 'events', 'direct', 'p50Us', 20],
    ['loaded-event-cpu', 'events', 'sidecar-loaded', 'cpuUsPerEvent', 14],
    ['idle-memory', 'idle', 'sidecar', 'kbPerStream', 33],
    ['abort-silent', 'abort silent', 'sidecar', 'seen', 499],
    ['bulk', 'bulk', 'http-proxy', 'mbPerS', 101],
  ])('fails where %s is missed [bench.gate] [bench.goals]', (id, measure, target, figure, value) => {
    const rows = goodRows().map((one) =>
      one.measure === measure && one.target === target ? { ...one, figures: { ...one.figures, [figure]: value } } : one,
    )
    const judged = judge(rows)
    expect(judged.filter(({ verdict }) => verdict === 'missed').map(({ goal }) => goal.id)).toContain(id)
    expect(exitCodeOf(judged)).toBe(1)
  })
  test('fails where something was not measured [bench.gate]', () => {
    const judged = judge(goodRows().filter(({ measure }) => measure !== 'idle'))
    expect(judged.filter(({ verdict }) => verdict === 'not measured').map(({ goal }) => goal.id)).toEqual(['idle-memory', 'idle-held'])
    expect(exitCodeOf(judged)).toBe(1)
  })
})

test.each([
  [['--quick'], { values: { quick: true } }],
  [['--reps', '3', '--targets', 'sidecar,nginx'], { values: { reps: '3', targets: 'sidecar,nginx' } }],
  [['--reps', '0'], { problem: '--reps: expected a number from 1 on, got "0"' }],
])('%j is a run, or a mistake that is told [bench.options]', (args, read) => {
  expect(asked(args)).toEqual(read)
})
test('an option that is none begins no run; --help says what may be asked [bench.options]', () => {
  expect(asked(['--frob'])).toMatchObject({ problem: expect.stringContaining('--frob') })
  expect(asked(['--help'])).toMatchObject({ help: expect.stringContaining('--quick') })
})

test('the page says where its figures come from [bench.page]', () => {
  const about: RunAbout = {
    ...{ isQuick: true, command: 'npm run bench -- --quick', startedAt: '2026-11-29 12:00', tookS: 60, loadBefore: 7.5, loadAfter: 8 },
    ...{ machine: '2 × Some Processor, Node v20', isPinned: true },
    targets: { sidecar: { title: 'impatient-hop', version: '0.1.0' }, 'http-proxy': { title: 'http-proxy', version: '1.18.1' } },
  }
  const rows = [row('rtt c=1', 'sidecar', 1, { rps: 900 }), row('rtt c=1', 'http-proxy', 1, { rps: 1_000 })]
  const page = pageOf({ about, rows, failures: ['idle, nginx, repetition 1: did not come up'] })
  for (const part of [
    '**quick** run',
    'npm run bench -- --quick',
    'load average before 7.5',
    'impatient-hop 0.1.0',
    '2 × Some Processor',
  ]) {
    expect(page).toContain(part)
  }
  expect(page).toMatch(/\| impatient-hop \| 1 \| 900 \|(.*\|)? 0\.90 \|/)
  expect(page).toContain('- idle, nginx, repetition 1: did not come up')
  expect(page).toContain('**not measured**')
})
