/** What became of the work: known truths on numbers, by the grace, by who was told, by revision. */
import { describe, expect, test } from 'vitest'
import type { Fact } from '../../src/core/fact.ts'
import {
  asked,
  at,
  call,
  clientAbort,
  closed,
  cutAt,
  done,
  event,
  finished,
  head,
  heads,
  idleCut,
  JSON_HEAD,
  json,
  ledgerRig,
  moved,
  opened,
  passed,
  report,
  resultEvent,
  resultText,
  serverOver,
  told,
  toolCall,
  understood,
  work,
} from '../support/ledger-rig.ts'

const RULES = { waitMs: 60_000, isSourceAlive: true }
const settled = (...facts: Fact[]) =>
  ledgerRig()
    .take(...facts)
    .settle()
const cancelled = (ms: number): Fact => ({ kind: 'cancelled', atMs: at(ms), requestId: '7' })
const cancelTold = (ms: number, reachedMs = ms): Fact => ({ kind: 'cancel_told', atMs: at(ms), reachedAtMs: at(reachedMs), requestId: '7' })

describe('known truths', () => {
  test('cut at 3 s with 5 s of work: 2 s orphaned [ledger.known-truths]', () => {
    const facts = [...call(), ...cutAt(3_000), work(5_200, report('start', 0)), work(5_200, report('end', 5_000))]
    expect(settled(...facts)).toMatchObject({ orphanMs: 2_000, cancelToStopMs: null, beforeCloseMs: null, causeClass: 'hop' })
    expect(settled(...facts).record.work).toEqual({
      source: 'otlp',
      startedMs: 0,
      endedMs: 5_000,
      outcome: 'orphaned',
      afterCloseMs: 2_000,
    })
    const byDefaultGrace = ledgerRig({ graceMs: 2_000 }).take(...facts)
    expect(byDefaultGrace.settle().record.work).toMatchObject({ outcome: 'orphaned', afterCloseMs: 2_000 })
  })
  test('work done at 1 s, stream closed at 3 s: finished, 2 s before', () => {
    expect(settled(...call(), work(1_100, report('end', 1_000)), ...cutAt(3_000))).toMatchObject({
      ...{ orphanMs: 0, beforeCloseMs: 2_000, cancelToStopMs: null },
      record: { violations: [], work: { outcome: 'finished', afterCloseMs: 0, endedMs: 1_000 } },
    })
  })
  test('a tool that stops 40 ms after the close: stopped, cancel to stop 40 ms', () => {
    expect(settled(...call(), ...cutAt(3_000, clientAbort), work(3_100, report('abort', 3_040)))).toMatchObject({
      ...{ orphanMs: 0, cancelToStopMs: 40, causeClass: 'client' },
      record: { violations: [], work: { outcome: 'stopped', afterCloseMs: 40 } },
    })
  })
  test('a deaf v1 tool of 9 s whose client timed out at 6 s and left the stream open: 3 s orphaned, by notification', () => {
    const { record, orphanMs } = settled(
      ...call('2025-11-25'),
      cancelled(6_000),
      cancelTold(6_004, 6_001),
      ...passed(9_000, resultEvent()),
      ...done(9_001),
    )
    expect(orphanMs).toBe(3_000)
    expect(record).toMatchObject({
      abandonedMs: 6_000,
      abandonedBy: 'notification',
      toldMs: 6_001,
      result: 'sent',
      cause: 'complete',
      violations: ['cancel-ignored'],
    })
    expect(record.work).toEqual({ source: 'response', startedMs: 1, endedMs: 9_000, outcome: 'orphaned', afterCloseMs: 3_000 })
  })
  test('a span that ends 40 ms after the close with a child that ends at 4 s: 4 s', () => {
    const rig = ledgerRig().take(...call(), ...cutAt(3_000), work(3_100, report('end', 3_040)), work(4_200, report('end', 4_000)))
    expect(rig.settle().record.work).toMatchObject({ endedMs: 4_000, outcome: 'orphaned', afterCloseMs: 1_000 })
  })
  test('an end told more than 2 s after the first is a duplicate', () => {
    const rig = ledgerRig().take(...call(), ...cutAt(3_000), work(3_100, report('end', 3_040)), work(5_101, report('end', 5_000)))
    expect(rig.ledger.judge(report('end', 5_000), at(5_101))).toBe('duplicate')
    expect(rig.settle().record.work.endedMs).toBe(3_040)
  })
  test('nobody reported: unobserved, never zero waste', () => {
    const settlement = settled(...call(), ...cutAt(3_000))
    expect(settlement).toMatchObject({ orphanMs: 0, beforeCloseMs: null })
    expect(settlement.record.work).toEqual({ source: null, startedMs: null, endedMs: null, outcome: 'unobserved', afterCloseMs: null })
  })
  test('a start alone is unobserved too', () => {
    expect(settled(...call(), work(5, report('start', 3, null, 'probe')), ...cutAt(3_000)).record.work).toMatchObject({
      source: 'probe',
      startedMs: 3,
      outcome: 'unobserved',
      afterCloseMs: null,
    })
  })
  test('an answer that is a task leaves the work elsewhere', () => {
    expect(settled(...call(), ...passed(9, resultEvent(7, ',"resultType":"task","taskId":"t"')), ...done(10)).record.work.outcome).toBe(
      'delegated',
    )
  })
})

describe('being told', () => {
  test('a hidden leaving is orphan work without a violation [ledger.violation-needs-told]', () => {
    const { record, orphanMs } = settled(
      ...call(),
      closed(3_000, clientAbort),
      event(8_000, 'server', resultEvent()),
      serverOver(8_000),
      finished(8_000),
    )
    expect(record).toMatchObject({
      toldMs: null,
      result: 'seen',
      violations: [],
      work: { source: 'response', outcome: 'orphaned', afterCloseMs: 5_000 },
    })
    expect(orphanMs).toBe(5_000)
  })
  test('told late and obedient is stopped, yet its seconds are orphan work', () => {
    const { record, orphanMs, cancelToStopMs } = settled(
      ...call(),
      closed(3_000, clientAbort),
      told(33_000),
      finished(33_000),
      work(33_100, report('end', 33_020)),
    )
    expect(record.work).toMatchObject({ outcome: 'stopped', afterCloseMs: 30_020 })
    expect([orphanMs, cancelToStopMs]).toEqual([30_020, 20])
  })
  test('ended long before it was told, on its own, is orphaned', () => {
    expect(settled(...call(), closed(3_000, clientAbort), told(33_000), work(20_100, report('end', 20_000))).record).toMatchObject({
      violations: [],
      work: { outcome: 'orphaned' },
    })
  })
  test('a server that closed knows it', () => {
    const { record } = settled(
      ...call(),
      serverOver(3_000, 'rst'),
      closed(3_000, { kind: 'server_reset', seat: null }, 'rst'),
      finished(3_000),
      work(5_000, report('end', 4_000)),
    )
    expect(record).toMatchObject({ toldMs: 3_000, violations: [], work: { outcome: 'orphaned' } })
  })
})

describe('verdicts by revision', () => {
  const ranOn = (revision: string | null): readonly string[] =>
    settled(...call(revision), ...cutAt(3_000, clientAbort), work(9_100, report('end', 9_000))).record.violations
  test('a close cancels in 2026-07-28 and not before, nor where nobody knows [ledger.verdict-by-revision]', () => {
    expect(ranOn('2026-07-28')).toEqual(['work-after-cancel'])
    expect(ranOn('2025-11-25')).toEqual([])
    expect(ranOn(null)).toEqual([])
  })
  test('a message for it long after it was told is one of its own', () => {
    const late = (ms: number): readonly string[] =>
      settled(...call(), ...cutAt(3_000, clientAbort), event(ms, 'server', resultEvent())).record.violations
    expect(late(3_050)).toEqual([])
    expect(late(3_200)).toEqual(['message-after-cancel'])
  })
  test('a notification means nothing in 2026-07-28', () => {
    expect(settled(...call('2026-07-28'), cancelled(1_000), ...passed(9_000, resultEvent()), ...done(9_000)).record).toMatchObject({
      abandonedMs: null,
      abandonedBy: null,
    })
  })
  test('a close before the notification is the abandonment; a result sent before it is none', () => {
    expect(settled(...call('2025-11-25'), ...cutAt(500), cancelled(900)).record).toMatchObject({ abandonedMs: 500, abandonedBy: 'close' })
    expect(settled(...call('2025-11-25'), ...passed(500, resultEvent()), cancelled(900)).record.abandonedMs).toBeNull()
  })
})

describe('drain', () => {
  const drained = (...facts: Fact[]): unknown[] =>
    ledgerRig()
      .take(...call(), ...facts)
      .moments.flatMap((moment) => (moment.is === 'drained' ? [moment.forMs] : []))
  test('is how long the server still talked after our untold cut, and no work [ledger.drain-apart]', () => {
    const facts = [closed(3_000, idleCut), event(5_000, 'server', resultEvent()), serverOver(5_001), finished(5_001)]
    expect(drained(...facts)).toEqual([2_000])
    expect(settled(...call(), ...facts)).toMatchObject({
      orphanMs: 0,
      record: { result: 'seen', work: { source: null, outcome: 'unobserved' } },
    })
  })
  test('counts to the server’s end where no result came', () =>
    expect(drained(closed(3_000, idleCut), serverOver(4_500, 'rst'))).toEqual([1_500]))
  test('is none where the server was told, where the client left, or where it was done before', () => {
    expect(drained(closed(3_000, idleCut), told(3_000), serverOver(3_001))).toEqual([])
    expect(drained(closed(3_000, clientAbort), serverOver(4_000))).toEqual([])
    expect(drained(event(2_000, 'server', resultEvent()), serverOver(2_000), closed(3_000, idleCut))).toEqual([])
  })
  test('reports of drain or response are not taken', () => {
    expect(settled(...call(), ...cutAt(10), work(500, report('end', 400, null, 'drain'))).record.work.source).toBeNull()
  })
})

describe('in flight', () => {
  const phases = (...facts: Fact[]): string[] => {
    const rig = ledgerRig().take(...call(), ...facts)
    rig.settle()
    return rig.moments.flatMap((moment) => (moment.is === 'work' ? [`${moment.source} ${moment.from}>${moment.to}`] : []))
  }
  const start = work(5, report('start', 5, null, 'probe'))
  test('rises at the start, is an orphan from the close, and ends once', () => {
    expect(phases(start, ...cutAt(50), work(90, report('end', 90, null, 'probe')), work(95, report('end', 95, null, 'probe')))).toEqual([
      'probe none>running',
      'probe running>orphaning',
      'probe orphaning>over',
    ])
    expect(phases(...cutAt(3), start, work(90, report('end', 90, null, 'probe')))).toEqual(['probe none>orphaning', 'probe orphaning>over'])
  })
  test('ends with the waiting where no end is told', () =>
    expect(phases(start, ...cutAt(50))).toEqual(['probe none>running', 'probe running>orphaning', 'probe orphaning>over']))
  test('is nothing where only an end is told, or nothing at all', () => {
    expect(phases(work(90, report('end', 90)))).toEqual(['otlp none>over'])
    expect(phases(...cutAt(50))).toEqual([])
  })
})

describe('when to settle', () => {
  const settles = (facts: Fact[], isSourceAlive = true): number | null => {
    const dueMs = ledgerRig()
      .take(...facts)
      .ledger.settlesAtMs(0, { ...RULES, isSourceAlive })
    return dueMs === null ? null : dueMs - at(0)
  }
  const jsonDone = [opened(), understood(1, toolCall()), asked(1), ...heads(40, JSON_HEAD), json(41, resultText()), ...done(42)]
  test('an open call never', () => expect(settles(call())).toBeNull())
  test('a call with its result at once, while no source lives; else it waits [ledger.settling]', () => {
    expect(settles(jsonDone, false)).toBe(42)
    expect(settles(jsonDone, true)).toBe(60_042)
    expect(settles([...jsonDone.slice(0, 2), work(5, report('start', 5)), ...jsonDone.slice(2)], false)).toBe(60_042)
  })
  test('a call without its result waits in any case', () => expect(settles([...call(), ...cutAt(3_000)], false)).toBe(63_000))
  test('a reported end waits 2 s for later ones, or for the close', () => {
    expect(settles([...call(), ...cutAt(3_000), work(5_000, report('end', 4_900))])).toBe(7_000)
    expect(settles([...call(), work(1_000, report('end', 900)), ...cutAt(30_000)])).toBe(30_000)
  })
  test('a server that still talks is waited for, but no longer than a report', () => {
    expect(settles([...call(), closed(3_000, clientAbort), work(5_000, report('end', 4_900))])).toBe(63_000)
  })
  test('an unreachable server did no work; other kinds need none', () => {
    expect(settles([opened(), understood(1, toolCall()), closed(9, { kind: 'unreachable', seat: null }, 'clean'), finished(9)])).toBe(9)
    expect(
      settles([opened(), understood(1, '{"method":"notifications/initialized"}'), ...heads(4, [], 202), closed(5, clientAbort)]),
    ).toBeNull()
    expect(settles([opened(), understood(1, '{"method":"notifications/initialized"}'), head(4, 'server', [], 202), ...done(5)])).toBe(5)
  })
})

describe('a report is judged before it is taken', () => {
  const { ledger } = ledgerRig().take(...call(), ...cutAt(3_000))
  test.each([
    ['a start 250 ms before the opening', report('start', -250), 3_000, 'matched'],
    ['a start earlier still', report('start', -251), 3_000, 'refused'],
    ['an end before the opening', report('end', -300), 3_000, 'refused'],
    ['an end 5 s ahead', report('end', 8_000), 3_000, 'matched'],
    ['an end further ahead', report('end', 8_001), 3_000, 'refused'],
    ['no time at all', report('end', Number.NaN), 3_000, 'refused'],
    ['another request’s', report('end', 3_000, '8'), 3_000, 'unmatched'],
    ['its own by id', report('end', 3_000, '7'), 3_000, 'matched'],
  ])('%s [ledger.reports-judged]', (_, of, nowMs, judgement) => expect(ledger.judge(of, at(nowMs))).toBe(judgement))
  test('after settlement', () => {
    const rig = ledgerRig().take(...call(), ...cutAt(3_000))
    rig.settle()
    expect(rig.ledger.judge(report('end', 3_000), at(3_500))).toBe('settled')
  })
})

test('a fact of bytes moved costs well under a microsecond', () => {
  const rig = ledgerRig().take(...call())
  const facts = [moved(10, 'seen', 100), moved(10, 'sent', 100)]
  for (let n = 0; n < 20_000; n += 1) rig.take(...facts)
  const before = process.hrtime.bigint()
  for (let n = 0; n < 100_000; n += 1) for (const fact of facts) rig.ledger.take(fact)
  const eachNs = Number(process.hrtime.bigint() - before) / 200_000
  expect(eachNs).toBeLessThan(5_000) // measured: about 10 ns; wide, for a busy machine
})
