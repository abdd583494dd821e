/** Calls that wait to be settled: many that fall due in one moment. */
import { expect, test } from 'vitest'
import { stateOf } from '../../src/core/ledger.ts'
import type { Entry } from '../../src/journal/entry.ts'
import { createWaiting } from '../../src/journal/waiting.ts'
import { fakeClock } from '../support/fake-clock.ts'

test('of many that fall due in one moment a hundred are settled, then others have their turn [accuracy.between-events]', () => {
  const clock = fakeClock()
  const settled: string[] = []
  const waiting = createWaiting({
    ...{ clock, pendingMax: 1_000 },
    due: ({ entry }) => void settled.push(entry.id),
    crowdedOut: () => undefined,
  })
  const ids = Array.from({ length: 250 }, (_, n) => `c${n}`)
  for (const id of ids) {
    const entry: Entry = { id, view: stateOf(id, { entriesLeft: 0 }), graceMs: 0, waits: null, member: null }
    waiting.put(entry, 0, 10)
  }
  const seen: number[] = []
  clock.after(10, () => seen.push(settled.length))
  clock.advance(10)
  expect(seen).toEqual([100])
  expect(settled.toSorted()).toEqual(ids.toSorted())
  expect([waiting.count(), clock.armed()]).toEqual([0, 0])
})
