/** Settled calls that nobody asked about: as bytes, bounded, and found again by the first who asks. */
import { expect, test } from 'vitest'
import type { CallKey } from '../../src/work/call-index.ts'
import { createCallIndex } from '../../src/work/call-index.ts'
import { createFrozenKeys } from '../../src/work/frozen-keys.ts'

const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, '0')
const keyOf = (n: number, more: Partial<CallKey> = {}): CallKey => ({
  exchangeId: `c${n}`,
  traceId: hex(n, 32),
  spanIds: [hex(n, 16)],
  requestId: String(n),
  method: 'tools/call',
  tool: 'echo',
  session: null,
  openedAtMs: n + 0.25,
  ...more,
})
const NOBODY_SAYS = { requestId: null, method: null, tool: null, session: null }

test('what was put comes back as it was, the oldest first, and is gone then [bench.frozen-keys]', () => {
  const frozen = createFrozenKeys(10)
  const keys = [keyOf(1), keyOf(2, { tool: 'größe ✓', session: 's-1', spanIds: ['a', 'b'], requestId: '"x"' }), keyOf(3, { method: null })]
  expect(keys.map(frozen.put)).toEqual([true, true, true])
  expect(frozen.size()).toBe(3)
  expect(frozen.takeAll()).toEqual(keys)
  expect(frozen.size()).toBe(0)
  expect(frozen.takeAll()).toEqual([])
})

test('no more are kept than there is room for, and a key that is too long is refused, not cut off [bench.frozen-keys]', () => {
  const frozen = createFrozenKeys(3)
  for (let n = 1; n <= 5; n += 1) frozen.put(keyOf(n))
  expect(frozen.put(keyOf(6, { tool: 'é'.repeat(200) }))).toBe(false)
  for (const odd of ['a\nb', '\0', '\ud800']) expect([odd, frozen.put(keyOf(6, { tool: odd }))]).toEqual([odd, false])
  expect(frozen.takeAll().map(({ exchangeId }) => exchangeId)).toEqual(['c3', 'c4', 'c5'])
  frozen.put(keyOf(7))
  frozen.dropOldest()
  frozen.dropOldest()
  expect(frozen.size()).toBe(0)
})

test('a report that comes after thousands were settled finds its call, told as settled; of 10,000 the oldest are strangers [bench.frozen-keys]', () => {
  const index = createCallIndex({ callsMax: 50_000 })
  const COUNT = 10_002
  const LONG = 5_000
  for (let n = 1; n <= COUNT; n += 1) {
    index.register(keyOf(n, n === LONG ? { tool: 'x'.repeat(500) } : {}))
    index.forget(`c${n}`)
  }
  expect(index.liveCount()).toBe(0)
  const found = (n: number) => index.find(hex(n, 32), hex(n, 16), NOBODY_SAYS)
  expect(found(LONG)).toMatchObject({ is: 'none' }) // among the long ones it was the oldest, and went first
  expect(found(1)).toMatchObject({ is: 'none' })
  expect(found(2)).toMatchObject({ is: 'one', isSettled: true, call: keyOf(2) })
  expect(found(COUNT)).toMatchObject({ is: 'one', isSettled: true, call: keyOf(COUNT) })
  // Asked once, they are sorted; those settled from now on push them out.
  for (let n = COUNT + 1; n <= COUNT + 5; n += 1) {
    index.register(keyOf(n))
    index.forget(`c${n}`)
  }
  expect(found(3).is).toBe('none')
  expect(found(COUNT + 5)).toMatchObject({ is: 'one', isSettled: true })
})

test('a call that was asked about while it was open is found as settled, like one that nobody asked about [bench.frozen-keys]', () => {
  const index = createCallIndex({ callsMax: 100 })
  index.register(keyOf(1))
  expect(index.isKnown(hex(1, 32), hex(1, 16))).toBe(true)
  index.register(keyOf(2))
  index.forget('c1')
  index.forget('c2')
  for (const n of [1, 2])
    expect(index.find(hex(n, 32), hex(n, 16), NOBODY_SAYS)).toMatchObject({ is: 'one', isSettled: true, call: keyOf(n) })
})
