/** What the SDKs were recorded to put on the wire, replayed: meaning, cause, violations and notices of each, one by one. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { CallRecord } from '../../src/core/record.ts'
import type { Trace } from '../support/trace-player.ts'
import { playTrace, readTraces } from '../support/trace-player.ts'
import { oddOnes } from '../support/trace-words.ts'

const TRACES = readTraces()
const EXPECTED = JSON.parse(readFileSync(join(import.meta.dirname, '../support/traces-expected.json'), 'utf8')) as Record<string, string[]>
const played = new Map<string, readonly CallRecord[]>()

function recordsOf(name: string): readonly CallRecord[] {
  const trace: Trace | undefined = TRACES.find((one) => one.name === name)
  if (trace === undefined) throw new Error(`no trace ${name}`)
  const records = played.get(name) ?? playTrace(trace)
  played.set(name, records)
  return records
}
const record = (name: string, id: string): CallRecord | undefined => recordsOf(name).find((one) => one.id === id)

test('every trace is expected to be something', () => expect(TRACES.map(({ name }) => name)).toEqual(Object.keys(EXPECTED)))

test.each(TRACES.map(({ name }) => name))('%s [mcp.traces]', (name) => expect(oddOnes(recordsOf(name))).toEqual(EXPECTED[name]))

test('an SDK client with an SDK server breaks no rule, cut or not [mcp.legal-traffic]', () => {
  // The rest is hand-made: requests written to be refused, a server that answers amiss, a cancellation in the wrong revision.
  const handMade = /^cli_|_raw_matrix$|^v2_mcp_param$|^close_v2_(prog|auto_prog)_cancelnotif$|^timeout_v2srv_legacy/
  const sdk = TRACES.filter(({ name }) => !handMade.test(name))
  expect(sdk.length).toBeGreaterThan(50)
  expect(sdk.flatMap(({ name }) => recordsOf(name).flatMap(({ violations }) => violations.map((rule) => `${name} ${rule}`)))).toEqual([])
})

describe('a call that spans exchanges', () => {
  test.each([
    ['cli_v1_resume_fin_noretry', 'c4', 'c5'],
    ['v1_store_cut_rst', 'c4', 'c5'],
    ['v1_store_closeSSEStream', 'c4', 'c5'],
  ])('%s: the result on the resumed stream is the call’s [mcp.resumption]', (name, callId, getId) => {
    const call = record(name, callId)
    expect(call).toMatchObject({ result: 'sent', abandonedMs: null, abandonedBy: null, violations: [], work: { outcome: 'finished' } })
    // Its own stream ended when it ended; the work when the result was there.
    expect(call?.work.endedMs).toBeGreaterThan(call?.closedMs ?? Infinity)
    expect(call?.timeline.filter(([, what]) => what === 'continued-on' || what === 'result-on').map(([, ...more]) => more)).toEqual([
      ['continued-on', getId],
      ['result-on', getId],
    ])
    expect(record(name, getId)).toMatchObject({ kind: 'get_sse', retryOf: callId })
  })
  test('a resumed stream that is cut again leaves the call given up', () => {
    const call = record('cli_v1_resume_get_closes', 'c4')
    expect(call).toMatchObject({ result: 'none', abandonedBy: 'close', cause: 'server_close' })
    expect(call?.abandonedMs).toBeGreaterThan(call?.closedMs ?? Infinity)
  })
  test('HTTP+SSE of 2024-11-05: answers come on the GET [mcp.http-sse]', () => {
    const calls = recordsOf('legacy_http_sse').filter(({ method }) => method === 'tools/call')
    expect(calls.map(({ status, result, work }) => [status, result, work.outcome])).toEqual(Array(5).fill([202, 'sent', 'finished']))
    expect(calls[1]).toMatchObject({ progress: { seen: 3, sent: 3 } })
    expect(calls[1]?.work.endedMs).toBeGreaterThan(290)
    const cut = record('legacy_sse_fin', 'c4')
    expect(cut).toMatchObject({ cause: 'complete', result: 'none', abandonedBy: 'close' })
    expect(cut?.abandonedMs).toBeGreaterThan(400)
  })
})

test('a listen stream’s ends are told apart, and none is work [mcp.subscriptions]', () => {
  const endOf = (name: string): unknown => {
    const listen = recordsOf(name).find(({ kind }) => kind === 'subscription')
    return [listen?.work.outcome, listen?.timeline.find(([, what]) => what === 'subscription')?.[2]]
  }
  expect(endOf('v2_listen_graceful')).toEqual(['finished', 'ended'])
  expect(endOf('v2_listen_client')).toEqual(['unobserved', 'left'])
  expect(endOf('v2_listen_rst')).toEqual(['unobserved', 'lost'])
  const kept = recordsOf('v2_listen_graceful').find(({ kind }) => kind === 'subscription')
  expect(kept?.timeline.filter(([, what]) => what === 'comment')).toHaveLength(2)
})

test('a task is followed from its handle to its end [mcp.tasks]', () => {
  const records = recordsOf('v1_tasks_everything')
  expect(records.find(({ id }) => id === 'c5')).toMatchObject({ tool: 'simulate-research-query', work: { outcome: 'delegated' } })
  const polls = records.filter(({ method }) => method === 'tasks/get')
  const told = polls.map(({ timeline }) => [
    timeline.find(([, what]) => what === 'task-of')?.[2],
    timeline.find(([, what]) => what === 'task')?.[3],
  ])
  expect(told).toEqual([...Array(4).fill(['c5', 'working']), ['c5', 'completed']])
})

test('a round trip for input ends its exchange, and the next is no retry [mcp.round-trips]', () => {
  const calls = recordsOf('v2_mrtr').filter(({ tool }) => tool === 'ask')
  expect(calls.map(({ requestId, result, retryOf, work }) => [requestId, result, retryOf, work.outcome])).toEqual([
    [0, 'sent', null, 'finished'],
    [1, 'sent', null, 'finished'],
  ])
})

test('a client that gave up by its default is told so, and whether progress could have helped [mcp.diagnosis]', () => {
  const sentence = (name: string, id: string): string | undefined => record(name, id)?.notices.at(-1)
  expect(sentence('long_v1_idle65_default', 'c4')).toBe(
    'the client gave up at 60.0 s, its default; no progress token was sent, so progress cannot reset it',
  )
  expect(sentence('long_v2_prog65_noReset', 'c2')).toContain('progress came, and resets it only where the client says so')
  expect(sentence('long_v2_silent310_t400', 'c2')).toContain('without headers, the default of Node')
})
