/** The timeline of an exchange: messages stand in a table of numbers, all others beside it, and a reader sees one list. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TimelineEntry } from '../../src/core/record.ts'
import { addEntry, addMessage, addTraffic, entriesOf, freeTimeline, timelineOf } from '../../src/core/timeline.ts'

const told = fc.record({
  atMs: fc.integer({ min: 0, max: 50 }),
  how: fc.constantFrom('comment', 'progress', 'result', 'request', 'notification', 'other', 'closed', 'headers'),
  bytes: fc.nat({ max: 9_000 }),
})

test('whatever is told in whatever order is read in order of time, and of telling within a moment [bench.timeline]', () => {
  fc.assert(
    fc.property(fc.array(told, { maxLength: 80 }), fc.boolean(), (all, isPunctual) => {
      const facts = isPunctual ? all.map((one, at) => ({ ...one, atMs: at >> 2 })) : all
      const budget = { entriesLeft: 1_000 }
      const timeline = timelineOf(budget)
      const plain: TimelineEntry[] = []
      for (const { atMs, how, bytes } of facts) {
        if (how === 'closed') addEntry(timeline, [atMs, how, 'complete'])
        else if (how === 'headers') addTraffic(timeline, [atMs, how, 200])
        else addMessage(timeline, atMs, how as 'comment', bytes)
        if (how === 'closed') plain.push([atMs, how, 'complete'])
        else if (how === 'headers') plain.push([atMs, how, 200])
        else plain.push(how === 'comment' ? [atMs, 'comment', bytes] : [atMs, 'event', bytes, how])
      }
      expect(entriesOf(timeline)).toEqual(plain.toSorted((a, b) => a[0] - b[0]))
      expect(budget.entriesLeft).toBe(1_000 - facts.length)
      freeTimeline(timeline)
      expect([budget.entriesLeft, entriesOf(timeline)]).toEqual([1_000, []])
    }),
  )
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
