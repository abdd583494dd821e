/** Scenarios by numbers: the grammar of expectations, the figures, the form, and a runner that ends in pass-through whatever happens. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readScenarioFile, readScenarioJson } from '../../src/config/scenario-file.ts'
import type { CallRecord } from '../../src/core/record.ts'
import { faultsInForce, inForce } from '../../src/faults/control.ts'
import { createController } from '../../src/faults/controller.ts'
import { COUNT_MEASURES, judge, parseExpectation, statisticOver, TIME_MEASURES } from '../../src/scenario/expectation.ts'
import type { Measures } from '../../src/scenario/measures.ts'
import { addCall, noMeasures } from '../../src/scenario/measures.ts'
import { reportLines, verdictOf } from '../../src/scenario/report.ts'
import { createScenarioRunner } from '../../src/scenario/runner.ts'
import type { Scenario } from '../../src/scenario/schema.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { ruleOf } from '../support/fault-rig.ts'
import { hop } from '../support/line-rig.ts'

const parsed = (text: string) => {
  const read = parseExpectation(text)
  if ('problem' in read) throw new Error(read.problem)
  return read
}
const problem = (text: string): string => {
  const read = parseExpectation(text)
  return 'problem' in read ? read.problem : ''
}

test.each([
  ['orphan p95 < 2s', { measure: 'orphan', statistic: { percentile: 95 }, operator: '<', value: 2_000 }],
  [
    '  cancel-to-stop   p99.9<=250ms ',
    { measure: 'cancel-to-stop', statistic: { percentile: 99.9 }, operator: '<=', value: 250, text: 'cancel-to-stop p99.9<=250ms' },
  ],
  ['orphan > 1m30s', { statistic: 'max', operator: '>', value: 90_000 }],
  ['orphan sum >= 0s', { statistic: 'sum', value: 0 }],
  ['undelivered == 0', { measure: 'undelivered', statistic: null, operator: '=', value: 0 }],
  ['duplicates != 3', { operator: '!=', value: 3 }],
])('%s is read [faults2.expectation-grammar]', (text, wanted) => {
  expect(parsed(text)).toMatchObject(wanted)
})

test.each([
  ['orphan', /expected MEASURE \[pNN\|max\|sum\] OP VALUE/],
  ['orphan < 2', /expected a duration.*got "2": a number needs a unit, write 2s or 2ms/],
  ['orphan p0 < 2s', /expected pNN/],
  ['orphan p101 < 2s', /expected pNN/],
  ['orphan mean < 2s', /expected pNN \(p1 to p100\), max or sum after orphan, got "mean"/],
  ['orphans < 2s', /expected one of orphan, cancel-to-stop, undelivered.*got "orphans"; did you mean "?orphan/],
  ['undelivered max = 0', /undelivered is a count: leave "max" out/],
  ['undelivered = 2s', /expected a whole number/],
  ['undelivered = -1', /expected a whole number/],
  ['orphan => 2s', /expected/],
  ['', /expected MEASURE/],
])('%j is refused in one line that says what was expected [faults2.expectation-grammar]', (text, message) => {
  expect(problem(text)).toMatch(message)
  expect(problem(text)).not.toContain('\n')
})

test('no text makes the reader throw, and what it takes it takes again from its own text [faults2.expectation-grammar]', () => {
  const word = fc.constantFrom(...TIME_MEASURES, ...COUNT_MEASURES, 'p95', 'max', 'sum', '<', '>=', '=', '2s', '0', 'x', '')
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(word, { maxLength: 5 }).map((words) => words.join(' ')),
      ),
      (text) => {
        const read = parseExpectation(text)
        if (!('problem' in read)) expect(parseExpectation(read.text)).toEqual(read)
      },
    ),
  )
})

test('percentiles are samples, by the nearest rank [faults2.expectation-judged]', () => {
  const samples = [50, 10, 40, 20, 30]
  expect([20, 50, 95, 100].map((percentile) => statisticOver(samples, { percentile }))).toEqual([10, 30, 50, 50])
  expect([statisticOver(samples, 'max'), statisticOver(samples, 'sum'), statisticOver([7], { percentile: 1 })]).toEqual([50, 150, 7])
})

/** A settled call; 2,000 ms of grace are behind its figures already. */
const call = (more: Partial<CallRecord> = {}, { orphanMs = 0, isToolCall = true, isDuplicate = false } = {}) => ({
  record: {
    openedAt: '2026-11-29T10:00:00.000Z',
    method: 'tools/call',
    result: 'sent',
    violations: [],
    abandonedMs: null,
    toldMs: null,
    work: { source: 'otlp', startedMs: 1, endedMs: 10, outcome: 'finished', afterCloseMs: 0 },
    ...more,
  } as unknown as CallRecord,
  isToolCall,
  isDuplicate,
  orphanMs,
})
const work = (outcome: string, endedMs: number | null) =>
  ({ source: endedMs === null ? null : 'otlp', startedMs: 1, endedMs, outcome, afterCloseMs: null }) as CallRecord['work']
const orphaned = (ms: number) =>
  call({ abandonedMs: 1_000, toldMs: 1_010, result: 'none', work: work('orphaned', 1_000 + ms) }, { orphanMs: ms })
const stopped = (ms: number) => call({ abandonedMs: 1_000, toldMs: 1_000, result: 'none', work: work('stopped', 1_000 + ms) })
const unobserved = call({ abandonedMs: 1_000, toldMs: 1_000, result: 'none', work: work('unobserved', null) })
const of = (...calls: ReturnType<typeof call>[]): Measures => {
  const measures = noMeasures()
  for (const one of calls) addCall(measures, one)
  return measures
}
const told = (text: string, measures: Measures, unsettled = 0) => {
  const { verdict, value } = judge(parsed(text), measures, unsettled)
  return [verdict, value]
}

test('figures: orphan over abandoned calls, cancel-to-stop with those that did not stop, counts over tool calls [faults2.expectation-judged]', () => {
  const measures = of(
    call(),
    orphaned(5_000),
    orphaned(3_000),
    stopped(200),
    call({ result: 'seen' }),
    call({}, { isDuplicate: true }),
    call({ violations: ['a', 'b'] }, { isToolCall: false }),
    unobserved,
  )
  expect(measures).toMatchObject({
    calls: 7,
    undelivered: 1,
    duplicates: 1,
    unobserved: 1,
    violations: 2,
    orphan: { samples: [5_000, 3_000, 0], unknown: 1 },
    cancelToStop: { samples: [4_990, 2_990, 200], unknown: 1 },
  })
  expect([told('orphan p50 < 3s', measures), told('orphan < 6s', measures), told('orphan sum = 8s', measures)]).toEqual([
    ['broken', 3_000],
    ['held', 5_000],
    ['held', 8_000],
  ])
  expect(told('cancel-to-stop p95 < 1s', measures)).toEqual(['broken', 4_990])
  expect([told('violations = 2', measures), told('unobserved = 0', measures)]).toEqual([
    ['held', 2],
    ['broken', 1],
  ])
})

test('what nothing is known of is unknown, never held: no call, nobody who reported, calls to come [faults2.expectation-judged]', () => {
  for (const text of ['orphan < 2s', 'undelivered = 0', 'violations = 0', 'cancel-to-stop < 1s'])
    expect(told(text, noMeasures())).toEqual(['unknown', null])
  expect(told('orphan < 2s', of(unobserved))).toEqual(['unknown', null])
  expect(told('cancel-to-stop < 1s', of(unobserved))).toEqual(['unknown', null])
  expect(told('cancel-to-stop < 1s', of(call()))).toEqual(['unknown', null])
  expect(told('orphan < 2s', of(call()))).toEqual(['held', 0]) // observed, and none was abandoned
  expect([told('orphan < 2s', of(stopped(100)), 1), told('orphan < 2s', of(orphaned(9_000)), 1)]).toEqual([
    ['unknown', 0],
    ['broken', 9_000],
  ])
  const held = judge(parsed('undelivered = 0'), of(call()))
  expect([
    verdictOf([held], 'complete'),
    verdictOf([], 'complete'),
    verdictOf([held], 'shutdown'),
    verdictOf([held], 'crash'),
    verdictOf([held], 'stop-condition'),
  ]).toEqual(['passed', 'passed', 'inconclusive', 'inconclusive', 'failed'])
})

const FORM = { name: 's', phases: [{ name: 'one', for: '10s' }] }
test.each([
  [{}, /^name: expected a name, got/],
  [{ ...FORM, phases: [] }, /^phases: expected one phase or more/],
  [{ ...FORM, phases: [{ name: 'a', for: 10 }] }, /^phases\[0\]\.for: expected a duration/],
  [{ ...FORM, phases: [{ name: 'a', for: '0s' }] }, /^phases\[0\]\.for: expected a duration above 0/],
  [{ ...FORM, phases: [FORM.phases[0], FORM.phases[0]] }, /^phases\[1\]\.name: "one" is the name of another phase/],
  [{ ...FORM, phases: [{ ...FORM.phases[0], path: [{ hop: 'nginxx' }] }] }, /^phases\[0\]\.path\[0\].*nginxx/],
  [
    { ...FORM, phases: [{ ...FORM.phases[0], path: [{ hop: 'nginx', with: { idle: { after: 5 } } }] }] },
    /^phases\[0\]\.path\[0\]\.with\.idle\.after/,
  ],
  [
    { ...FORM, phases: [{ ...FORM.phases[0], faults: [{ name: 'f', for: '5s', do: { refuse: {} } }] }] },
    /^phases\[0\]\.faults\[0\]\.for: leave it out/,
  ],
  [
    { ...FORM, phases: [{ ...FORM.phases[0], faults: [{ name: 'f', do: { refus: {} } }] }] },
    /^phases\[0\]\.faults\[0\]\.do\.refus: .*did you mean "refuse"/,
  ],
  [{ ...FORM, expect: ['orphan < 2'] }, /^expect\[0\]: expected a duration/],
  [{ ...FORM, stopwhen: [] }, /^stopwhen: .*did you mean "stopWhen"/],
])('the form refuses %j [faults2.scenario-form]', (json, message) => {
  const read = readScenarioJson(json)
  if (!('problem' in read)) throw new Error('taken')
  expect(
    `${read.problem.path.map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${String(key)}`)).join('')}: ${read.problem.message}`,
  ).toMatch(message)
})

test('mistakes in a file name its line [faults2.scenario-form]', () => {
  const errorsOf = (text: string) => {
    const read = readScenarioFile('s.yaml', () => text)
    return 'errors' in read ? read.errors : []
  }
  expect(errorsOf('name: s\nphases:\n  - name: a\n    for: 10\n  - name: b\n    for: 1s\n    path:\n      - hop: x\n')).toEqual([
    expect.stringMatching(/^s\.yaml:4 phases\[0\]\.for: expected a duration/),
  ])
  expect(errorsOf('name: s\nphases:\n  - name: b\n    for: 1s\n    path:\n      - hop: nope\n')).toEqual([
    expect.stringMatching(/^s\.yaml:6 phases\[0\]\.path\[0\]\S*: .*nope/),
  ])
  expect(errorsOf('name: [')).toEqual([expect.stringMatching(/^s\.yaml:1:8 a bracket is not closed/)])
  const gone = readScenarioFile('gone.yaml', () => {
    throw Object.assign(new Error('no'), { code: 'ENOENT' })
  })
  expect(gone).toEqual({ errors: ['gone.yaml: expected a scenario, but there is no such file'] })
})

const scenarioOf = (json: object): Scenario => {
  const read = readScenarioJson({ name: 's', ...json })
  if ('problem' in read) throw new Error(read.problem.message)
  return read.scenario
}
const TWO = {
  phases: [
    { name: 'one', for: '10s', path: [{ hop: 'nginx' }], faults: [{ name: 'f', do: { refuse: {} } }], expect: ['undelivered = 0'] },
    { name: 'two', for: '5s', faults: [{ name: 'g', do: { respond: { status: 503 } } }] },
  ],
  expect: ['orphan < 2s'],
  stopWhen: ['orphan > 8s'],
  settle: '4s',
}
function running(json: object = TWO, { unsettled = (): number => 0, file = [ruleOf({ refuse: {} }, { name: 'mine' })] } = {}) {
  const clock = fakeClock()
  const changes: string[] = []
  const active: (string | null)[] = []
  const control = createController({
    clock,
    from: { rules: file, safety: {}, path: [hop('own')] },
    changed: ({ releases }) => void changes.push(releases.map((release) => ('name' in release ? release.name : release.is)).join(' ')),
  })
  const runner = createScenarioRunner({
    clock,
    control,
    waitMs: () => 60_000,
    unsettled,
    phaseChanged: (_, phase) => void active.push(phase),
  })
  const shown = () => {
    const { faults, path } = inForce(control.state())
    return `${path.map(({ preset }) => preset).join()} ${faults.map(({ rule }) => rule.name).join()}`
  }
  const settledAt = (atMs: number, one: ReturnType<typeof call>) => ({
    ...one,
    record: { ...one.record, openedAt: new Date(clock.wallMs() - clock.nowMs() + atMs).toISOString() },
  })
  expect(runner.start(scenarioOf(json))).toBe(true)
  return { clock, control, runner, changes, active, shown, settledAt }
}

test('phases come and go by the clock, each over what is in force otherwise, and it ends in pass-through [faults2.scenario-phases]', () => {
  const { clock, control, runner, changes, active, shown } = running()
  expect([shown(), runner.report()?.state]).toEqual(['nginx mine,f', 'running'])
  clock.advance(9_999)
  expect(shown()).toBe('nginx mine,f')
  clock.advance(1)
  expect([shown(), changes.at(-1)]).toEqual(['own mine,g', 'f path'])
  expect(faultsInForce(control.state()).map(({ origin }) => origin)).toEqual(['file', 'scenario'])
  clock.advance(5_000)
  expect([shown(), control.state().isStopped, changes.at(-1), runner.report()?.state, clock.armed()]).toEqual([
    ' ',
    true,
    'all',
    'ended',
    0,
  ])
  expect(active).toEqual(['one', 'two', null])
  control.resume()
  expect(shown()).toBe('own mine')
  expect(runner.report()?.phases.map(({ name, state, startedMs, endedMs }) => [name, state, startedMs, endedMs])).toEqual([
    ['one', 'over', 0, 10_000],
    ['two', 'over', 10_000, 15_000],
  ])
})

test('calls count for the phase they were opened in; the verdict waits until they have settled, or the time is up [faults2.scenario-verdict]', async () => {
  let unsettled = 1
  const { clock, runner, settledAt } = running(TWO, { unsettled: () => unsettled })
  runner.take(settledAt(1_000, call()))
  clock.advance(10_500)
  runner.take(settledAt(9_999, call({ result: 'seen' })))
  clock.advance(4_500)
  expect(runner.report()).toMatchObject({ state: 'settling', verdict: null })
  runner.take(settledAt(14_000, stopped(100)))
  runner.take(settledAt(15_200, orphaned(9_000))) // opened after the last phase: none of its business
  clock.advance(3_000)
  expect(runner.report()?.state).toBe('settling')
  unsettled = 0
  clock.advance(100)
  const report = await runner.ended()
  expect(report).toMatchObject({
    state: 'ended',
    verdict: 'failed',
    endedBy: 'complete',
    unsettled: 0,
    figures: { calls: 3, undelivered: 1, abandoned: 1 },
  })
  expect(report?.phases.map(({ figures }) => figures.calls)).toEqual([2, 1])
  expect([report?.phases[0]?.expect, report?.expect]).toMatchObject([[{ verdict: 'broken', value: 1 }], [{ verdict: 'held', value: 0 }]])
  if (report !== null)
    expect(reportLines(report).join('\n')).toMatch(
      /scenario +s: failed[\s\S]*one: 10s; 2 calls[\s\S]*FAILED +undelivered = 0: 1[\s\S]*ok +orphan < 2s[\s\S]*pass-through/,
    )
  const { settle: _, ...patient } = TWO
  const longer = running(patient, { unsettled: () => 3 })
  longer.clock.advance(15_000 + 60_000)
  expect(longer.runner.report()?.state).toBe('settling')
  longer.clock.advance(200)
  expect(longer.runner.report()).toMatchObject({ state: 'ended', unsettled: 3 })
  const late = running(TWO, { unsettled: () => 3 })
  late.runner.take(late.settledAt(1, call()))
  late.clock.advance(18_999)
  expect(late.runner.report()?.state).toBe('settling')
  late.clock.advance(1)
  expect(late.runner.report()).toMatchObject({ state: 'ended', verdict: 'inconclusive', unsettled: 3 })
})

test('no call at all is inconclusive, never passed [faults2.scenario-verdict]', () => {
  const { clock, runner } = running()
  clock.advance(60_000)
  expect(runner.report()?.verdict).toBe('inconclusive')
})

test('a stop condition ends it early, in pass-through, and fails it [faults2.scenario-early]', () => {
  const { clock, control, runner, settledAt } = running()
  clock.advance(2_000)
  runner.take(settledAt(500, orphaned(8_000)))
  clock.advance(1)
  expect(control.state().isStopped).toBe(false)
  runner.take(settledAt(600, orphaned(9_000)))
  clock.advance(0)
  expect([control.state().isStopped, control.state().scenario]).toEqual([true, null])
  expect(runner.report()).toMatchObject({ verdict: 'failed', endedBy: 'stop-condition', why: 'orphan > 8s: 9s' })
  expect(runner.report()?.phases[1]).toMatchObject({ state: 'waiting', startedMs: null })
  expect(clock.armed()).toBe(0)
})

test.each(['operator', 'shutdown'] as const)(
  'ended by %s: pass-through at once, inconclusive; another may start then [faults2.scenario-early]',
  (by) => {
    let unsettled = 2
    const { clock, control, runner, settledAt } = running(TWO, { unsettled: () => unsettled })
    runner.take(settledAt(0, call()))
    expect(runner.start(scenarioOf(TWO))).toBe(false)
    runner.end(by)
    expect(control.state().isStopped).toBe(true)
    expect(runner.report()?.state).toBe(by === 'shutdown' ? 'ended' : 'settling')
    unsettled = 0
    clock.advance(100)
    expect(runner.report()).toMatchObject({ state: 'ended', verdict: 'inconclusive', endedBy: by })
    runner.end('operator') // nothing there to end
    control.resume()
    expect(runner.start(scenarioOf(TWO))).toBe(true)
  },
)

test('a crash of its own reading ends in pass-through, wherever it happens [faults2.scenario-crash]', () => {
  const broken = (): never => {
    throw new Error('cannot read')
  }
  const byRecord = running()
  byRecord.runner.take({ ...call(), record: null as unknown as CallRecord })
  const bySettling = running(TWO, { unsettled: broken })
  bySettling.clock.advance(15_000)
  for (const { control, runner, clock } of [byRecord, bySettling]) {
    expect([control.state().isStopped, control.state().scenario, clock.armed()]).toEqual([true, null, 0])
    expect(runner.report()).toMatchObject({ state: 'ended', verdict: 'inconclusive', endedBy: 'crash' })
    runner.take(call())
  }
})

test('its faults belong to it: PATCH is refused, DELETE takes away at once, and a reload or a fault of the API leaves it alone [faults2.scenario-phases]', () => {
  const { control, shown } = running()
  expect(control.patch('f', { enabled: false })).toMatchObject({ status: 409, key: 'name' })
  expect(control.add({ name: 'f', do: { respond: { status: 500 } } })).toBeNull()
  expect(faultsInForce(control.state()).find(({ rule }) => rule.name === 'f')?.rule.do).toEqual({ refuse: {} })
  control.reload({ rules: [], safety: {}, path: [hop('other')] })
  expect(shown()).toBe('nginx f')
  expect(control.remove('f')).toBeNull()
  expect(shown()).toBe('nginx ')
})

test('the example is valid, and plays to its end [faults2.scenario-example]', () => {
  const name = join(import.meta.dirname, '../../config/scenario.example.yaml')
  const read = readScenarioFile(name, (path) => readFileSync(path, 'utf8'))
  if ('errors' in read) throw new Error(read.errors.join('\n'))
  expect(read.scenario.phases.map(({ name: phase, forMs }) => [phase, forMs])).toEqual([
    ['calm', 30_000],
    ['production', 120_000],
    ['cut streams', 60_000],
  ])
  const clock = fakeClock()
  const control = createController({ clock, from: { rules: [], safety: {}, path: [] }, changed: () => undefined })
  const runner = createScenarioRunner({ clock, control, waitMs: () => 60_000, unsettled: () => 0, phaseChanged: () => undefined })
  runner.start(read.scenario)
  const openedAt = () => ({ openedAt: new Date(clock.wallMs()).toISOString() })
  runner.take({ ...call(openedAt()) })
  clock.advance(150_000)
  expect(inForce(control.state())).toMatchObject({ path: [{ preset: 'nginx' }], faults: [{ rule: { name: 'cut-search' } }] })
  runner.take({ ...stopped(300), record: { ...stopped(300).record, ...openedAt() } })
  clock.advance(60_000)
  expect(runner.report()).toMatchObject({ verdict: 'passed', endedBy: 'complete' })
})
