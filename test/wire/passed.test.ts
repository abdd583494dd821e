/** What comes and goes at once is told in one: one fact a chunk where nobody sits, that says the same as two. */
import { expect, test } from 'vitest'
import type { Fact } from '../../src/core/fact.ts'
import { compileLine } from '../../src/hops/compile.ts'
import { call, done, event, heads, ledgerRig, moved, progressEvent, resultEvent } from '../support/ledger-rig.ts'
import { hop, idle } from '../support/line-rig.ts'
import { callText, chunk, lastChunk, sseHead } from '../support/raw-http.ts'
import { relay } from '../support/relay.ts'

const events = ['data: 1\n\n', 'data: 22\n\n', 'data: 333\n\n']
const flowsOf = (facts: readonly Fact[]): string[] =>
  facts.flatMap((fact) => (fact.kind === 'moved' && fact.flow !== 'request' ? [`${fact.flow} ${fact.bytes}`] : []))

test('each chunk of an answer is told once where nobody sits, at each edge where somebody does [bench.passed]', async () => {
  const answer = [sseHead, ...events.map(chunk), lastChunk]
  const free = await relay(callText(), answer)
  await free.rig.fact('finished')
  expect(flowsOf(free.rig.facts())).toEqual(events.map(({ length }) => `passed ${length}`))
  const seated = await relay(callText(), answer, { plans: compileLine([hop('a', { idle: idle(3_600_000) })], []) })
  await seated.rig.fact('finished')
  expect(flowsOf(seated.rig.facts())).toEqual(events.flatMap(({ length }) => [`seen ${length}`, `sent ${length}`]))
})

test('a record says the same of bytes that passed as of bytes seen and sent [bench.passed]', () => {
  const recordOf = (traffic: (ms: number, bytes: number) => Fact[]): unknown => {
    const [first, last] = [progressEvent(), resultEvent()]
    const eventAt = (ms: number, of: typeof first): Fact[] => [
      ...traffic(ms, of.bytes.length),
      event(ms, 'server', of),
      event(ms, 'client', of),
    ]
    return ledgerRig()
      .take(...call(), ...heads(4), ...eventAt(50, first), ...traffic(70, 3), ...traffic(190, 4), ...eventAt(200, last), ...done(210))
      .record()
  }
  const two = recordOf((ms, bytes) => [moved(ms, 'seen', bytes), moved(ms, 'sent', bytes)])
  expect(recordOf((ms, bytes) => [moved(ms, 'passed', bytes)])).toEqual(two)
  expect(two).toMatchObject({ bytes: { seen: expect.any(Number) }, firstByteMs: 50, result: 'sent' })
})
