/** Random faults × random traffic: one ending, nothing held for ever, nothing altered that no fault claims, taken away at any time. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Ask, Reply } from '../../src/core/signal.ts'
import { complete, end } from '../../src/core/signal.ts'
import { gzipped, openJson, pieces, planOf } from '../support/fault-rig.ts'
import { done, gone, half, left, progress, raw, result, rig, sse } from '../support/line-rig.ts'

/** They only hold or hide: whatever is sent arrives, whole and in order. */
const HOLDING: readonly object[] = [
  { buffer: { mode: 'full' } },
  { buffer: { mode: 'bytes', size: 7 } },
  { buffer: { mode: 'time', every: '20ms' } },
  { buffer: { mode: 'one-behind' } },
  { latency: { delay: '30ms', jitter: '20ms', on: 'event' } },
  { latency: { delay: '30ms', distribution: 'normal', jitter: '9ms', on: 'headers' } },
  { latency: { delay: '30ms', on: 'result' } },
  { latency: { delay: '30ms', on: 'request' } },
  { delay: { what: 'progress', by: '15ms', nth: 1 } },
  { bandwidth: { bytesPerSecond: 2_000 } },
  { slice: { size: 3, every: '1ms' } },
  { 'hide-disconnect': {} },
  { 'half-open': { for: '20ms' } },
  { stall: { from: 'headers', for: '25ms' } },
  { stall: { from: 'body', for: '25ms' } },
  { cut: { after: { bytes: 1_000_000 } } },
]
const CHANGING: readonly object[] = [
  { drop: { what: 'progress' } },
  { drop: { what: 'event', nth: 2 } },
  { duplicate: { what: 'event' } },
  { malform: { what: 'json' } },
  { malform: { what: 'field', nth: 1 } },
  { cut: { after: { bytes: 40 }, ending: 'rst' } },
  { cut: { after: { events: 2 }, ending: 'clean' } },
  { cut: { after: { time: '30ms' } } },
  { cut: { before: 'result' } },
  { cut: { inside: 'event' } },
  { cut: { inside: 'character' } },
  { 'idle-timeout': { after: '15ms' } },
  { 'max-duration': { after: '40ms', ending: 'rst' } },
  { 'header-timeout': { after: '5ms' } },
  { respond: { status: 503, body: 'json' } },
]

const words = fc.constantFrom(
  'data: a\n\n',
  'data:\xc3\xa9\r\n\r\n',
  ': note\n\n',
  'id: 7\ndata\n\n',
  'data: {"x":1}\n\n',
  progress(),
  result(),
  'data: half',
  '\n',
  'zzz',
)
const stream = fc.array(words, { maxLength: 12 }).map((parts) => parts.join(''))
const traffic = fc.record({
  stream,
  places: fc.array(fc.nat(), { maxLength: 8 }),
  head: fc.constantFrom(sse, gzipped, openJson),
  gapMs: fc.integer({ min: 0, max: 12 }),
  last: fc.constantFrom<Reply>(done, gone('fin'), gone('rst'), end(complete)),
})
type Traffic = typeof traffic extends fc.Arbitrary<infer T> ? T : never

function chunksOf({ stream: text, places, head }: Traffic): Reply[] {
  const cuts = [0, ...[...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b), text.length]
  const chunks = cuts
    .slice(1)
    .map((until, n) => text.slice(cuts[n], until))
    .filter((chunk) => chunk !== '')
  return head === sse ? pieces(...chunks) : chunks.map(raw)
}
function play(
  forms: readonly object[],
  asked: Traffic,
  { leaving, releaseMs }: { leaving?: { atMs: number; how: Ask }; releaseMs?: number } = {},
) {
  const plans = forms.map((form, n) => ({ ...planOf(form), name: `f${n}` }))
  const r = rig(plans).ask()
  const events: { atMs: number; run: () => void }[] = [asked.head, ...chunksOf(asked), asked.last].map((signal, n) => ({
    atMs: 3 + n * asked.gapMs,
    run: () => void r.server(3 + n * asked.gapMs, signal),
  }))
  if (leaving !== undefined) events.push({ atMs: leaving.atMs, run: () => void r.client(leaving.atMs, leaving.how) })
  if (releaseMs !== undefined) {
    const names = new Set(plans.map(({ name }) => name))
    events.push({ atMs: releaseMs, run: () => void r.until(releaseMs).line.release(names, releaseMs) })
  }
  for (const { run } of events.sort((a, b) => a.atMs - b.atMs)) run()
  return { r, sent: asked.stream, endMs: Math.max(...events.map(({ atMs }) => atMs)) }
}
const some = (forms: readonly object[]) => fc.array(fc.constantFrom(...forms), { minLength: 1, maxLength: 4 })

test('faults that only hold lose, add and reorder nothing, and keep the ending [faults.bounded]', () => {
  fc.assert(
    fc.property(some(HOLDING), traffic, (forms, asked) => {
      const { r, sent, endMs } = play(forms, asked)
      r.until(endMs + 10_000)
      expect(r.bytesToClient()).toBe(sent)
      expect(r.closings).toHaveLength(1)
      expect(r.line.heldBytes()).toBe(0)
    }),
    { numRuns: 300 },
  )
})
test('taken away at any time, the rest passes as it is: pass-through at once [faults.stop]', () => {
  fc.assert(
    fc.property(some(HOLDING), traffic, fc.integer({ min: 0, max: 60 }), (forms, asked, releaseMs) => {
      const { r, sent, endMs } = play(forms, asked, { releaseMs })
      expect(r.line.isEmpty()).toBe(true)
      expect(r.line.heldBytes()).toBe(0)
      expect(r.line.wakeAtMs()).toBeNull()
      expect([r.bytesToClient(), endMs]).toEqual([sent, endMs])
    }),
    { numRuns: 300 },
  )
})
test('any faults, any traffic, a client that may leave: one ending, a prefix rule for cuts, nothing held once both sides are over [faults.bounded]', () => {
  const leaving = fc.option(
    fc.record({ atMs: fc.integer({ min: 1, max: 80 }), how: fc.constantFrom<Ask>(half, left('fin'), left('rst')) }),
    { nil: undefined },
  )
  fc.assert(
    fc.property(some([...HOLDING, ...CHANGING]), traffic, leaving, (forms, asked, leaves) => {
      const { r, endMs } = play(forms, asked, leaves === undefined ? {} : { leaving: leaves })
      r.until(endMs + 10_000)
      expect(r.closings).toHaveLength(1)
      const endings = r.toClient().filter((line) => /^\+[\d.]+ (end|lost) /.test(line))
      expect(endings.length).toBeLessThanOrEqual(1)
      expect(endings.length === 0 || r.toClient().at(-1) === endings[0]).toBe(true)
    }),
    { numRuns: 300 },
  )
})
test('any split of the stream gives the same bytes, whatever the fault on events [faults.events]', () => {
  const onEvents = [...CHANGING, { delay: { what: 'result', by: '15ms' } }].filter((form) => !('respond' in form))
  fc.assert(
    fc.property(fc.constantFrom(...onEvents), traffic, fc.array(fc.nat(), { maxLength: 8 }), (form, asked, places) => {
      const atOnce = { ...asked, gapMs: 0 }
      const one = play([form], atOnce).r.until(10_000).bytesToClient()
      expect(
        play([form], { ...atOnce, places })
          .r.until(10_000)
          .bytesToClient(),
      ).toBe(one)
    }),
    { numRuns: 300 },
  )
})
