/** Facts wait until bytes have gone first; whoever reads the books is told all that was told before. */
import { describe, expect, test } from 'vitest'
import { weightOf } from '../../src/core/unread.ts'
import { createBacklog } from '../../src/journal/backlog.ts'
import { afterPoll, behindPoll } from '../../src/wire/real-clock.ts'
import { moved } from '../support/ledger-rig.ts'

function kept() {
  const taken: string[] = []
  const runs: (() => void)[] = []
  const backlog = createBacklog<string, number>({ later: (run) => runs.push(run), take: (teller, fact) => taken.push(`${teller}${fact}`) })
  return { backlog, taken, runs, runOne: () => runs.shift()?.() }
}

describe('the backlog of facts', () => {
  test('takes nothing while bytes are under way, then all in the order told, and asks for one run only [bench.bytes-first]', () => {
    const { backlog, taken, runs, runOne } = kept()
    const told = Array.from({ length: 17 }, (_, at) => `${at % 2 === 0 ? 'a' : 'b'}${at}`)
    for (let at = 0; at < told.length; at += 1) backlog.add(at % 2 === 0 ? 'a' : 'b', at)
    expect(taken).toEqual([])
    expect(runs.length).toBe(1)
    runOne() // more may be at hand
    expect([taken, runs.length]).toEqual([[], 1])
    runOne()
    expect(taken).toEqual(told)
    expect(runs.length).toBe(0)
    backlog.add('b', 4)
    expect(runs.length).toBe(1)
  })

  test('what a poll brings of an exchange or two is no burst, and is taken right after it [bench.bytes-first]', () => {
    const { backlog, taken, runs, runOne } = kept()
    for (let poll = 1; poll <= 3; poll += 1) {
      for (let at = 0; at < 16; at += 1) backlog.add('x', at)
      expect([taken.length, runs.length]).toEqual([(poll - 1) * 16, 1])
      runOne()
      expect([taken.length, runs.length]).toEqual([poll * 16, 0])
    }
  })

  test('few that come behind a burst are its end [bench.bytes-first]', () => {
    const { backlog, taken, runs, runOne } = kept()
    for (let at = 0; at < 100; at += 1) backlog.add('x', at)
    runOne()
    for (let at = 0; at < 16; at += 1) backlog.add('x', at)
    runOne()
    expect([taken.length, runs.length]).toEqual([116, 0])
  })

  test('waits while every poll brings more, but not for ever: 512 are taken [bench.bytes-first]', () => {
    const { backlog, taken, runOne, runs } = kept()
    const poll = (): void => {
      for (let at = 0; at < 17; at += 1) backlog.add('x', at)
      runOne()
    }
    for (let told = 17; told <= 510; told += 17) {
      poll()
      expect([taken.length, runs.length]).toEqual([0, 1])
    }
    poll()
    expect([taken.length, runs.length]).toEqual([527, 0])
    poll() // and it begins anew
    expect([taken.length, runs.length]).toEqual([527, 1])
    runOne()
    expect(taken.length).toBe(544)
  })

  test('whoever asks is told all; the run that was asked for finds nothing then [bench.bytes-first]', () => {
    const { backlog, taken, runOne, runs } = kept()
    backlog.add('a', 1)
    backlog.flush()
    expect(taken).toEqual(['a1'])
    runOne()
    expect(taken).toEqual(['a1'])
    expect(runs.length).toBe(0)
  })

  test('of ten thousand facts in one poll no more than a thousand wait, and all are taken in the order told [bench.bytes-first]', () => {
    const { backlog, taken, runOne, runs } = kept()
    for (let told = 1; told <= 10_500; told += 1) {
      backlog.add('x', told)
      expect(told - taken.length).toBeLessThan(1_000)
    }
    expect([taken.length, runs.length]).toEqual([9_600, 1]) // a hundred at a time
    runOne() // more may be at hand
    runOne()
    expect(taken).toEqual(Array.from({ length: 10_500 }, (_, at) => `x${at + 1}`))
    expect(runs.length).toBe(0)
  })

  test('one told when a thousand wait, and while others are taken, waits for its turn [bench.bytes-first]', () => {
    const taken: number[] = []
    const backlog = createBacklog<null, number>({
      later: () => undefined,
      take(_, fact) {
        if (fact === 0) for (let more = 1_000; more < 2_500; more += 1) backlog.add(null, more)
        taken.push(fact)
      },
    })
    for (let at = 0; at < 1_000; at += 1) backlog.add(null, at)
    expect(taken).toEqual(Array.from({ length: 100 }, (_, at) => at))
    backlog.flush()
    expect(taken).toEqual(Array.from({ length: 2_500 }, (_, at) => at))
  })

  test('what is due is looked at after every hundred facts, and may ask for all that was told [accuracy.between-events]', () => {
    const seen: number[] = []
    const taken: number[] = []
    const runs: (() => void)[] = []
    const backlog = createBacklog<null, number>({
      later: (run) => runs.push(run),
      take: (_, fact) => void taken.push(fact),
      between() {
        seen.push(taken.length)
        if (seen.length === 3) backlog.flush()
      },
    })
    for (let at = 0; at < 600; at += 1) backlog.add(null, at)
    runs.shift()?.()
    expect(seen).toEqual([100, 200, 300])
    expect(taken).toEqual(Array.from({ length: 600 }, (_, at) => at))
    expect(runs).toEqual([])
  })

  test('what takes long counts as many: behind each the others have their turn [accuracy.between-events]', () => {
    const seen: number[] = []
    const runs: (() => void)[] = []
    let taken = 0
    const backlog = createBacklog<null, number>({
      later: (run) => runs.push(run),
      weightOf: (fact) => fact,
      take() {
        taken += 1
      },
      between: () => void seen.push(taken),
    })
    for (const weight of [1, 33, 33, 33, 500, 99, 1, 1]) backlog.add(null, weight)
    runs.shift()?.()
    expect([seen, taken]).toEqual([[4, 5, 7], 8])
    const body = new Uint8Array(65_536)
    const head = { method: 'POST', target: '/', rawHeaders: [] }
    expect(weightOf({ kind: 'unread', atMs: 0, head, body, trace: null })).toBe(33)
    expect(weightOf({ kind: 'unread', atMs: 0, head, body: null, trace: null })).toBe(1)
    expect(weightOf({ kind: 'json', atMs: 0, bytes: body.subarray(0, 4_096) })).toBe(3)
    expect(weightOf(moved(1, 'passed', 1_000_000))).toBe(1)
  })

  test('the books are kept behind all that is still to be sent after a poll, whoever asked first [bench.bytes-first]', async () => {
    const order: string[] = []
    const add = (what: string): void => void order.push(what)
    behindPoll(() => {
      add('books')
      afterPoll(add, 'a head of the next')
      behindPoll(() => add('books of the next'))
    })
    afterPoll(add, 'a head')
    afterPoll(add, 'a request')
    await new Promise(setImmediate)
    expect(order).toEqual(['a head', 'a request', 'books'])
    await new Promise(setImmediate)
    expect(order.slice(3)).toEqual(['a head of the next', 'books of the next'])
  })

  test('a fact that throws is not taken again, and those behind it are [bench.bytes-first]', () => {
    const taken: number[] = []
    const backlog = createBacklog<null, number>({
      later: () => undefined,
      take(_, fact) {
        taken.push(fact)
        if (fact === 1) throw new Error('bad')
      },
    })
    backlog.add(null, 1)
    backlog.add(null, 2)
    expect(() => backlog.flush()).toThrow('bad')
    backlog.flush()
    expect(taken).toEqual([1, 2])
  })

  test('those behind one that throws have their turn without anybody asking [bench.bytes-first]', () => {
    const taken: number[] = []
    const runs: (() => void)[] = []
    const backlog = createBacklog<null, number>({
      later: (run) => runs.push(run),
      take(_, fact) {
        taken.push(fact)
        if (fact === 1) throw new Error('bad')
      },
    })
    for (const fact of [1, 2]) backlog.add(null, fact)
    expect(() => runs.shift()?.()).toThrow('bad')
    runs.shift()?.()
    expect([taken, runs]).toEqual([[1, 2], []])
  })

  test('one told while others are taken comes after them; without a later each is taken as it is told [bench.bytes-first]', () => {
    const taken: number[] = []
    const backlog = createBacklog<null, number>({
      take(_, fact) {
        if (fact === 1) backlog.add(null, 3)
        taken.push(fact)
      },
    })
    backlog.add(null, 1)
    backlog.add(null, 2)
    expect(taken).toEqual([1, 3, 2])
  })
})
