/** What the hot path may cost, counted instead of timed: timers, writes, looks inside an event. */
import { Registry } from 'prom-client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createBag } from '../../src/core/bag.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { Tell } from '../../src/core/fact.ts'
import { createFifo } from '../../src/core/fifo.ts'
import { createKeyed } from '../../src/core/keyed.ts'
import { meaningOf } from '../../src/core/meaning.ts'
import type { CallRecord, TimelineEntry } from '../../src/core/record.ts'
import type { InRow, Row } from '../../src/core/row.ts'
import { putLast, takeOut } from '../../src/core/row.ts'
import type { EventMark } from '../../src/core/signal.ts'
import { compileLine } from '../../src/hops/compile.ts'
import { createJournal } from '../../src/journal/journal.ts'
import { createSettledRing } from '../../src/journal/settled-ring.ts'
import { createMetrics } from '../../src/sinks/metrics/index.ts'
import { createCounterTally, createHistogramTally } from '../../src/sinks/metrics/tallies.ts'
import { realClock } from '../../src/wire/real-clock.ts'
import { hop, idle } from '../support/line-rig.ts'
import { callText, chunk, lastChunk, sseHead } from '../support/raw-http.ts'
import { relay } from '../support/relay.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** The real clock, and how often a timer was asked of it or set again. */
function countingClock(): Clock & { readonly asked: () => number } {
  let asked = 0
  return {
    ...realClock,
    after(delayMs, run) {
      asked += 1
      const timer = realClock.after(delayMs, run)
      return {
        cancel: timer.cancel,
        again(laterMs) {
          asked += 1
          timer.again(laterMs)
        },
      }
    },
    asked: () => asked,
  }
}

const eventsOf = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, at) => `event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"n":${at}}}\n\n`,
  )

describe('timers', () => {
  const hops = ['a', 'b', 'c'].map((name) => hop(name, { idle: idle(3_600_000) }))
  test.each([
    ['nobody on the line', [], 0],
    ['three hops with idle limits', compileLine(hops, []), 1],
  ])('%s: as many for 300 chunks as for one [bench.timers]', async (_, plans, most) => {
    const counted: number[] = []
    for (const count of [1, 300]) {
      const clock = countingClock()
      const { got } = await relay(callText(), [sseHead, ...eventsOf(count).map(chunk), lastChunk], { plans, clock })
      expect(got.isWhole).toBe(true)
      counted.push(clock.asked())
    }
    expect(Math.max(...counted)).toBeLessThanOrEqual(most)
  })
})

describe('events', () => {
  function withBooks(): { openRecord: () => { id: string; tell: Tell }; problems: string[] } {
    const problems: string[] = []
    const metrics = createMetrics({ toolsMax: 50, version: '0', gauges: { bufferedBytes: () => 0 } })
    const journal = createJournal({
      ...{ clock: realClock, graceMs: 2_000, waitMs: 60_000, sinks: [metrics.sink] },
      onSinkError: (name, error) => problems.push(`${name}: ${String(error)}`),
    })
    return { openRecord: journal.openExchange, problems }
  }
  test('go out in one write each with ledger and metrics on [bench.no-write-of-ours]', async () => {
    const { openRecord, problems } = withBooks()
    const events = eventsOf(20)
    const { got } = await relay(callText(), [sseHead, ...events.map(chunk), lastChunk], { openRecord })
    expect(got.chunks).toEqual(events.map(({ length }) => length))
    expect(problems).toEqual([])
  })
  test('pass without a JSON.parse [bench.no-json-parse]', async () => {
    const { openRecord, problems } = withBooks()
    const parse = vi.spyOn(JSON, 'parse')
    const events = eventsOf(50)
    await relay(callText(), [sseHead, ...events.map(chunk), lastChunk], { openRecord })
    const parsed = parse.mock.calls.map(([text]) => String(text))
    expect(parsed.filter((text) => text.includes('notifications/message'))).toEqual([])
    expect(problems).toEqual([])
  })
  test('of another type, or without data, are not looked into [bench.no-json-parse]', () => {
    // Not JSON from its first brace on: whoever looked inside would say so.
    expect(meaningOf(markOf('event: log\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n')).is).toBe('other')
    expect(meaningOf(markOf(': {"jsonrpc":"2.0","id":1,"result":{}}\n\n')).is).toBe('comment')
  })
  test('are read once [bench.one-look]', () => {
    const mark = markOf(eventsOf(1)[0] ?? '')
    const first = meaningOf(mark)
    mark.bytes.fill(0x20)
    expect(meaningOf(mark)).toBe(first)
    expect(first).toMatchObject({ is: 'notification', method: 'notifications/message' })
  })
})

const markOf = (text: string): EventMark => ({ earlier: null, bytes: Buffer.from(text), isTooLong: false })

describe('tallies', () => {
  const shape = { name: 'x', help: 'x', labelNames: ['a', 'b'] }
  const labels = { a: '1', b: '2' }
  test('a counter shows what came between two scrapes, once [bench.tallies]', async () => {
    const registry = new Registry<never>()
    const counter = createCounterTally(registry, shape)
    counter.touch({ a: '0', b: '0' })
    for (let at = 0; at < 5; at += 1) counter.add(labels, 2)
    for (const _ of [1, 2]) expect(await registry.metrics()).toContain('x{a="1",b="2"} 10\n')
    counter.add(labels, 1)
    expect(await registry.metrics()).toContain('x{a="1",b="2"} 11\n')
    expect(await registry.metrics()).toContain('x{a="0",b="0"} 0\n')
  })
  test('a counter with wrong labels fails at once [bench.tallies]', () => {
    const counter = createCounterTally(new Registry<never>(), shape)
    expect(() => counter.add({ wrong: '1' }, 1)).toThrow()
  })
  test.each([true, false])('a histogram agrees with one that was told everything, exemplars %s [bench.tallies]', async (hasExemplars) => {
    const buckets = [0.1, 1, 10]
    const registry = new Registry<never>()
    const histogram = createHistogramTally(registry, shape, { buckets, hasExemplars })
    histogram.touch({ a: '0', b: '0' })
    const values = [0.05, 0.05, 0.5, 0.5, 0.5, 5, 50, 50, 1]
    for (const _ of [1, 2]) {
      for (const value of values) histogram.observe(labels, value, 'f'.repeat(32))
      await registry.metrics() // a scrape between changes nothing
    }
    const page = await registry.metrics()
    expect(page.match(/x_bucket\{le="[^"]+",a="1",b="2"\} \d+/g)).toEqual(
      [
        ['0.1', 4],
        ['1', 12],
        ['10', 14],
        ['+Inf', 18],
      ].map(([edge, count]) => `x_bucket{le="${edge}",a="1",b="2"} ${count}`),
    )
    expect(page).toContain('x_count{a="1",b="2"} 18')
    expect(Number(/x_sum\{a="1",b="2"\} (\S+)/.exec(page)?.[1])).toBeCloseTo(2 * values.reduce((sum, value) => sum + value, 0))
    expect(page).toContain('x_count{a="0",b="0"} 0')
  })
})

/** Every key says something. */
const FULL_RECORD: Omit<Required<CallRecord>, 'truncated'> = {
  ...{ id: 'c42.2', openedAt: '2026-07-28T00:00:00.000Z', kind: 'call', answer: 'sse', method: 'tools/call', tool: 'größe "x"\n' },
  ...{
    requestId: '9007199254740993',
    revision: '2026-07-28',
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    client: 'node',
    status: 200,
  },
  ...{ seenStatus: 503, headersMs: 1, firstByteMs: 2, firstEventMs: 3, closedMs: 4, closedBeforeHeaders: true, longestSilenceMs: 5 },
  ...{ silenceAtCloseMs: 6, progress: { seen: 7, sent: 8 }, bytes: { request: 9, seen: 10, sent: 11 }, closedBy: 'sidecar' },
  ...{ cause: 'fault', hop: 'nginx', fault: 'f', ending: 'rst', result: 'seen', abandonedMs: 12, abandonedBy: 'close', toldMs: 13 },
  wouldCut: [{ hop: 'aws-alb', cause: 'idle_timeout', atMs: 14 }],
  work: { source: 'otlp', startedMs: 15, endedMs: 16, outcome: 'orphaned', afterCloseMs: 17 },
  ...{ retryOf: 'c41', violations: ['v'], notices: ['n', 'm'], timeline: [[18, 'headers', 200, 'content-length: 75']] },
}

describe('what comes and goes', () => {
  test('is in the bag while it stays, wherever others left [bench.bag]', () => {
    const bag = createBag<number>()
    const places = Array.from({ length: 100 }, (_, at) => bag.add(at))
    for (const place of places) if (place.item % 3 !== 0) bag.remove(place)
    for (const place of places) if (place.item % 5 === 0) bag.remove(place) // for some the second time
    const left = Array.from({ length: 100 }, (_, at) => at).filter((at) => at % 3 === 0 && at % 5 !== 0)
    expect([...bag].sort((a, b) => a - b)).toEqual(left)
    expect(bag.size()).toBe(left.length)
  })
  test('is found by its number, and the oldest first, whoever left and came late; what is no exchange, too [bench.bag]', () => {
    const keyed = createKeyed<number>()
    const plain = new Map<string, number>()
    const numberOf = (name: string): number => Number(name.slice(1))
    const sorted = (): (readonly [string, number])[] => [...plain].sort(([a], [b]) => numberOf(a) - numberOf(b))
    for (let at = 0; at < 5_000; at += 1) {
      const name = `c${(at * 7) % 1_700}`
      if (at % 3 === 2) {
        keyed.delete(name)
        plain.delete(name)
      } else {
        keyed.set(name, at)
        plain.set(name, at)
      }
      if (at % 500 === 7)
        expect([keyed.oldest(), keyed.size(), keyed.values()]).toEqual([sorted()[0], plain.size, sorted().map(([, one]) => one)])
      if (at > 600) {
        keyed.delete(`c${(at - 600) % 1_700}`)
        plain.delete(`c${(at - 600) % 1_700}`)
      }
    }
    for (const name of plain.keys()) expect(keyed.get(name)).toBe(plain.get(name))
    const odd = ['', 'c', 'c-1', 'c01', 'c1.2', 'x7', 'c12345678901', 'never']
    for (const [at, name] of odd.entries()) if (name !== 'never') keyed.set(name, at)
    for (const [at, name] of odd.entries()) expect([name, keyed.get(name)]).toEqual([name, name === 'never' ? undefined : at])
    expect([keyed.size(), keyed.values().length]).toEqual([plain.size + odd.length - 1, plain.size + odd.length - 1])
    for (const name of [...plain.keys(), ...odd.slice(1), 'c7']) keyed.delete(name)
    expect([keyed.oldest(), keyed.size()]).toEqual([['', 0], 1])
    keyed.delete('')
    expect([keyed.oldest(), keyed.size(), keyed.values(), keyed.get('c1')]).toEqual([undefined, 0, [], undefined])
  })
  test('stands in a row in the order it came [bench.bag]', () => {
    interface One extends InRow<One> {
      readonly at: number
    }
    const row: Row<One> = { first: null, last: null }
    const ones = Array.from({ length: 6 }, (_, at): One => ({ at, before: null, after: null }))
    const standing = (): number[] => {
      const found: number[] = []
      for (let one = row.first; one !== null; one = one.after) found.push(one.at)
      return found
    }
    for (const one of ones) putLast(row, one)
    for (const at of [0, 3, 5]) takeOut(row, ones[at] as One)
    expect([standing(), row.last?.at]).toEqual([[1, 2, 4], 4])
    putLast(row, ones[3] as One)
    for (const at of [1, 2, 4]) takeOut(row, ones[at] as One)
    expect([standing(), row.first?.at, row.last?.at]).toEqual([[3], 3, 3])
    takeOut(row, ones[3] as One)
    expect([standing(), row.last]).toEqual([[], null])
  })
})

describe('what is let go', () => {
  test('leaves a queue in its order [bench.oldest-first]', () => {
    const fifo = createFifo<number>()
    const seen: (number | undefined)[] = []
    for (let at = 0; at < 10_000; at += 1) {
      fifo.push(at)
      if (at % 3 !== 0) seen.push(fifo.shift())
    }
    while (fifo.size() > 0) seen.push(fifo.shift())
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, at) => at))
    expect(fifo.shift()).toBeUndefined()
  })
  const LISTS = { wouldCut: [], violations: [], notices: [], timeline: [] }
  const BARE = {
    ...(Object.fromEntries(Object.keys(FULL_RECORD).map((key) => [key, null])) as unknown as CallRecord),
    ...{ id: 'c1', openedAt: '', kind: 'other' as const, answer: 'none' as const, closedBeforeHeaders: false, longestSilenceMs: 0 },
    ...{ progress: { seen: 0, sent: 0 }, bytes: { request: 0, seen: 0, sent: 0 }, result: 'none' as const, ...LISTS },
    work: { source: null, startedMs: null, endedMs: null, outcome: 'unobserved' as const, afterCloseMs: null },
  }
  const MANY = Array.from({ length: 48 }, (_, at): TimelineEntry => [at, 'event', at * 1_000, 'progress'])
  const RECORDS: Readonly<Record<string, CallRecord>> = {
    'with every key': FULL_RECORD,
    'whose timeline lost what came last': { ...FULL_RECORD, truncated: true },
    'of which nothing is known': BARE,
    'with an id that is a number': { ...FULL_RECORD, tool: 'größe ✓', requestId: -7.5 },
    'with an id that is an empty text': { ...FULL_RECORD, tool: '', requestId: '' },
    'with halves of characters': { ...FULL_RECORD, tool: '\ud800x', requestId: '\udc00' },
    'with as many entries as a row holds': { ...BARE, timeline: MANY },
    'with one more': { ...BARE, timeline: [...MANY, [49, 'closed', 'complete']] },
    'with an entry that is longer than others': { ...BARE, timeline: [[1, 'noted', 'a', 2, 'b', 3, 'c', 4]] },
    'with more text than a row holds': { ...BARE, method: 'é'.repeat(385) },
    'with a text that looks like none': { ...BARE, tool: '\0' },
    'with a new line in a text': { ...BARE, client: 'a\nb' },
  }
  test.each(Object.entries(RECORDS))(
    'is a record %s: it comes back as it was, its keys in their order [bench.record-rows]',
    (_, record) => {
      const ring = createSettledRing({ recordsMax: 3, entriesMax: 1_000 })
      for (let round = 0; round < 2; round += 1) {
        const others = Object.values(RECORDS)
        for (const other of others) ring.add(other) // rows are used again
        ring.add(record)
        expect(ring.all().map((one) => JSON.stringify(one))).toEqual([...others.slice(-2), record].map((one) => JSON.stringify(one)))
      }
      expect(Object.values(FULL_RECORD)).not.toContain(null)
    },
  )
  test('is kept in rows however many lengths, tasks and exchanges its entries name [bench.record-rows]', () => {
    const ring = createSettledRing({ recordsMax: 20, entriesMax: 10_000 })
    const written = vi.spyOn(JSON, 'stringify')
    const recordOf = (n: number): CallRecord => ({
      ...{ ...BARE, id: `c${n}` },
      timeline: [
        ...MANY.slice(0, 44),
        [50, 'headers', 200, `content-length: ${n}`],
        [51, 'task', `task-${n}`, 'working'],
        [52, 'result-on', `c${n}`],
      ],
    })
    for (let n = 0; n < 5_000; n += 1) ring.add(recordOf(n))
    expect(written).not.toHaveBeenCalled()
    expect(ring.all()).toEqual(Array.from({ length: 20 }, (_, at) => recordOf(4_980 + at)))
  })
  test('is a word of its own for each of a thousand; what names more of them is kept as JSON [bench.record-rows]', () => {
    const ring = createSettledRing({ recordsMax: 50, entriesMax: 10_000 })
    const records = Array.from({ length: 50 }, (_, n): CallRecord => {
      return { ...BARE, id: `c${n}`, timeline: Array.from({ length: 30 }, (__, at): TimelineEntry => [at, `word ${n * 30 + at}`]) }
    })
    for (const record of records) ring.add(record)
    expect(ring.all()).toEqual(records)
    ring.add(FULL_RECORD) // of words that are known
    expect(ring.get(FULL_RECORD.id)).toEqual(FULL_RECORD)
  })
  test('is the oldest record, and before it the oldest timelines [bench.oldest-first]', () => {
    const ring = createSettledRing({ recordsMax: 3, entriesMax: 5 })
    const record = (id: string, entries: number): CallRecord => ({
      ...FULL_RECORD,
      id,
      timeline: Array.from({ length: entries }, (_, at) => [at, 'event']),
    })
    const shown = (): string[] =>
      ring.all().map(({ id, timeline, truncated }) => `${id} ${timeline.length}${truncated === true ? ' truncated' : ''}`)
    for (let at = 0; at < 1_000; at += 1) ring.add(record(`c${at}`, 1))
    expect(shown()).toEqual(['c997 1', 'c998 1', 'c999 1'])
    ring.add(record('d1', 4))
    expect(shown()).toEqual(['c998 0 truncated', 'c999 1', 'd1 4'])
    ring.add(record('d2', 5))
    expect(shown()).toEqual(['c999 0 truncated', 'd1 0 truncated', 'd2 5'])
    expect([ring.get('c998'), ring.get('d2')?.id]).toEqual([null, 'd2'])
  })
})
