/** When a cut comes by the process's own clock: never early, and, however busy the machine, not for good late. */
import { expect, test } from 'vitest'
import type { Fact } from '../../src/core/fact.ts'
import { compileLine } from '../../src/hops/compile.ts'
import type { Hop } from '../../src/hops/hop.ts'
import { realClock } from '../../src/wire/real-clock.ts'
import { hop, idle, limit, total } from '../support/line-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, progressEvent, sseHead } from '../support/raw-http.ts'
import type { RawHandler } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { wireRig } from '../support/wire-rig.ts'

/** Only against a cut that never comes: how late a cut is, is measured elsewhere. */
const LATE_MS = 10_000
const CALLS = 20

async function cutCalls(handler: RawHandler, hops: readonly Hop[]): Promise<readonly (readonly Fact[])[]> {
  const server = await rawServer(handler)
  const rig = await wireRig(server.url, { plans: compileLine(hops, []) })
  for (let n = 0; n < CALLS; n += 1) (await rawClient(rig.port)).send(callText())
  for (let n = 0; n < CALLS; n += 1) await rig.fact('closed', n)
  return Array.from({ length: CALLS }, (_, n) => rig.facts(n))
}
const lastBefore = (facts: readonly Fact[], isIt: (fact: Fact) => boolean): number => {
  // What is told in the closing's own turn came too late to count.
  const closedMs = facts.find(({ kind }) => kind === 'closed')?.atMs ?? Number.NaN
  return facts.findLast((fact) => fact.atMs < closedMs && isIt(fact))?.atMs ?? Number.NaN
}
/** What arms an idle limit; on a machine so busy that the server had no turn, the request itself. */
const isTraffic = (fact: Fact): boolean =>
  fact.kind === 'asked' || (fact.kind === 'moved' && fact.flow === 'seen') || (fact.kind === 'head' && fact.at === 'server')
function expectAfter(facts: readonly Fact[], sinceMs: number, afterMs: number, cause: string): void {
  const closed = facts.find((fact) => fact.kind === 'closed')
  expect(closed).toMatchObject({ cause: { kind: cause } })
  const tookMs = (closed?.atMs ?? 0) - sinceMs
  expect(tookMs).toBeGreaterThanOrEqual(afterMs)
  expect(tookMs).toBeLessThan(afterMs + LATE_MS)
}

test('idle, 20 at once: never early by our own clock [accuracy.never-early]', async () => {
  const all = await cutCalls(
    async (connection) => {
      await connection.request()
      await connection.send(sseHead)
      for (let n = 0; n < 3; n += 1) {
        await new Promise((resolve) => setTimeout(resolve, 10 + 3 * connection.index))
        await connection.send(chunk(progressEvent(n)))
      }
    },
    [hop('idle', { idle: idle(150.5) })],
  )
  for (const facts of all) {
    expectAfter(facts, lastBefore(facts, isTraffic), 150.5, 'idle_timeout')
  }
})

test('header timeout, 20 at once', async () => {
  const all = await cutCalls((connection) => connection.request(), [hop('h', { headers: limit(120) })])
  for (const facts of all) {
    expectAfter(
      facts,
      lastBefore(facts, ({ kind }) => kind === 'asked'),
      120,
      'header_timeout',
    )
  }
})

test('max duration, while 20 streams flow as fast as they can [accuracy.max-duration]', async () => {
  const text = chunk('x'.repeat(4_096))
  const all = await cutCalls(
    async (connection) => {
      await connection.request()
      await connection.send(sseHead)
      while (connection.ended() === null && (await connection.send(text))) await new Promise((resolve) => setImmediate(resolve))
    },
    [hop('total', { total: total(200), idle: idle(60_000) })],
  )
  for (const facts of all) {
    expectAfter(
      facts,
      lastBefore(facts, ({ kind }) => kind === 'asked'),
      200,
      'max_duration',
    )
    const askedMs = lastBefore(facts, ({ kind }) => kind === 'asked')
    // Nothing that came past the time was passed on.
    const overdue = facts.filter((fact) => fact.kind === 'moved' && fact.flow === 'sent' && fact.atMs > askedMs + 200)
    const answer = facts.find((fact) => fact.kind === 'closed')?.ending === 'clean' ? 1 : 0 // the 504, where no head came
    expect(overdue.length).toBeLessThanOrEqual(answer)
  }
})

test('the clock’s timers are never early by its own time, fractions and all [accuracy.never-early]', async () => {
  const early: number[] = []
  await Promise.all(
    Array.from({ length: 500 }, (_, n) => {
      const delayMs = (n % 50) + (n % 7) / 7
      const startedMs = realClock.nowMs()
      return new Promise<void>((resolve) => {
        realClock.after(delayMs, () => {
          if (realClock.nowMs() - startedMs < delayMs) early.push(delayMs)
          resolve()
        })
      })
    }),
  )
  expect(early).toEqual([])
})
test('a cancelled timer never runs', async () => {
  let ran = 0
  const timer = realClock.after(5, () => {
    ran += 1
  })
  timer.cancel()
  await new Promise<void>((resolve) => realClock.after(30, resolve))
  timer.cancel()
  expect(ran).toBe(0)
})
test('a timer set again runs at its new time only, and once more after it has run', async () => {
  const ranAtMs: number[] = []
  const startedMs = realClock.nowMs()
  const timer = realClock.after(1, () => ranAtMs.push(realClock.nowMs() - startedMs))
  timer.again(20)
  await new Promise<void>((resolve) => realClock.after(40, resolve))
  expect(ranAtMs).toEqual([expect.toSatisfy((ms: number) => ms >= 20)])
  timer.again(5)
  await new Promise<void>((resolve) => realClock.after(30, resolve))
  expect(ranAtMs.length).toBe(2)
})

/** Nothing else has a turn meanwhile: as while one poll's events are handled. */
function keepBusy(ms: number): void {
  const untilMs = realClock.nowMs() + ms
  while (realClock.nowMs() < untilMs);
}

test('a poll that takes long holds nothing up that asks for what is due: in order, once, and nothing before its time [accuracy.between-events]', () => {
  const ran: string[] = []
  realClock.after(4, () => {
    ran.push('second')
    realClock.catchUp(realClock.nowMs()) // who runs is not run into
    ran.push('second is over')
  })
  realClock.after(2, () => ran.push('first'))
  realClock.after(6, () => ran.push('third'))
  const cancelled = realClock.after(3, () => ran.push('cancelled'))
  cancelled.cancel()
  const last = realClock.after(60_000, () => ran.push('last'))
  keepBusy(10)
  expect(ran).toEqual([])
  realClock.catchUp(realClock.nowMs())
  expect(ran).toEqual(['first', 'second', 'second is over', 'third'])
  last.cancel()
})
test('what throws takes nothing with it that is due later [accuracy.between-events]', async () => {
  const later = new Promise<void>((resolve) => realClock.after(3, resolve))
  realClock.after(1, () => {
    throw new Error('mine')
  })
  keepBusy(2)
  expect(() => realClock.catchUp(realClock.nowMs())).toThrow('mine')
  await later
})
