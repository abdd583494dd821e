/** Prediction: recorded calls through hops in virtual time. */
import { describe, expect, test } from 'vitest'
import { listPresets, readPreset } from '../../src/config/presets.ts'
import { createLedger } from '../../src/core/ledger.ts'
import type { CallRecord, TimelineEntry } from '../../src/core/record.ts'
import type { Hop } from '../../src/hops/hop.ts'
import { composePath } from '../../src/hops/presets.ts'
import { candidateOf } from '../../src/predict/candidate.ts'
import { callsAmong, forecast } from '../../src/predict/forecast.ts'
import { isHarmless } from '../../src/predict/harmless.ts'
import { judge, predict } from '../../src/predict/predict.ts'
import { readEvents } from '../../src/predict/read-events.ts'
import { recordingOf } from '../../src/predict/recording.ts'
import { longestOf, withHeadersFlushed, withProgress } from '../../src/predict/recording-changes.ts'
import type { RaisedLimit } from '../../src/predict/remedy.ts'
import { causeInWords, remedyInWords, seenInWords } from '../../src/predict/words.ts'
import { callRecord } from '../support/call-record.ts'
import { at, call, done, event, moved, resultEvent } from '../support/ledger-rig.ts'
import { buffering, hop, idle, limit, total } from '../support/line-rig.ts'

const [S, EVENT] = [1_000, 150]
const progressAt = (...seconds: number[]): TimelineEntry[] => seconds.map((at) => [at * S, 'event', EVENT, 'progress'])

/** A call that streamed its head at once, told progress at these seconds, and ended well. */
const streamed = (endS: number, ...progressS: number[]): CallRecord =>
  callRecord({
    closedMs: endS * S,
    timeline: [
      [4, 'headers', 200],
      ...progressAt(...progressS),
      [endS * S, 'event', 200, 'result'],
      [endS * S, 'server-over', 'clean'],
      [endS * S, 'closed', 'complete'],
    ],
  })
/** One that answered in JSON, head and all at the end. */
const json = (endS: number): CallRecord =>
  callRecord({
    answer: 'json',
    closedMs: endS * S,
    bytes: { request: 200, seen: 80, sent: 80 },
    timeline: [
      [endS * S, 'headers', 200, 'content-length: 80'],
      [endS * S, 'bytes', 80],
      [endS * S, 'server-over', 'clean'],
      [endS * S, 'closed', 'complete'],
    ],
  })
/** Cut off at that second by its client. */
const leftAt = (endS: number, more: Partial<CallRecord> = {}, ...progressS: number[]): CallRecord =>
  callRecord({
    closedMs: endS * S,
    closedBy: 'client',
    cause: 'client_abort',
    ending: 'fin',
    result: 'none',
    work: { source: null, startedMs: null, endedMs: null, outcome: 'unobserved', afterCloseMs: null },
    timeline: [[4, 'headers', 200], ...progressAt(...progressS), [endS * S, 'closed', 'client_abort'], [endS * S, 'told', 'fin']],
    ...more,
  })

function presetHops(...names: string[]): readonly Hop[] {
  const composed = composePath(
    names.map((name) => ({ name })),
    (name) => {
      const read = readPreset(name)
      return read !== null && 'value' in read ? read.value : null
    },
    [],
  )
  if ('problems' in composed) throw new Error(JSON.stringify(composed.problems))
  return composed.hops
}

/** `cut +60.0 nginx idle · 504 · told fin +60.0 · headers flushed at once, …`. */
function verdictOf(record: CallRecord, hops: readonly Hop[]): string {
  const { verdict, atMs, hop: by, cause, seen, told: learnt, remedy, isAtLatest } = predict(recordingOf(record), candidateOf('it', hops))
  const at = atMs === null ? '' : ` ${isAtLatest ? '≤' : '+'}${(atMs / S).toFixed(1)}`
  if (verdict !== 'cut' || cause === null) return `${verdict}${at}`
  const untold = learnt === null ? 'not told' : `told ${learnt.ending} +${(learnt.atMs / S).toFixed(1)}`
  return `${verdict}${at} ${by} ${causeInWords(cause)} · ${seenInWords(seen)} · ${untold} · ${remedy === null ? '-' : remedyInWords(remedy)}`
}

describe('verdicts', () => {
  const quiet = streamed(200, 1, 2, 150)
  test.each<[string, CallRecord, readonly Hop[], string]>([
    [
      'silence over an idle limit',
      quiet,
      presetHops('nginx'),
      'cut +62.0 nginx idle · 200, 2 events, then cut off · told fin +62.0 · a progress event every 30s',
    ],
    ['silence within it', quiet, presetHops('app-service'), 'survives'],
    [
      'a total that progress does not help',
      quiet,
      presetHops('gcp-https-lb'),
      'cut +30.0 gcp-https-lb total · 200, 2 events, then cut off · told fin +30.0 · gcp-https-lb total to 4m',
    ],
    [
      'a silent JSON answer',
      json(90),
      presetHops('nginx'),
      'cut +60.0 nginx idle · 504 · told fin +60.0 · headers flushed at once, a progress event every 30s',
    ],
    [
      'a client library',
      json(90),
      presetHops('mcp-typescript-sdk'),
      'cut +60.0 mcp-typescript-sdk total · a bare close · not told · mcp-typescript-sdk total to 2m',
    ],
    [
      'a balancer that drops without a word',
      streamed(400, 1),
      presetHops('azure-lb'),
      'cut +241.0 azure-lb idle · nothing: dropped without a word · told rst +400.0 · a progress event every 2m',
    ],
    [
      'one that never tells',
      streamed(400, 1),
      presetHops('cloud-run'),
      'cut +300.0 cloud-run total · 200, 1 event, then cut off · not told · cloud-run total to 10m',
    ],
    ['no hop', quiet, [], 'survives'],
    [
      'the hop of a path that is first',
      json(90),
      presetHops('cloudflare', 'heroku', 'nginx'),
      'cut +30.0 heroku headers · 503 · told fin +60.0 · headers flushed at once, a progress event every 20s',
    ],
    [
      'hours',
      streamed(20_000, 1),
      [hop('h', { total: total(60 * S) })],
      'cut +60.0 h total · 200, 1 event, then cut off · told fin +60.0 · answer with a task',
    ],
    [
      'headers late, then a stream',
      callRecord({
        timeline: [[40 * S, 'headers', 200], ...progressAt(41), [42 * S, 'event', 9, 'result'], [42 * S, 'server-over', 'clean']],
      }),
      presetHops('azure-app-gateway'),
      'cut +20.0 azure-app-gateway headers · 504 · told fin +20.0 · headers flushed at once',
    ],
    [
      'a buffer that keeps progress from an outer hop',
      quiet,
      [hop('out', { idle: idle(60 * S) }), hop('in', { buffering: buffering('full', { honours: ['x-accel-buffering'] }) })],
      'cut +60.0 out idle · 200, 0 events, then cut off · told fin +60.0 · x-accel-buffering: no, a progress event every 30s',
    ],
    [
      'a buffer that loses what it held',
      quiet,
      presetHops('nginx-http10'),
      'cut +62.0 nginx-http10 idle · 200, 0 events, then cut off · told fin +62.0 · a progress event every 30s',
    ],
    [
      'a server that broke',
      callRecord({
        result: 'none',
        cause: 'server_reset',
        closedBy: 'server',
        timeline: [
          [4, 'headers', 200],
          [9, 'server-over', 'rst'],
        ],
      }),
      presetHops('nginx'),
      'survives',
    ],
    [
      'a request too long',
      callRecord({ ...streamed(2, 1), bytes: { request: 2_000_000, seen: 1, sent: 1 } }),
      presetHops('ingress-nginx'),
      'cut +0.0 ingress-nginx request size · 413 · told fin +0.0 · ingress-nginx request.bodyMax to 2000000B',
    ],
  ])('%s [predict.verdicts]', (_what, record, hops, expected) => {
    expect(verdictOf(record, hops)).toBe(expected)
  })
})

describe('a recording that was cut itself', () => {
  const idled = [hop('h', { idle: idle(60 * S) })]
  const capped = (afterMs: number) => [hop('h', { total: total(afterMs) })]
  const work = (endedMs: number, outcome: 'orphaned' | 'stopped') => ({
    work: { source: 'probe' as const, startedMs: 3, endedMs, outcome, afterCloseMs: 1 },
  })
  test.each<[string, CallRecord, readonly Hop[], string]>([
    ['is unknown past its end', leftAt(45), idled, 'unknown +45.0'],
    [
      'not before it',
      leftAt(90, {}, 1),
      idled,
      'cut +61.0 h idle · 200, 1 event, then cut off · told fin +61.0 · a progress event every 30s',
    ],
    [
      'was cut by the same limit',
      leftAt(60.004),
      idled,
      'cut +60.0 h idle · 200, 0 events, then cut off · told fin +60.0 · a progress event every 30s',
    ],
    [
      'how long it would have taken is not known, so no limit is named',
      leftAt(90),
      capped(60 * S),
      'cut +60.0 h total · 200, 0 events, then cut off · told fin +60.0 · answer with a task',
    ],
    [
      'work that went on tells that a total would have come',
      leftAt(45, work(120 * S, 'orphaned')),
      capped(100 * S),
      'cut +100.0 h total · 200, 0 events, then cut off · told fin +100.0 · answer with a task',
    ],
    ['… and that another would not', leftAt(45, work(80 * S, 'orphaned')), capped(100 * S), 'survives'],
    ['but not what was sent meanwhile', leftAt(45, work(80 * S, 'orphaned')), idled, 'unknown +45.0'],
    ['work that stopped when told would have gone on', leftAt(45, work(46 * S, 'stopped')), capped(100 * S), 'unknown +45.0'],
    [
      'a total that waits for a write',
      leftAt(45, work(120 * S, 'orphaned')),
      [hop('h', { total: total(100 * S, { at: 'next-write' }) })],
      'cut ≤120.0 h total · 200, 0 events, then cut off · told fin +120.0 · answer with a task',
    ],
    [
      'draining showed the rest',
      leftAt(45, {
        timeline: [
          [4, 'headers', 200],
          [45 * S, 'closed', 'client_abort'],
          [80 * S, 'event', 9, 'result'],
          [80 * S, 'server-over', 'clean'],
        ],
      }),
      idled,
      'cut +60.0 h idle · 200, 0 events, then cut off · told fin +60.0 · a progress event every 30s',
    ],
    [
      'a timeline that ran full',
      callRecord({
        truncated: true,
        timeline: [[4, 'headers', 200], ...progressAt(1), [90 * S, 'event', 9, 'result'], [90 * S, 'server-over', 'clean']]
          .slice(0, 2)
          .concat([[90 * S, 'server-over', 'clean']]) as TimelineEntry[],
      }),
      idled,
      'unknown +1.0',
    ],
    [
      '… whose end tells of a total',
      callRecord({ truncated: true, timeline: [[4, 'headers', 200], ...progressAt(1), [90 * S, 'server-over', 'clean']] }),
      capped(30 * S),
      'cut +30.0 h total · 200, 1 event, then cut off · told fin +30.0 · answer with a task',
    ],
  ])('%s [predict.unknown]', (_what, record, hops, expected) => {
    expect(verdictOf(record, hops)).toBe(expected)
  })
})

test('what a timeline holds suffices: parts of a slow event are no silence, and the framing is there [predict.timeline]', () => {
  const ledger = createLedger({ id: 'c1', graceMs: 500 })
  const slow = resultEvent()
  const facts = [
    ...call(),
    ...[10, 20, 30, 40].map((s) => moved(s * S, 'seen', 10)),
    moved(45 * S, 'seen', slow.bytes.length - 40),
    event(45 * S, 'server', slow),
    event(45 * S, 'client', slow),
    ...done(45 * S),
  ]
  for (const fact of facts) ledger.take(fact)
  const [record] = ledger.records(at(0))
  if (record === undefined) throw new Error('no record')
  const recording = recordingOf(record)
  expect(verdictOf(record, [hop('h', { idle: idle(12 * S) })])).toBe('survives')
  expect(verdictOf(record, [hop('h', { idle: idle(12 * S, { counts: 'events' }) })])).toMatch(/^cut \+12\.0/)
  const bytes = recording.steps.reduce((sum, { signal }) => sum + (signal.is === 'piece' ? signal.bytes.length : 0), 0)
  expect(bytes).toBe(slow.bytes.length)
})

test('the head says how the body was framed, so that what holds sized heads is judged right [predict.timeline]', () => {
  const sized = [
    hop('h', { headers: limit(60 * S), buffering: buffering('none', { holdHeaders: 'sized', atCut: 'headers' }), idle: idle(5 * S) }),
  ]
  const slow = (...words: string[]) =>
    callRecord({
      answer: 'json',
      timeline: [
        [S, 'headers', 200, ...words],
        [2 * S, 'bytes', 5],
        [30 * S, 'bytes', 15],
        [30 * S, 'server-over', 'clean'],
      ],
    })
  expect(predict(recordingOf(slow('content-length: 20')), candidateOf('', sized)).seen.bytes).toBe(5)
  expect(
    verdictOf(slow('x-accel-buffering: no'), [
      hop('h', { buffering: buffering('full', { honours: ['x-accel-buffering'] }), idle: idle(5 * S) }),
    ]),
  ).toContain('200, 0 events')
  expect(
    verdictOf(slow(), [
      hop('h', { buffering: buffering('full', { holdHeaders: true, atCut: 'answer', honours: ['x-accel-buffering'] }), idle: idle(5 * S) }),
    ]),
  ).toContain('504')
})

test('a tenth of 10,000 calls against every preset in a second or two [predict.fast]', { timeout: 120_000 }, () => {
  const calls = Array.from({ length: 1_000 }, (_, n) => {
    const endS = 1 + ((n * 7_919) % 400)
    return n % 3 === 0
      ? json(endS)
      : streamed(endS, ...Array.from({ length: n % 20 }, (_, k) => Math.floor((endS * (k + 1)) / ((n % 20) + 1))))
  })
  const candidates = listPresets().map((name) => candidateOf(name, presetHops(name)))
  let told = 0
  const startMs = performance.now()
  const tallies = forecast(calls, candidates, {
    progress(n) {
      told = n
    },
  })
  const tookMs = performance.now() - startMs
  expect(told).toBe(1_000)
  expect(tallies).toHaveLength(candidates.length)
  for (const { survives, cut, unknown } of tallies) expect(survives + cut + unknown).toBe(1_000)
  expect(tallies.find(({ path }) => path === 'gcp-https-lb')).toMatchObject({ cutMs: { earliest: 30_000, latest: 30_000 }, unknown: 0 })
  expect(tookMs).toBeLessThan(60_000) // under 1 s on an idle machine
})

test('the shortcut for harmless limits says what a replay says [predict.shortcut]', () => {
  const calls = [streamed(3), streamed(29, 5), streamed(58, 20, 40), streamed(200, 50, 100, 150), json(10), json(59), json(61), json(301)]
  const askedLate = callRecord({ ...streamed(90, 80), timeline: [[70 * S, 'asked'], ...streamed(90, 80).timeline] })
  let shortcuts = 0
  for (const record of [...calls, askedLate]) {
    const recording = recordingOf(record)
    for (const name of listPresets()) {
      const candidate = candidateOf(name, presetHops(name))
      const { verdict, seen } = predict(recording, candidate)
      const { verdict: replayed, replayed: by } = judge(recording, candidate)
      expect({ name, verdict, seen }).toEqual({ name, verdict: replayed, seen: by.seen })
      const longest = longestOf(recording)
      if (longest !== null && isHarmless(candidate.hops, longest)) shortcuts += 1
    }
  }
  expect(shortcuts).toBeGreaterThan(100)
})

test('what is offered helps [predict.remedy]', () => {
  const presets = listPresets().map((name) => candidateOf(name, presetHops(name)))
  const paths = [...presets, candidateOf('path', presetHops('cloudflare', 'nginx', 'gcp-https-lb'))]
  const words = new Set<string>()
  for (const record of [streamed(200, 1, 2), json(700), leftAt(130, {}, 10, 20)]) {
    const recording = recordingOf(record)
    for (const candidate of paths) {
      const { verdict, remedy } = predict(recording, candidate)
      if (verdict !== 'cut' || remedy === null) continue
      words.add(remedy.is)
      if (remedy.is === 'limits') {
        const hops = candidate.hops.map((one) => raisedAs(one, remedy.raised))
        expect(predict(recording, candidateOf('', hops)).verdict).toBe('survives')
      } else if (remedy.is === 'server') {
        const flushed = remedy.isFlushed ? withHeadersFlushed(recording) : recording
        expect(predict(remedy.everyMs === null ? flushed : withProgress(flushed, remedy.everyMs), candidate).verdict).not.toBe('cut')
      }
    }
  }
  expect([...words].sort()).toEqual(['limits', 'server', 'task'])
})
function raisedAs(hop: Hop, raised: readonly RaisedLimit[]): Hop {
  let changed = hop
  for (const { hop: preset, limit: kind, to } of raised) {
    const found = kind === 'bodyMax' ? undefined : changed[kind]
    if (hop.preset === preset && found !== undefined && found !== 'none') changed = { ...changed, [kind]: { ...found, afterMs: to } }
  }
  return changed
}

test('only calls are judged', () => {
  expect(
    callsAmong([streamed(1), callRecord({ kind: 'get_sse', requestId: null }), callRecord({ kind: 'notification', requestId: null })]),
  ).toHaveLength(1)
})

describe('events files', () => {
  const line = JSON.stringify(streamed(1))
  test('are read line by line', () => {
    expect(readEvents(`${line}\n\n${line}\n`, 'calls.jsonl')).toMatchObject({ records: [{ id: 'c1' }, { id: 'c1' }], warnings: [] })
  })
  test.each([
    ['no JSON', `${line}\nnonsense\n${line}\n`, 'calls.jsonl:2: expected a call\'s record as one line of JSON, got "nonsense"'],
    ['another JSON', `${line}\n{"id":7}\n`, 'calls.jsonl:2 id: '],
    ['nothing', '\n', 'calls.jsonl: no calls in it'],
  ])('%s is told with its line [predict.events-file]', (_what, text, expected) => {
    const read = readEvents(text, 'calls.jsonl')
    expect('error' in read ? read.error : '').toContain(expected)
  })
  test('a last line that is not whole is left out, and told', () => {
    expect(readEvents(`${line}\n${line.slice(0, 50)}`, 'f')).toMatchObject({
      records: [{}],
      warnings: ['f:2: the last line is not whole and left out'],
    })
  })
})
