/** The smaller sinks: events to a file, the closing summary, the live subscription. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Log } from '../../src/core/log.ts'
import { silentLog } from '../../src/core/log.ts'
import type { CallRecord } from '../../src/core/record.ts'
import { createJournal } from '../../src/journal/journal.ts'
import type { Sink } from '../../src/journal/sink.ts'
import { createEventsSink } from '../../src/sinks/events.ts'
import { createLive } from '../../src/sinks/live.ts'
import { createSummary } from '../../src/sinks/summary.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { call, clientAbort, cutAt, done, moved, OPENED_AT_MS, passed, report, resultEvent, toolCall } from '../support/ledger-rig.ts'

const folder = mkdtempSync(join(tmpdir(), 'impatient-hop-events-'))
afterAll(() => rmSync(folder, { recursive: true }))

const journalOf = (...sinks: Sink[]) => {
  const clock = fakeClock({ startMs: OPENED_AT_MS })
  const journal = createJournal({
    ...{ clock, sinks, graceMs: 500, waitMs: 60_000 },
    onSinkError: (_, error) => {
      throw error
    },
  })
  clock.advance(20)
  return { clock, journal, complete: () => [...call(), ...passed(9, resultEvent()), ...done(10)].forEach(journal.openExchange().tell) }
}
const heard = (): { log: Log; said: string[] } => {
  const said: string[] = []
  const log = { ...silentLog, warn: (message: string) => said.push(message), error: (message: string) => said.push(message) }
  return { log, said }
}
const noOut = (): void => undefined

test('a sink that names facts and moments is told those, as one that is told all hears them', () => {
  const kinds = ['opened', 'head', 'closed'] as const
  const told: Record<'some' | 'all' | 'moments' | 'allMoments', string[]> = { some: [], all: [], moments: [], allMoments: [] }
  const { complete } = journalOf(
    {
      name: 'some',
      facts: kinds,
      moments: ['began'],
      fact: (_, { kind }) => told.some.push(kind),
      moment: (_, { is }) => told.moments.push(is),
    },
    { name: 'all', fact: (_, { kind }) => told.all.push(kind), moment: (_, { is }) => told.allMoments.push(is) },
  )
  complete()
  expect(told.some).toEqual(told.all.filter((kind) => (kinds as readonly string[]).includes(kind)))
  expect(told.some).toContain('closed')
  expect(told.moments).toEqual(['began'])
  expect(told.allMoments.length).toBeGreaterThan(1)
})

describe('--events', () => {
  test('a line per call, at its settlement, appended [journal.events-lines]', async () => {
    const file = join(folder, 'calls.jsonl')
    writeFileSync(file, '{"id":"before"}\n')
    const { journal, complete } = journalOf(
      await createEventsSink({ file, bytesMax: 1e6, writeOut: noOut, log: silentLog, dropped: () => undefined }),
    )
    complete()
    complete()
    await journal.close()
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as CallRecord).id)).toEqual(['before', 'c1', 'c2'])
  })
  test('stops at the limit, says so once, counts the rest [journal.events-bound]', async () => {
    const file = join(folder, 'small.jsonl')
    const { log, said } = heard()
    let dropped = 0
    const sink = await createEventsSink({
      file,
      bytesMax: 2_000,
      writeOut: noOut,
      log,
      dropped: (count) => {
        dropped += count
      },
    })
    const { journal, complete } = journalOf(sink)
    for (let n = 0; n < 5; n += 1) complete()
    await journal.close()
    const text = readFileSync(file, 'utf8')
    const lines = text.trimEnd().split('\n').length
    expect(text.length).toBeLessThanOrEqual(2_000)
    expect(text.endsWith('}\n')).toBe(true)
    expect([lines > 0, lines + dropped, said.length]).toEqual([true, 5, 1])
    const again = journalOf(await createEventsSink({ file, bytesMax: 2_000, writeOut: noOut, log, dropped: () => undefined }))
    again.complete()
    await again.journal.close()
    expect(readFileSync(file, 'utf8')).toBe(text)
  })
  test('to standard output through what the process lends', async () => {
    const out: string[] = []
    const { journal, complete } = journalOf(
      await createEventsSink({ file: '-', bytesMax: 1e6, writeOut: (text) => out.push(text), log: silentLog, dropped: () => undefined }),
    )
    complete()
    await journal.close()
    expect(out.map((line) => [(JSON.parse(line) as CallRecord).id, line.endsWith('\n')])).toEqual([['c1', true]])
  })
  test('a file that cannot be opened rejects; one that cannot be written is told once and counted', async () => {
    await expect(
      createEventsSink({ file: join(folder, 'no/such'), bytesMax: 1, writeOut: noOut, log: silentLog, dropped: () => undefined }),
    ).rejects.toThrow('ENOENT')
    const { log, said } = heard()
    let dropped = 0
    const sink = await createEventsSink({
      file: '/dev/full',
      bytesMax: 1e6,
      writeOut: noOut,
      log,
      dropped: (count) => {
        dropped += count
      },
    })
    const { journal, complete } = journalOf(sink)
    complete()
    await expect.poll(() => said.length).toBe(1)
    complete()
    await journal.close()
    expect([dropped, said.length]).toEqual([1, 1])
  })
})

/** A journal whose only sink is a summary, on the same clock. */
function summed() {
  let nowMs = (): number => 0
  const summary = createSummary({ nowMs: () => nowMs() })
  const rig = journalOf(summary.sink)
  nowMs = rig.clock.nowMs
  return { summary, ...rig, text: () => summary.lines().join('\n') }
}
test('the summary says nothing of what there was none of, and counts one as one [journal.summary]', () => {
  const { complete, text } = summed()
  complete()
  expect(text().split('\n')).toEqual([
    'calls        1 settled (1 of tools/call) in 1 exchange',
    'closes       complete 1',
    'orphan work  none seen',
  ])
})
test('a call known to work on when the sidecar ends is said to, and is none of the unobserved [journal.summary-at-work]', async () => {
  const { clock, journal, text } = summed()
  const open = journal.openExchange()
  for (const fact of [...call(), ...cutAt(3_000)]) open.tell(fact)
  journal.reportWork(open.id, report('start', 15))
  clock.advance(7_980)
  await journal.close()
  expect(text()).toContain('orphan work  1 call still at work when the sidecar stopped looking: 5.0 s so far after its close')
  expect(text()).not.toContain('unobserved')
})
test('what shadow mode would have cut is counted by hop and limit [journal.summary-shadow]', () => {
  const { journal, text } = summed()
  for (const id of [7, 8]) {
    const { tell } = journal.openExchange()
    const cause = { kind: 'idle_timeout', seat: 'path[0]:nginx', hop: 'nginx' } as const
    for (const fact of [...call('2026-07-28', toolCall(id)), { kind: 'would_cut', atMs: 8, cause } as const]) tell(fact)
    for (const fact of [...passed(9, resultEvent(id)), ...done(10)]) tell(fact)
  }
  expect(text()).toContain('shadow       2 calls would have been cut: 2 by nginx (idle)')
})
test('what a cut server was still heard to do is told [journal.summary-read-on]', () => {
  const { summary, text } = summed()
  for (const forMs of [1_400, 2_700]) summary.sink.moment?.({} as never, { is: 'drained', call: {} as never, forMs })
  expect(text()).toContain('read on      after a cut 2 calls went on, 2.7 s at most, 4.1 s in all')
})

test('the summary counts calls, closes by cause, orphan work and the unobserved [journal.summary]', () => {
  const { summary, clock, journal, complete } = summed()
  expect(summary.lines().join('\n')).toContain('orphan work  none seen')
  complete()
  const orphan = journal.openExchange()
  for (const fact of [...call(), ...cutAt(3_000)]) orphan.tell(fact)
  clock.advance(7_500)
  journal.reportWork(orphan.id, report('end', 7_000))
  const quiet = journal.openExchange()
  for (const fact of [...call('2026-07-28', toolCall(8)), ...cutAt(3_000, clientAbort)]) quiet.tell(fact)
  clock.advance(70_000)
  const text = summary.lines().join('\n')
  expect(text).toContain('complete 1')
  expect(text).toContain('idle_timeout 1')
  expect(text).toContain('client_abort 1')
  expect(text).toContain('orphan work  4.0 s in 1 call, the longest 4.0 s')
  expect(text).toContain('unobserved   1 of tools/call')
  expect(text).toContain('violations   1')
})

test('live listeners hear facts and records until they leave, or throw', () => {
  const live = createLive()
  const { journal, complete } = journalOf(live.sink)
  const heardOf: string[] = []
  const leave = live.subscribe({ fact: (_, { kind }) => heardOf.push(kind), settled: ({ id }) => heardOf.push(id) })
  live.subscribe({
    fact() {
      throw new Error('gone')
    },
  })
  complete()
  expect(heardOf).toEqual(['opened', 'understood', 'asked', 'head', 'head', 'server_over', 'closed', 'finished', 'c1'])
  leave()
  complete()
  journal.openExchange().tell(moved(1, 'seen', 1))
  expect(heardOf).toHaveLength(9)
})
