/** The journal on a fake clock: settling, late reports, cancellations across exchanges, sinks that throw, bounds. */
import { describe, expect, test } from 'vitest'
import { createDueQueue } from '../../src/core/due-queue.ts'
import type { Fact } from '../../src/core/fact.ts'
import { createSettledRing } from '../../src/journal/settled-ring.ts'
import { journalRig } from '../support/journal-rig.ts'
import {
  at,
  call,
  clientAbort,
  closed,
  cutAt,
  done,
  heads,
  ledgerRig,
  moved,
  opened,
  passed,
  report,
  resultEvent,
  toolCall,
  understood,
} from '../support/ledger-rig.ts'

describe('settling', () => {
  test('a call with its result and no source alive settles at once, source response', () => {
    const rig = journalRig()
    const id = rig.run(...call(), ...passed(900, resultEvent()), ...done(901))
    expect(rig.settled).toMatchObject([{ id, result: 'sent', work: { source: 'response', endedMs: 900, outcome: 'finished' } }])
    expect([rig.journal.pendingCount(), rig.journal.openCount()]).toEqual([0, 0])
  })
  test('a call without its result waits for its report, then is unobserved [journal.waits-then-unobserved]', () => {
    const rig = journalRig()
    rig.run(...call(), ...cutAt(3_000))
    expect([rig.journal.pendingCount(), rig.clock.armed(), rig.journal.openCount()]).toEqual([1, 1, 0])
    rig.until(62_999)
    expect(rig.settled).toEqual([])
    rig.until(63_000)
    expect(rig.settled).toMatchObject([{ work: { source: null, outcome: 'unobserved', afterCloseMs: null } }])
    expect([rig.journal.pendingCount(), rig.clock.armed()]).toEqual([0, 0])
  })
  test('with a report it settles 2 s after the first end, at the latest end [journal.settles-on-ends]', () => {
    const rig = journalRig()
    const id = rig.run(...call(), ...cutAt(3_000))
    rig.until(5_000)
    expect(rig.journal.reportWork(id, report('start', 3))).toBe('matched')
    expect(rig.journal.reportWork(id, report('end', 4_900))).toBe('matched')
    rig.until(6_000)
    expect(rig.journal.reportWork(id, report('end', 5_950))).toBe('matched')
    rig.until(6_999)
    expect(rig.settled).toEqual([])
    rig.until(7_000)
    expect(rig.settled).toMatchObject([{ work: { startedMs: 3, endedMs: 5_950, outcome: 'orphaned', afterCloseMs: 2_950 } }])
    expect(rig.journal.reportWork(id, report('end', 6_900))).toBe('duplicate')
    expect(rig.journal.call(id)?.work.endedMs).toBe(5_950)
  })
  test('a report after the waiting is expired, of a stranger unmatched, of another time refused', () => {
    const rig = journalRig({ waitMs: 1_000 })
    const id = rig.run(...call(), ...cutAt(3_000))
    expect(rig.journal.reportWork(id, report('end', 9_000))).toBe('refused')
    rig.until(4_000)
    expect(rig.journal.reportWork(id, report('end', 3_500))).toBe('expired')
    expect(rig.journal.reportWork('c99', report('end', 3_500))).toBe('unmatched')
    expect(rig.settled).toHaveLength(1)
  })
  test('while a source lives, a call with its result waits for the better figure', () => {
    for (const rig of [journalRig({ isSourceAlive: true }), journalRig()]) {
      const first = rig.run(...call(), ...cutAt(100))
      rig.journal.reportWork(first, report('end', 100))
      const id = rig.run(...call(), ...passed(900, resultEvent()), ...done(901))
      expect(rig.settled.some((record) => record.id === id)).toBe(false)
      rig.until(60_901)
      expect(rig.settled.find((record) => record.id === id)?.work).toMatchObject({ source: 'response', outcome: 'finished' })
    }
  })
  test('other kinds settle when closed and finished', () => {
    const rig = journalRig()
    const id = rig.run(
      opened(),
      understood(1, '{"method":"notifications/initialized"}', '2025-11-25'),
      ...heads(3, [], 202),
      closed(4, clientAbort),
    )
    expect(rig.settled).toEqual([])
    rig.tellTo(id, { kind: 'finished', atMs: at(9) })
    expect(rig.settled).toMatchObject([{ kind: 'notification', method: 'notifications/initialized', result: 'none', abandonedMs: null }])
  })
  test('a batch settles call by call', () => {
    const rig = journalRig()
    const id = rig.run(...call('2025-03-26', `[${toolCall(1, 'a')},${toolCall(2, 'b')}]`), ...passed(5, resultEvent(1)), ...cutAt(100))
    expect(rig.settled.map((record) => record.id)).toEqual([id])
    expect(rig.journal.pendingCount()).toBe(1)
    expect(rig.journal.calls().map((record) => [record.id, record.work.outcome])).toEqual([
      ['c1', 'finished'],
      ['c1.2', 'pending'],
    ])
    rig.journal.reportWork(id, report('end', 90, '2'))
    expect(rig.journal.reportWork(id, report('end', 90, '1'))).toBe('duplicate')
    rig.until(5_000)
    expect(rig.settled.map((record) => [record.id, record.work.endedMs])).toEqual([
      ['c1', 5],
      ['c1.2', 90],
    ])
    expect(rig.journal.call('c1.2')?.tool).toBe('b')
  })
  test('more than may wait: the one due next goes first, and its record says why [journal.pending-bound]', () => {
    const rig = journalRig({ pendingMax: 2 })
    for (let n = 0; n < 3; n += 1) rig.run(...call(), ...cutAt(100 + n))
    expect(rig.settled).toMatchObject([{ id: 'c1', notices: ['report-wait-limit'], work: { outcome: 'unobserved' } }])
    expect(rig.journal.pendingCount()).toBe(2)
  })
  test('one timer serves any number of waiting calls', () => {
    const rig = journalRig()
    for (let n = 0; n < 500; n += 1) rig.run(...call(), ...cutAt(100 + n))
    expect([rig.journal.pendingCount(), rig.clock.armed()]).toEqual([500, 1])
    rig.until(100_000)
    expect([rig.settled.length, rig.clock.armed()]).toEqual([500, 0])
  })
  test('close settles all that is left, once, and takes no more', async () => {
    let closes = 0
    const rig = journalRig({
      sinks: [
        {
          name: 'file',
          close: async () => {
            closes += 1
          },
        },
      ],
    })
    const open = rig.run(...call())
    rig.run(...call(), ...cutAt(100))
    await rig.journal.close()
    await rig.journal.close()
    expect(rig.settled.map(({ id, closedMs, work }) => [id, closedMs, work.outcome])).toEqual([
      ['c1', null, 'unobserved'],
      ['c2', 100, 'unobserved'],
    ])
    rig.tellTo(open, ...cutAt(200))
    expect([rig.settled.length, closes, rig.clock.armed()]).toEqual([2, 1, 0])
  })
})

describe('a cancellation on another exchange', () => {
  const session = ['Mcp-Session-Id', 's1']
  const cancel = (ms: number, id: string, more = session): Fact[] => [
    opened(ms),
    understood(ms, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`, '2025-11-25', more),
    { kind: 'asked', atMs: at(ms + 1) },
    ...heads(ms + 5, [], 202),
    ...done(ms + 6),
  ]
  const sessionCall = (id: string, more = session): Fact[] => [opened(), understood(1, toolCall(id), '2025-11-25', more), ...heads(4)]

  test('abandons the call of that session and id, and tells when the server had it [journal.joins-cancellations]', () => {
    const rig = journalRig()
    const deaf = rig.run(...sessionCall('3'))
    const others = [
      rig.run(...sessionCall('"3"')),
      rig.run(...sessionCall('3', ['Mcp-Session-Id', 's2'])),
      rig.run(...sessionCall('3', [])),
    ]
    rig.run(...cancel(6_000, '3'))
    expect(rig.journal.call(deaf)).toMatchObject({ abandonedMs: 6_000, abandonedBy: 'notification', toldMs: 6_001, closedMs: null })
    for (const id of others) expect(rig.journal.call(id)?.abandonedMs).toBeNull()
    rig.tellTo(deaf, ...passed(9_000, resultEvent('3')), ...done(9_001))
    expect(rig.settled.find(({ id }) => id === deaf)).toMatchObject({
      violations: ['cancel-ignored'],
      work: { outcome: 'orphaned', afterCloseMs: 3_000 },
    })
  })
  test('that the server refused or never got tells it nothing', () => {
    const rig = journalRig()
    const deaf = rig.run(...sessionCall('3'))
    rig.run(...cancel(6_000, '3').slice(0, 3), ...heads(6_005, [], 503), ...done(6_006))
    expect(rig.journal.call(deaf)).toMatchObject({ abandonedBy: 'notification', toldMs: null })
  })
  test('without a session it is nobody’s', () => {
    const rig = journalRig()
    const id = rig.run(...sessionCall('3', []))
    rig.run(...cancel(6_000, '3', []))
    expect(rig.journal.call(id)?.abandonedMs).toBeNull()
  })
  test('finds a call no more once it is settled', () => {
    const rig = journalRig()
    rig.run(...sessionCall('3'), ...passed(9, resultEvent('3')), ...done(10))
    rig.run(...cancel(20, '3'))
    expect(rig.settled.map(({ abandonedMs }) => abandonedMs)).toEqual([null, null])
  })
})

describe('sinks', () => {
  test('one that throws is told once, and neither the next sink nor the exchange notices [journal.sink-throws]', async () => {
    const fail = (): never => {
      throw new Error('disk full')
    }
    const rig = journalRig({ sinks: [{ name: 'broken', fact: fail, moment: fail, settled: fail, close: async () => fail() }] })
    rig.run(...call(), ...passed(900, resultEvent()), ...done(901))
    await rig.journal.close()
    expect(rig.settled).toHaveLength(1)
    expect(rig.errors).toEqual(['broken: Error: disk full'])
  })
  test('see the view after the ledger took the fact, and moments before the fact that made them', () => {
    const seen: string[] = []
    const rig = journalRig({
      sinks: [
        { name: 's', fact: (view, { kind }) => seen.push(`${kind} ${view.kind} ${view.bytesSeen}`), moment: (_, { is }) => seen.push(is) },
      ],
    })
    rig.run(opened(), understood(1, toolCall()), moved(2, 'seen', 9))
    expect(seen).toEqual(['opened other 0', 'began', 'understood call 0', 'moved call 9'])
  })
})

describe('what the API shows', () => {
  test('open, waiting and settled calls, in order of opening', () => {
    const rig = journalRig()
    rig.run(...call(), ...cutAt(100))
    rig.run(...call(), ...passed(200, resultEvent()), ...done(201))
    rig.run(...call())
    const ids = (asked?: { open: boolean }): string[] => rig.journal.calls(asked).map(({ id }) => id)
    expect([ids(), ids({ open: true }), ids({ open: false })]).toEqual([['c1', 'c2', 'c3'], ['c3'], ['c1', 'c2']])
    expect([rig.journal.openCount(), rig.journal.call('c1')?.work.outcome, rig.journal.call('c4')]).toEqual([1, 'pending', null])
  })
  test('keeps the last 1,000 settled, and forgets the rest', () => {
    const rig = journalRig()
    for (let n = 0; n < 1_005; n += 1) rig.run(...call(), ...passed(200, resultEvent()), ...done(201))
    expect([rig.journal.calls().length, rig.journal.call('c5'), rig.journal.call('c6')?.id]).toEqual([1_000, null, 'c6'])
  })
  test('has a bound on timelines', () => {
    const ring = createSettledRing({ recordsMax: 10, entriesMax: 5 })
    const record = ledgerRig()
      .take(...call(), ...cutAt(5))
      .record()
    for (const id of ['a', 'b']) ring.add({ ...record, id, timeline: record.timeline.slice(0, 4) })
    expect(ring.all().map(({ id, timeline, truncated }) => [id, timeline.length, truncated])).toEqual([
      ['a', 0, true],
      ['b', 4, undefined],
    ])
  })
})

test('the queue gives the earliest first, whatever the order of putting and removing', () => {
  const queue = createDueQueue<number>()
  const numbers = Array.from({ length: 300 }, (_, n) => (n * 7_919) % 311)
  const put = numbers.map((due) => queue.put(due, due))
  const gone = put.filter((_, n) => n % 3 === 0)
  for (const due of [...gone, ...gone]) queue.remove(due)
  const moved = gone.filter((_, n) => n % 2 === 0)
  for (const due of moved) queue.move(due, 400 - due.item) // from outside it, and then in it
  for (const due of moved) queue.move(due, due.item)
  const taken: number[] = []
  for (let first = queue.first(); first !== null; first = queue.first()) {
    taken.push(first.item)
    queue.remove(first)
  }
  expect(taken).toEqual(numbers.filter((_, n) => n % 3 !== 0 || n % 6 === 0).toSorted((a, b) => a - b))
  expect(queue.size()).toBe(0)
})
