/** The timeline of an exchange: what has a shape stands in a table of numbers, all others beside it, and a reader sees one list. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TimelineEntry } from '../../src/core/record.ts'
import { addBytes, addEntry, addMessage, addTraffic, entriesOf, freeTimeline, timelineOf } from '../../src/core/timeline.ts'

const message = fc.tuple(
  fc.constantFrom('comment' as const, 'progress', 'result', 'request', 'notification', 'other'),
  fc.nat({ max: 9_000 }),
)
/** Those with a shape of their own, those nearly like them, and those whose texts nobody knows. */
const entry = fc.oneof(
  fc.constantFrom(
    ...[['asked'], ['cancelled'], ['closed', 'complete'], ['closed', 'limit'], ['told', 'rst'], ['server-over', 'clean']],
    ...[
      ['headers', 200],
      ['answered', 502],
      ['part', 0],
      ['part', 2 ** 32 - 1],
      ['headers', 200, 'content-length: 20'],
      ['asked', 7],
      ['headers'],
    ],
    ...[['closed', 'by-nobody'], ['work-started'], ['work-ended', '12'], ['task-of', 'c7', 't1'], ['unheard-of', 4, 'x', 5]],
  ),
  fc.tuple(fc.constantFrom('task', 'continued-on', 'closed', 'event'), fc.string()),
)
const told = fc.record({ atMs: fc.nat({ max: 50 }), message: fc.option(message), entry })

test('whatever is told in whatever order is read in order of time, and of telling within a moment [bench.timeline]', () => {
  fc.assert(
    fc.property(fc.array(told, { maxLength: 80 }), fc.boolean(), fc.boolean(), (all, isPunctual, isLate) => {
      const fromMs = isLate ? 2 ** 31 : 0 // a stream that lives for 25 days
      const facts = all.map((one, at) => ({ ...one, atMs: fromMs + (isPunctual ? at >> 2 : one.atMs) }))
      const budget = { entriesLeft: 1_000 }
      const timeline = timelineOf(budget)
      const plain: TimelineEntry[] = []
      for (const { atMs, message: said, entry: told } of facts) {
        if (said !== null) {
          const [is, bytes] = said
          addMessage(timeline, atMs, is, bytes)
          plain.push(is === 'comment' ? [atMs, 'comment', bytes] : [atMs, 'event', bytes, is])
          continue
        }
        const one: TimelineEntry = [atMs, ...(told as [string])]
        if (told[0] === 'closed') addEntry(timeline, one)
        else addTraffic(timeline, one)
        plain.push(one)
      }
      expect(entriesOf(timeline)).toEqual(plain.toSorted((a, b) => a[0] - b[0]))
      expect(budget.entriesLeft).toBe(1_000 - facts.length)
      freeTimeline(timeline)
      expect([budget.entriesLeft, entriesOf(timeline)]).toEqual([1_000, []])
    }),
  )
})

test('what is beyond a row is told as the most that it holds [bench.timeline]', () => {
  const timeline = timelineOf({ entriesLeft: 1_000 })
  for (let at = 0; at < 20; at += 1) addTraffic(timeline, [at, 'part', 2 ** 32 + 5]) // before and after it is a table
  for (let at = 0; at < 2; at += 1) addBytes(timeline, 20, 2 ** 31 + 7)
  const entries = entriesOf(timeline)
  expect(new Set(entries.map(([, , value]) => value))).toEqual(new Set([2 ** 32 - 1]))
  expect(entries.length).toBe(21)
})

test('bytes without events are summed up for 20 ms, also where the table outgrows its place meanwhile [bench.timeline]', () => {
  const timeline = timelineOf({ entriesLeft: 1_000 })
  for (let at = 0; at < 100; at += 1) {
    addBytes(timeline, at * 5, 10)
    addEntry(timeline, [at * 5, 'asked'])
  }
  const sums = entriesOf(timeline).filter(([, what]) => what === 'bytes')
  expect(sums).toEqual(Array.from({ length: 25 }, (_, n) => [n * 20, 'bytes', 40]))
})

test('traffic leaves room for the entries that say how it ended, and a budget that is used up says so [bench.timeline]', () => {
  const timeline = timelineOf({ entriesLeft: 250_000 })
  for (let at = 0; at < 2_500; at += 1) addMessage(timeline, at, 'progress', 150)
  addEntry(timeline, [2_500, 'closed', 'complete'])
  const entries = entriesOf(timeline)
  expect([entries.length, entries[0], entries[1_899], entries.at(-1)]).toEqual([
    1_901,
    [0, 'event', 150, 'progress'],
    [1_899, 'event', 150, 'progress'],
    [2_500, 'closed', 'complete'],
  ])
  expect(timeline.isTruncated).toBe(true)
  const poor = timelineOf({ entriesLeft: 1 })
  for (const at of [1, 2]) addMessage(poor, at, 'comment', 7)
  expect([entriesOf(poor), poor.isTruncated]).toEqual([[[1, 'comment', 7]], true])
})
