/** The metrics: names and shapes, series before their first event, known values for known calls, both formats. */
import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import type { Fact } from '../../src/core/fact.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createJournal } from '../../src/journal/journal.ts'
import { createMetrics, METRICS, type Metrics } from '../../src/sinks/metrics/index.ts'
import { possibleCloses } from '../../src/sinks/metrics/words.ts'
import { fakeClock } from '../support/fake-clock.ts'
import {
  answered,
  asked,
  at,
  call,
  clientAbort,
  closed,
  cutAt,
  done,
  event,
  faultCut,
  finished,
  heads,
  idleCut,
  JSON_HEAD,
  json,
  moved,
  OPENED_AT_MS,
  opened,
  passed,
  progressEvent,
  report,
  resultEvent,
  serverOver,
  TRACE_ID,
  toolCall,
  understood,
} from '../support/ledger-rig.ts'
import { pageOf } from '../support/metrics-page.ts'

const NGINX = {
  headers: { ms: 60_000, hop: 'path[0]:nginx', preset: 'nginx' },
  idle: { ms: 60_000, hop: 'path[0]:nginx', preset: 'nginx' },
  total: null,
}
const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0,text/plain;q=0.5'

interface MetricsRig {
  readonly metrics: Metrics
  readonly journal: Journal
  /** Opens an exchange and tells it these facts. */
  run(...facts: Fact[]): string
  tellTo(id: string, ...facts: Fact[]): void
  until(ms: number): void
  /** Sample → value: `bytes_total{direction="seen"}`. */
  scrape(): Promise<Map<string, number>>
}

function metricsRig({ toolsMax = 50 } = {}): MetricsRig {
  const clock = fakeClock({ startMs: OPENED_AT_MS })
  const metrics = createMetrics({ toolsMax, version: '1.2.3', gauges: { bufferedBytes: () => 4_096 } })
  const failures: unknown[] = []
  const journal = createJournal({
    clock,
    sinks: [metrics.sink],
    graceMs: 500,
    waitMs: 60_000,
    onSinkError: (_, error) => failures.push(error),
  })
  const tells = new Map<string, (fact: Fact) => void>()
  const until = (ms: number): void => clock.advance(Math.max(0, at(ms) - clock.nowMs()))
  const tellTo = (id: string, ...facts: Fact[]): void => {
    for (const fact of facts) {
      until(fact.atMs - OPENED_AT_MS)
      tells.get(id)?.(fact)
    }
  }
  return {
    ...{ metrics, journal, until, tellTo },
    run(...facts) {
      const { id, tell } = journal.openExchange()
      tells.set(id, tell)
      tellTo(id, ...facts)
      return id
    },
    async scrape() {
      expect(failures).toEqual([])
      const { body } = await pageOf(metrics)
      const samples = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
      return new Map(
        samples.map((line) => [line.slice('impatient_'.length, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
      )
    },
  }
}

/** Only the samples of that metric that are not 0. */
const counted = (samples: Map<string, number>, name: string): Record<string, number> =>
  Object.fromEntries([...samples].filter(([sample, value]) => value !== 0 && (sample === name || sample.startsWith(`${name}{`))))

describe('the page', () => {
  test('has the contract’s names, types and labels [metrics.contract-names]', () => {
    const shapes = METRICS.map(({ name, type, labels }) => `${name} ${type} ${labels.join(',')}`).toSorted()
    expect(shapes).toEqual(
      [
        ...[
          'build_info gauge version,node_version',
          'upstream_up gauge ',
          'otlp_receiver_up gauge ',
          'config_last_reload_successful gauge ',
        ],
        ...[
          'config_last_reload_success_timestamp_seconds gauge ',
          'path_effective_limit_seconds gauge limit,hop',
          'chaos_active gauge source',
        ],
        ...[
          'fault_enabled gauge fault',
          'fault_expires_timestamp_seconds gauge fault',
          'scenario_phase_active gauge scenario,phase',
          'exchanges_opened_total counter kind',
          'exchanges_open gauge kind',
        ],
        ...[
          'exchanges_closed_total counter kind,answer,cause,ending',
          'calls_closed_total counter tool,cause',
          'calls_abandoned_total counter tool,by',
        ],
        ...[
          'cuts_total counter hop,cause,phase,mode',
          'responses_total counter code_class,origin',
          'time_to_headers_seconds histogram kind',
        ],
        ...[
          'time_to_first_event_seconds histogram kind',
          'stream_duration_seconds histogram kind',
          'stream_longest_silence_seconds histogram kind',
        ],
        ...[
          'silence_at_close_seconds histogram closed_by',
          'work_duration_seconds histogram tool',
          'work_after_close_seconds histogram tool',
        ],
        ...[
          'work_before_close_seconds histogram tool',
          'work_after_close_by_cause_seconds histogram cause',
          'orphan_work_seconds_total counter tool,revision',
        ],
        ...['orphan_work_seconds_by_cause_total counter cause', 'work_outcomes_total counter tool,outcome,cause_class'],
        ...[
          'work_outcomes_by_revision_total counter outcome,revision',
          'work_in_flight gauge source',
          'orphan_work_in_flight gauge source',
        ],
        ...['work_reports_pending gauge ', 'cancel_to_stop_seconds histogram trigger', 'drained_after_cut_seconds histogram tool'],
        ...['work_reports_total counter source,result', 'results_undelivered_total counter tool', 'tool_results_total counter tool,result'],
        ...[
          'faults_injected_total counter fault',
          'fault_decisions_total counter fault,decision',
          'buffered_bytes gauge ',
          'buffer_hold_seconds histogram ',
        ],
        ...['progress_notifications_total counter disposition', 'bytes_total counter direction', 'label_overflow_total counter label'],
        ...['events_dropped_total counter ', 'protocol_violations_total counter rule,revision'],
        ...['protocol_notices_total counter rule,revision', 'retries_total counter kind', 'duplicate_work_total counter tool'],
      ].toSorted(),
    )
  })
  test('passes promtool, before and after OpenMetrics scrapes [metrics.promtool]', async () => {
    const rig = metricsRig()
    rig.metrics.setPath(NGINX)
    rig.run(...call(), ...passed(9, resultEvent()), ...done(10))
    const before = await pageOf(rig.metrics, 'text/plain')
    await pageOf(rig.metrics, OPEN_METRICS)
    const after = await pageOf(rig.metrics, 'text/plain')
    expect(after).toEqual(before)
    expect(after.contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(execFileSync('promtool', ['check', 'metrics'], { input: after.body, encoding: 'utf8' })).toBe('')
    expect(after.body).toContain('# TYPE impatient_bytes_total counter\n')
    expect(after.body).not.toMatch(/ # \{|# EOF|_total_total/)
  })
  test('speaks OpenMetrics to who asks, with trace ids as exemplars', async () => {
    const rig = metricsRig()
    rig.run(...call(), ...passed(9, resultEvent()), ...done(10))
    const { contentType, body } = await pageOf(rig.metrics, OPEN_METRICS)
    expect(contentType).toContain('application/openmetrics-text')
    expect(body).toContain('# TYPE impatient_bytes counter\nimpatient_bytes_total{direction="request"} 0\n')
    expect(body).toContain(`impatient_stream_duration_seconds_bucket{le="0.01",kind="call"} 1 # {trace_id="${TRACE_ID}"} 0.01 `)
    expect(body.endsWith('# EOF\n')).toBe(true)
    for (const accept of [undefined, '', '*/*', 'text/plain', 'application/openmetrics-text;q=0.1,text/plain;q=0.9']) {
      expect((await pageOf(rig.metrics, accept)).contentType).toContain('text/plain')
    }
  })
  test('stays under 500 KB with 50 tools, and renders in a moment [metrics.page-size]', async () => {
    const rig = metricsRig()
    rig.metrics.setPath(NGINX)
    for (let n = 0; n < 60; n += 1) rig.run(...call('2026-07-28', toolCall(7, `a_tool_of_number_${n}`)), ...cutAt(10_000))
    const { body } = await pageOf(rig.metrics)
    expect(body.length).toBeLessThan(500_000)
    expect(new Set(body.match(/tool="[^"]*"/g)).size).toBe(51)
    const began = process.hrtime.bigint()
    await pageOf(rig.metrics)
    expect(Number(process.hrtime.bigint() - began) / 1e6).toBeLessThan(1_000) // measured: 9 to 17 ms; wide, for a busy machine
  })
})

describe('series are there before their first event', () => {
  test('those without a tool from the start, with 0 [metrics.born-early]', async () => {
    const samples = await metricsRig().scrape()
    for (const sample of [
      ...['exchanges_opened_total{kind="call"}', 'exchanges_closed_total{kind="call",answer="sse",cause="client_abort",ending="fin"}'],
      ...['cuts_total{hop="fault",cause="fault",phase="mid_stream",mode="act"}', 'responses_total{code_class="5xx",origin="sidecar"}'],
      ...[
        'stream_duration_seconds_count{kind="call"}',
        'silence_at_close_seconds_count{closed_by="client"}',
        'bytes_total{direction="sent"}',
      ],
      ...[
        'work_outcomes_by_revision_total{outcome="orphaned",revision="2026-07-28"}',
        'work_reports_total{source="otlp",result="refused"}',
      ],
      ...[
        'cancel_to_stop_seconds_count{trigger="notification"}',
        'progress_notifications_total{disposition="lost"}',
        'work_in_flight{source="probe"}',
      ],
      ...['orphan_work_seconds_by_cause_total{cause="client_abort"}', 'work_after_close_by_cause_seconds_count{cause="shutdown"}'],
      ...['label_overflow_total{label="tool"}', 'events_dropped_total', 'buffer_hold_seconds_count', 'work_reports_pending'],
    ]) {
      expect(samples.get(sample), sample).toBe(0)
    }
  })
  test('those of a tool when it is first named; those of a hop when it is in the path', async () => {
    const rig = metricsRig()
    const cut = 'calls_closed_total{tool="render",cause="idle_timeout"}'
    rig.run(
      opened(),
      understood(1, '{"id":1,"method":"tools/list"}'),
      ...heads(4, JSON_HEAD),
      json(5, '{"id":1,"result":{"tools":[{"name":"render"}]}}'),
      ...done(6),
    )
    const samples = await rig.scrape()
    expect(samples.get('calls_closed_total{tool="render",cause="client_abort"}')).toBe(0)
    expect(samples.get('work_after_close_seconds_count{tool="render"}')).toBe(0)
    expect(samples.get('work_outcomes_total{tool="render",outcome="orphaned",cause_class="client"}')).toBe(0)
    expect(samples.has(cut)).toBe(false)
    rig.metrics.setPath(NGINX)
    const later = await rig.scrape()
    expect(later.get(cut)).toBe(0)
    expect(later.get('work_outcomes_total{tool="render",outcome="orphaned",cause_class="hop"}')).toBe(0)
    expect(later.get('cuts_total{hop="nginx",cause="idle_timeout",phase="before_headers",mode="act"}')).toBe(0)
    expect(later.has('work_outcomes_total{tool="render",outcome="orphaned",cause_class="fault"}')).toBe(false)
  })
  test('only combinations that can occur', () => {
    const closes = possibleCloses(['complete', 'client_abort', 'client_reset', 'unreachable', 'idle_timeout', 'fault'])
    expect(closes.some(({ cause, ending }) => cause === 'complete' && ending !== 'clean')).toBe(false)
    expect(closes.some(({ cause, ending }) => cause === 'client_abort' && ending !== 'fin')).toBe(false)
    expect(closes.some(({ cause, answer }) => cause === 'unreachable' && answer === 'sse')).toBe(false)
    expect(closes.some(({ kind, cause }) => kind === 'notification' && cause === 'idle_timeout')).toBe(false)
  })
})

describe('known values for known calls', () => {
  test('cut at 3 s with 5 s of work: 2 s of orphan work, under its tool, revision and cause [metrics.known-values]', async () => {
    const rig = metricsRig()
    rig.metrics.setPath(NGINX)
    const id = rig.run(...call(), ...passed(5, progressEvent()), ...cutAt(3_000))
    expect((await rig.scrape()).get('work_reports_pending')).toBe(1)
    rig.until(5_100)
    rig.journal.reportWork(id, report('start', 0))
    rig.journal.reportWork(id, report('end', 5_000))
    rig.until(8_000)
    const samples = await rig.scrape()
    expect(counted(samples, 'orphan_work_seconds_total')).toEqual({ 'orphan_work_seconds_total{tool="render",revision="2026-07-28"}': 2 })
    expect(counted(samples, 'orphan_work_seconds_by_cause_total')).toEqual({
      'orphan_work_seconds_by_cause_total{cause="idle_timeout"}': 2,
    })
    expect(counted(samples, 'work_after_close_seconds_sum')).toEqual({ 'work_after_close_seconds_sum{tool="render"}': 2 })
    expect(counted(samples, 'work_after_close_by_cause_seconds_sum')).toEqual({
      'work_after_close_by_cause_seconds_sum{cause="idle_timeout"}': 2,
    })
    expect(counted(samples, 'work_duration_seconds_sum')).toEqual({ 'work_duration_seconds_sum{tool="render"}': 5 })
    expect(counted(samples, 'work_before_close_seconds_count')).toEqual({})
    expect(counted(samples, 'work_outcomes_total')).toEqual({
      'work_outcomes_total{tool="render",outcome="orphaned",cause_class="hop"}': 1,
    })
    expect(counted(samples, 'work_outcomes_by_revision_total')).toEqual({
      'work_outcomes_by_revision_total{outcome="orphaned",revision="2026-07-28"}': 1,
    })
    expect(counted(samples, 'calls_closed_total')).toEqual({ 'calls_closed_total{tool="render",cause="idle_timeout"}': 1 })
    expect(counted(samples, 'calls_abandoned_total')).toEqual({ 'calls_abandoned_total{tool="render",by="close"}': 1 })
    expect(counted(samples, 'cuts_total')).toEqual({ 'cuts_total{hop="nginx",cause="idle_timeout",phase="mid_stream",mode="act"}': 1 })
    expect(counted(samples, 'exchanges_closed_total')).toEqual({
      'exchanges_closed_total{kind="call",answer="sse",cause="idle_timeout",ending="fin"}': 1,
    })
    expect(counted(samples, 'silence_at_close_seconds_sum')).toEqual({ 'silence_at_close_seconds_sum{closed_by="sidecar"}': 2.995 })
    expect(counted(samples, 'protocol_violations_total')).toEqual({
      'protocol_violations_total{rule="work-after-cancel",revision="2026-07-28"}': 1,
    })
    expect(counted(samples, 'tool_results_total')).toEqual({ 'tool_results_total{tool="render",result="none"}': 1 })
    expect(samples.get('work_reports_pending')).toBe(0)
  })
  test('work done at 1 s, stream closed at 3 s: 2 s before', async () => {
    const rig = metricsRig()
    const id = rig.run(...call())
    rig.until(1_050)
    rig.journal.reportWork(id, report('end', 1_000))
    rig.tellTo(id, ...cutAt(3_000, clientAbort))
    rig.until(6_000)
    const samples = await rig.scrape()
    expect(counted(samples, 'work_before_close_seconds_sum')).toEqual({ 'work_before_close_seconds_sum{tool="render"}': 2 })
    expect(counted(samples, 'work_after_close_seconds_count')).toEqual({})
    expect(counted(samples, 'orphan_work_seconds_total')).toEqual({})
    expect(counted(samples, 'work_duration_seconds_count')).toEqual({}) // its start is unknown
  })
  test('stopped 40 ms after the close: cancel to stop', async () => {
    const rig = metricsRig()
    const id = rig.run(...call(), ...cutAt(3_000, clientAbort))
    rig.until(3_100)
    rig.journal.reportWork(id, report('end', 3_040))
    rig.until(6_000)
    const samples = await rig.scrape()
    expect(counted(samples, 'cancel_to_stop_seconds_sum')).toEqual({ 'cancel_to_stop_seconds_sum{trigger="close"}': 0.04 })
    expect(counted(samples, 'work_outcomes_total')).toEqual({
      'work_outcomes_total{tool="render",outcome="stopped",cause_class="client"}': 1,
    })
  })
  test('unobserved is an outcome and nothing else', async () => {
    const rig = metricsRig()
    rig.run(...call('2025-11-25'), ...cutAt(3_000, clientAbort))
    rig.until(63_000)
    const samples = await rig.scrape()
    expect(counted(samples, 'work_outcomes_by_revision_total')).toEqual({
      'work_outcomes_by_revision_total{outcome="unobserved",revision="2025-11-25"}': 1,
    })
    for (const name of [
      'work_after_close_seconds_count',
      'work_before_close_seconds_count',
      'work_duration_seconds_count',
      'orphan_work_seconds_total',
    ]) {
      expect(counted(samples, name)).toEqual({})
    }
  })
  test('an orphan is in flight from the close to its end', async () => {
    const rig = metricsRig()
    const flying = async (): Promise<(number | undefined)[]> => {
      const samples = await rig.scrape()
      return [samples.get('work_in_flight{source="probe"}'), samples.get('orphan_work_in_flight{source="probe"}')]
    }
    const id = rig.run(...call())
    rig.journal.reportWork(id, report('start', 4, null, 'probe'))
    expect(await flying()).toEqual([1, 0])
    rig.tellTo(id, ...cutAt(3_000))
    expect(await flying()).toEqual([1, 1])
    rig.until(5_000)
    rig.journal.reportWork(id, report('end', 5_000, null, 'probe'))
    expect(await flying()).toEqual([0, 0])
    const lost = rig.run(...call())
    rig.journal.reportWork(lost, report('start', 4_500, null, 'otlp'))
    expect(await flying()).toEqual([0, 0]) // a span tells its start when it has ended
  })
  test('a drain is only a drain', async () => {
    const rig = metricsRig()
    const id = rig.run(...call(), closed(3_000, idleCut))
    expect((await rig.scrape()).get('drained_after_cut_seconds_count{tool="render"}')).toBe(0)
    rig.tellTo(id, event(5_000, 'server', resultEvent()), serverOver(5_000), finished(5_000))
    rig.until(64_000)
    const samples = await rig.scrape()
    expect(counted(samples, 'drained_after_cut_seconds_sum')).toEqual({ 'drained_after_cut_seconds_sum{tool="render"}': 2 })
    expect(counted(samples, 'work_reports_total')).toEqual({ 'work_reports_total{source="drain",result="matched"}': 1 })
    expect(counted(samples, 'work_outcomes_total')).toEqual({
      'work_outcomes_total{tool="render",outcome="unobserved",cause_class="hop"}': 1,
    })
    expect(counted(samples, 'results_undelivered_total')).toEqual({ 'results_undelivered_total{tool="render"}': 1 })
    const toldOfIt = metricsRig()
    toldOfIt.run(...call(), ...cutAt(3_000))
    expect((await toldOfIt.scrape()).has('drained_after_cut_seconds_count{tool="render"}')).toBe(false)
  })
  test('a result with no source alive is a report of its own', async () => {
    const rig = metricsRig()
    rig.run(...call(), ...passed(900, resultEvent()), ...done(901))
    const samples = await rig.scrape()
    expect(counted(samples, 'work_reports_total')).toEqual({ 'work_reports_total{source="response",result="matched"}': 1 })
    expect(counted(samples, 'tool_results_total')).toEqual({ 'tool_results_total{tool="render",result="ok"}': 1 })
    expect(samples.get('work_duration_seconds_sum{tool="render"}')).toBe(0.899)
    expect(counted(samples, 'work_outcomes_total')).toEqual({
      'work_outcomes_total{tool="render",outcome="finished",cause_class="complete"}': 1,
    })
  })
  test('open exchanges, bytes and progress, while streams are open', async () => {
    const rig = metricsRig()
    const one = progressEvent()
    rig.run(...call(), moved(2, 'request', 210), ...passed(5, one), event(6, 'server', progressEvent()))
    const samples = await rig.scrape()
    expect(counted(samples, 'exchanges_open')).toEqual({ 'exchanges_open{kind="call"}': 1 })
    expect(['request', 'seen', 'sent'].map((direction) => samples.get(`bytes_total{direction="${direction}"}`))).toEqual([
      210,
      one.bytes.length,
      one.bytes.length,
    ])
    expect(counted(samples, 'progress_notifications_total')).toEqual({ 'progress_notifications_total{disposition="forwarded"}': 1 })
    expect(samples.get('time_to_first_event_seconds_sum{kind="call"}')).toBe(0.005)
    expect(samples.get('time_to_headers_seconds_count{kind="call"}')).toBe(1)
    rig.journal.openExchange().tell(opened())
    expect(counted(await rig.scrape(), 'exchanges_open')).toEqual({ 'exchanges_open{kind="call"}': 1 })
  })
  test('bytes that passed are counted at both edges [bench.passed]', async () => {
    const rig = metricsRig()
    rig.run(...call(), moved(2, 'seen', 5), moved(3, 'passed', 70), moved(4, 'sent', 300), moved(5, 'passed', 1))
    const samples = await rig.scrape()
    expect(['request', 'seen', 'sent'].map((direction) => samples.get(`bytes_total{direction="${direction}"}`))).toEqual([0, 76, 371])
  })
  test('two scrapes count once; a close before anything was understood still counts', async () => {
    const rig = metricsRig()
    rig.run(...call(), moved(2, 'request', 7))
    await rig.scrape()
    rig.run(opened(3), closed(4, clientAbort))
    const samples = await rig.scrape()
    expect(samples.get('bytes_total{direction="request"}')).toBe(7)
    expect(counted(samples, 'exchanges_opened_total')).toEqual({
      'exchanges_opened_total{kind="call"}': 1,
      'exchanges_opened_total{kind="other"}': 1,
    })
    expect(samples.get('exchanges_open{kind="other"}')).toBe(0)
  })
  test('an answer made here in the server’s place', async () => {
    const rig = metricsRig()
    rig.metrics.setPath(NGINX)
    rig.run(
      opened(),
      understood(1, toolCall()),
      asked(1),
      answered(60_001),
      moved(60_001, 'sent', 90),
      closed(60_001, { ...idleCut, kind: 'header_timeout' }, 'clean'),
    )
    const samples = await rig.scrape()
    expect(counted(samples, 'responses_total')).toEqual({ 'responses_total{code_class="5xx",origin="sidecar"}': 1 })
    expect(counted(samples, 'cuts_total')).toEqual({
      'cuts_total{hop="nginx",cause="header_timeout",phase="before_headers",mode="act"}': 1,
    })
    expect(counted(samples, 'exchanges_closed_total')).toEqual({
      'exchanges_closed_total{kind="call",answer="other",cause="header_timeout",ending="clean"}': 1,
    })
  })
  test('in shadow mode what would have been cut', async () => {
    const rig = metricsRig()
    rig.metrics.setPath(NGINX, { mode: 'shadow' })
    rig.run(...call(), { kind: 'would_cut', atMs: at(60), cause: idleCut }, { kind: 'would_cut', atMs: at(70), cause: faultCut })
    expect(counted(await rig.scrape(), 'cuts_total')).toEqual({
      'cuts_total{hop="nginx",cause="idle_timeout",phase="mid_stream",mode="shadow"}': 1,
      'cuts_total{hop="fault",cause="fault",phase="mid_stream",mode="shadow"}': 1,
    })
  })
})

describe('names have limits', () => {
  test('so many tools, then other, counted [metrics.label-caps]', async () => {
    const rig = metricsRig({ toolsMax: 2 })
    for (const tool of ['a', 'b', 'c', 'd']) rig.run(...call('2026-07-28', toolCall(7, tool)), ...passed(9, resultEvent()), ...done(10))
    const samples = await rig.scrape()
    expect(counted(samples, 'calls_closed_total')).toEqual({
      'calls_closed_total{tool="a",cause="complete"}': 1,
      'calls_closed_total{tool="b",cause="complete"}': 1,
      'calls_closed_total{tool="other",cause="complete"}': 2,
    })
    expect(samples.get('label_overflow_total{label="tool"}')).toBe(2)
  })
  test('a tool that only clients name has none of its own', async () => {
    const rig = metricsRig()
    rig.run(opened(), understood(1, toolCall(7, 'made-up')), ...cutAt(5, clientAbort))
    expect(counted(await rig.scrape(), 'calls_closed_total')).toEqual({ 'calls_closed_total{tool="other",cause="client_abort"}': 1 })
  })
  test('faults are those in force', async () => {
    const rig = metricsRig()
    rig.metrics.setFaults([
      { name: 'cut-search', isEnabled: true, expiresWallMs: 5_000 },
      { name: 'slow', isEnabled: false, expiresWallMs: null },
    ])
    const note = (seat: string, what: 'fired' | 'skipped'): Fact => ({ kind: 'noted', atMs: at(5), seat, note: { is: 'decided', what } })
    rig.run(...call(), note('cut-search', 'fired'), note('slow', 'skipped'), note('stranger', 'fired'), note('path[0]:nginx', 'fired'))
    const samples = await rig.scrape()
    expect(counted(samples, 'faults_injected_total')).toEqual({
      'faults_injected_total{fault="cut-search"}': 1,
      'faults_injected_total{fault="other"}': 1,
    })
    expect(samples.get('fault_decisions_total{fault="slow",decision="skipped"}')).toBe(1)
    expect(samples.get('label_overflow_total{label="fault"}')).toBe(1)
    expect([samples.get('fault_enabled{fault="cut-search"}'), samples.get('fault_enabled{fault="slow"}')]).toEqual([1, 0])
    expect(counted(samples, 'fault_expires_timestamp_seconds')).toEqual({ 'fault_expires_timestamp_seconds{fault="cut-search"}': 5 })
    rig.metrics.setFaults([])
    expect(counted(await rig.scrape(), 'fault_enabled')).toEqual({})
  })
})

test('what the app tells: path, upstream, receivers, reloads, reports, dropped lines', async () => {
  const rig = metricsRig()
  const { metrics } = rig
  metrics.setPath(NGINX)
  metrics.setUpstreamUp(true)
  metrics.setOtlpUp(true)
  metrics.setReload(true, 9_000)
  metrics.setReload(false, 99_000)
  metrics.countReport('otlp', 'ambiguous')
  metrics.eventsDropped()
  metrics.eventsDropped(2)
  rig.run(
    ...call(),
    { kind: 'noted', atMs: at(9), seat: 'path[0]:nginx', note: { is: 'held', forMs: 2_000, bytes: 5 } },
    { kind: 'noted', atMs: at(9), seat: 'x', note: { is: 'held', forMs: Number.NaN, bytes: 5 } },
  )
  const samples = await rig.scrape()
  expect(counted(samples, 'path_effective_limit_seconds')).toEqual({
    'path_effective_limit_seconds{limit="headers",hop="nginx"}': 60,
    'path_effective_limit_seconds{limit="idle",hop="nginx"}': 60,
  })
  expect(counted(samples, 'chaos_active')).toEqual({ 'chaos_active{source="path"}': 1 })
  expect(
    ['upstream_up', 'otlp_receiver_up', 'config_last_reload_successful', 'config_last_reload_success_timestamp_seconds'].map((name) =>
      samples.get(name),
    ),
  ).toEqual([1, 1, 0, 9])
  expect([
    samples.get('work_reports_total{source="otlp",result="ambiguous"}'),
    samples.get('events_dropped_total'),
    samples.get('buffered_bytes'),
  ]).toEqual([1, 3, 4_096])
  expect([samples.get('buffer_hold_seconds_count'), samples.get('buffer_hold_seconds_sum')]).toEqual([1, 2])
  expect(samples.get(`build_info{version="1.2.3",node_version="${process.version}"}`)).toBe(1)
})
