/** The comparison itself: what it takes for a difference, what a listed one is worth, and what the table says; and our side without any program. */
import { expect, test, vi } from 'vitest'
import { compileLine } from '../../src/hops/compile.ts'
import { resolveHop } from '../../src/hops/resolve.ts'
import { compare } from '../support/hop-peer-compare.ts'
import { knownDifferences } from '../support/hop-peer-known.ts'
import { judge } from '../support/hop-peer-look.ts'
import type { Scenario } from '../support/hop-peer-scenarios.ts'
import { eventMark, scenarios } from '../support/hop-peer-scenarios.ts'
import type { Seen } from '../support/hop-peer-seen.ts'
import { comparisonTable } from '../support/hop-peer-table.ts'
import type { ProxyPeer } from '../support/proxy-list.ts'
import { proxyPeers } from '../support/proxy-list.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, progressEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'
import { wireRig } from '../support/wire-rig.ts'

const found = <T>(what: T | undefined): T => {
  if (what === undefined) throw new Error('not in the list')
  return what
}
const peerOf = (name: string): ProxyPeer => found(proxyPeers.find((peer) => peer.name === name))
const scenarioOf = (name: string): Scenario => found(scenarios.find((scenario) => scenario.name === name))
const silence = scenarioOf('silent before the head')
const seen: Seen = {
  answer: {
    status: 504,
    reason: 'Gone',
    contentType: 'text/html',
    framing: 'length',
    body: 'x'.repeat(160),
    isWhole: true,
    passesAccel: false,
  },
  headMs: 1_000,
  wholeMs: 1_000,
  events: new Map(),
  ending: 'open',
  endedMs: null,
  asked: 1,
  serverEnding: 'fin',
  serverEndedMs: 1_001,
}
const aspects = (ours: Seen, peer = 'apache', stoodStillMs = 0, scenario = silence) =>
  compare(seen, ours, peerOf(peer), scenario, stoodStillMs).map(({ aspect }) => aspect)

test('what differs is found: status, ending on either side, times, the length of an answer, the bytes of the server', () => {
  const answer = found(seen.answer ?? undefined)
  expect(aspects(seen)).toEqual([])
  expect(aspects({ ...seen, answer: null })).toEqual(['status'])
  expect(aspects({ ...seen, answer: { ...answer, status: 502, isWhole: false } })).toEqual(['status', 'terminator'])
  expect(aspects({ ...seen, answer: { ...answer, body: 'x'.repeat(190) } })).toEqual([])
  expect(aspects({ ...seen, answer: { ...answer, body: '' } })).toEqual(['body'])
  expect(aspects({ ...seen, answer: { ...answer, status: 200, body: `${answer.body}!` } })).toEqual(['status', 'body'])
  expect(aspects({ ...seen, ending: 'rst', serverEnding: 'rst' })).toEqual(['client-ending', 'server-ending'])
  expect(aspects({ ...seen, events: new Map([[1, 5]]) })).toEqual(['events'])
  expect(aspects({ ...seen, asked: 3 })).toEqual(['asked'])
})
test('times may differ by 100 ms, by 300 ms where nginx re-arms, and by what this process stood still', () => {
  const late = { ...seen, headMs: 1_150 }
  expect([aspects(late), aspects(late, 'apache', 60), aspects(late, 'nginx')]).toEqual([['head-time'], [], []])
  expect(aspects({ ...seen, headMs: 1_310 }, 'nginx')).toEqual(['head-time'])
  expect(aspects(late, 'nginx', 0, scenarioOf('JSON, whole'))).toEqual(['head-time'])
})
test('a difference that is not listed fails, a listed one that is gone fails, a flaky one may stay away [peer.hops-known-differences]', () => {
  const [haproxy, refused] = [peerOf('haproxy'), scenarioOf('a refused connection')]
  const late = (aspect: 'head-time' | 'whole-time' | 'status') => ({ aspect, real: '3000', ours: '1' })
  expect(judge(haproxy, refused, [late('head-time'), late('whole-time')])).toMatchObject({ is: 'known', complaints: [] })
  expect(judge(haproxy, refused, [late('head-time')])).toMatchObject({
    is: 'different',
    complaints: ['haproxy, a refused connection: whole-time is listed as a known difference, and there is none'],
  })
  expect(judge(haproxy, refused, [late('head-time'), late('whole-time'), late('status')]).complaints).toEqual([
    'haproxy, a refused connection: status: really 3000, ours 1',
  ])
  expect(judge(haproxy, scenarioOf('JSON, whole'), [])).toMatchObject({ is: 'same', complaints: [] })
})
test('each listed difference is of a program and a scenario that there are', () => {
  const listed = knownDifferences.flatMap(({ peers, scenarios: names }) => [...peers, ...names])
  const all = new Set([...proxyPeers.map(({ name }) => name), ...scenarios.map(({ name }) => name)])
  expect(listed.filter((name) => !all.has(name))).toEqual([])
})
test('the table: scenarios down, programs across, a dash for one that was not there, reasons under it', () => {
  const verdict = { scenario: 'a', is: 'known', complaints: [], reasons: ['so it is'] } as const
  const columns = new Map([
    ['nginx', [verdict, { ...verdict, scenario: 'b', is: 'different', reasons: [] } as const]],
    ['varnish', []],
  ])
  expect(comparisonTable(columns, ['a', 'b'])).toBe(
    ['   nginx      varnish', 'a  known 1    -', 'b  DIFFERENT  -', '', 'known 1: so it is', ''].join('\n'),
  )
})
test('a client that closed its side and is gone: the reset of the next write is noticed, and the server told at the write after [hops.reset-noticed]', async () => {
  const server = await rawServer(() => undefined)
  const hop = resolveHop(
    { clientAbort: { midStream: { afterWrites: 1 }, halfClose: 'tolerate', upstream: 'rst' } },
    { name: 'h', preset: 'h' },
  )
  const rig = await wireRig(server.url, { plans: compileLine([hop], []) })
  const client = await rawClient(rig.port)
  await client.send(callText())
  const connection = await server.connection(0)
  await connection.request()
  await connection.send(sseHead + chunk(progressEvent(1)))
  await client.until(eventMark(1))
  client.close()
  await new Promise((resolve) => setTimeout(resolve, 100)) // its FIN is read
  const passed = () => rig.facts().filter((fact) => fact.kind === 'event' && fact.at === 'client').length
  await connection.send(chunk(progressEvent(2))) // meets the reset
  await vi.waitUntil(() => passed() === 2, { timeout: 10_000 })
  expect(connection.ended()).toBeNull()
  await connection.send(chunk(progressEvent(3)))
  expect(await connection.untilEnded()).toMatchObject({ how: 'rst' })
})
