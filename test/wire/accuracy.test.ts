/** When a cut comes, on a clock that only the test moves: at its time by that clock, whatever arrives around it. */
import { expect, test } from 'vitest'
import type { SeatPlan } from '../../src/core/seat.ts'
import { compileLine } from '../../src/hops/compile.ts'
import type { Hop } from '../../src/hops/hop.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { buffering, hop, idle, limit, total } from '../support/line-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { wireRig } from '../support/wire-rig.ts'

const PING = chunk(': ping\n\n')

/** A call under way at time 0, its server's connection in hand. */
async function open(hops: readonly Hop[], { head = sseHead, clock = fakeClock() }: { head?: string | null; clock?: FakeClock } = {}) {
  const server = await rawServer(async (connection) => {
    await connection.request()
    const reply = connection.index > 0 ? `${headText(200, [['Content-Length', '2']])}ok` : head
    if (reply !== null) await connection.send(reply)
  })
  const plans: readonly SeatPlan[] = compileLine(hops, [])
  const rig = await wireRig(server.url, { plans, clock })
  const client = await rawClient(rig.port)
  client.send(callText())
  await rig.fact('asked')
  if (head !== null) await rig.fact('head', 0, ({ at }) => at === 'server')
  const connection = await server.connection(0)
  const closed = () => rig.facts().find((fact) => fact.kind === 'closed')
  return { clock, server, rig, client, connection, closed }
}
type Open = Awaited<ReturnType<typeof open>>

/** The server writes, and the sidecar has seen it when this resolves. */
async function write({ rig }: Open, connection: RawConnection, text: string): Promise<void> {
  const before = rig.facts().filter(({ kind }) => kind === 'moved').length
  await connection.send(text)
  await expect
    .poll(() => rig.facts().filter(({ kind }) => kind === 'moved').length, { timeout: 10_000, interval: 2 })
    .toBeGreaterThan(before)
}

test('idle: not a millisecond early, and at its due time [accuracy.never-early]', async () => {
  const call = await open([hop('idle', { idle: idle(60_000) })])
  call.clock.advance(59_999.9)
  expect(call.closed()).toBeUndefined()
  call.clock.advance(0.1)
  expect(call.closed()).toMatchObject({ atMs: 60_000, cause: { kind: 'idle_timeout' } })
})

test('idle counts response bytes; a `: ping` resets it [accuracy.ping]', async () => {
  const call = await open([hop('idle', { idle: idle(60_000) })])
  for (let n = 0; n < 5; n += 1) {
    call.clock.advance(59_000)
    await write(call, call.connection, PING)
  }
  expect(call.closed()).toBeUndefined()
  call.clock.advance(60_000)
  expect(call.closed()).toMatchObject({ atMs: 5 * 59_000 + 60_000 })
})

test('request bytes do not reset it [accuracy.ping]', async () => {
  const server = await rawServer(async (connection) => {
    await connection.until('part')
    await connection.send(sseHead)
  })
  const clock = fakeClock()
  const rig = await wireRig(server.url, { clock, plans: compileLine([hop('idle', { idle: idle(60_000) })], []) })
  const client = await rawClient(rig.port)
  client.send(requestText('POST', '/mcp', [['Content-Length', '8']], 'part'))
  await rig.fact('head')
  // Response limits wait for the request's last byte: an upload however slow is not silence.
  clock.advance(1_000_000)
  client.send('part')
  await rig.fact('asked')
  clock.advance(59_999)
  expect(rig.facts().some(({ kind }) => kind === 'closed')).toBe(false)
  clock.advance(1)
  expect(rig.facts().find(({ kind }) => kind === 'closed')).toMatchObject({ atMs: 1_060_000 })
})

test('a chunk after the due time does not save the stream, though the timer had not run yet [accuracy.late-timer]', async () => {
  const clock = lateClock()
  const call = await open([hop('idle', { idle: idle(60_000) })], { clock })
  clock.jump(60_001) // time passes, and no timer runs: a busy process
  await call.connection.send(PING)
  await call.rig.fact('closed')
  expect(call.closed()).toMatchObject({ cause: { kind: 'idle_timeout' }, ending: 'fin' })
  expect((await call.client.untilEnded()).how).toBe('fin')
  expect(call.client.text()).not.toContain('ping')
  const sent = call.rig.facts().filter((fact) => fact.kind === 'moved' && fact.flow === 'sent')
  expect(sent).toEqual([])
})
test('one that came in time did save it, though the timer runs late', async () => {
  const clock = lateClock()
  const call = await open([hop('idle', { idle: idle(60_000) })], { clock })
  clock.jump(59_999)
  await write(call, call.connection, PING)
  clock.jump(60_000)
  clock.advance(0) // both timers at last
  expect(call.closed()).toMatchObject({ cause: { kind: 'idle_timeout' } })
  expect(call.closed()?.atMs).toBe(119_999)
})

/** A fake clock whose time can move on without its timers. */
function lateClock(): FakeClock & { jump(ms: number): void } {
  const clock = fakeClock()
  let aheadMs = 0
  return {
    ...clock,
    nowMs: () => clock.nowMs() + aheadMs,
    jump(ms) {
      aheadMs += ms
    },
    advance(ms) {
      const stepMs = aheadMs + ms
      aheadMs = 0
      clock.advance(stepMs)
    },
  }
}

test('max duration comes while bytes flow without a pause [accuracy.max-duration]', async () => {
  const call = await open([hop('total', { total: total(300_000), idle: idle(60_000) })])
  for (let n = 0; n < 299; n += 1) {
    call.clock.advance(1_000)
    if (n % 10 === 0) await write(call, call.connection, chunk(progressEvent(n)))
    else void call.connection.send(chunk(progressEvent(n)))
  }
  expect(call.closed()).toBeUndefined()
  call.clock.advance(1_000)
  expect(call.closed()).toMatchObject({ atMs: 300_000, cause: { kind: 'max_duration' } })
})

test('max duration counts from the request’s last byte [accuracy.max-duration]', async () => {
  const server = await rawServer((connection) => connection.request())
  const clock = fakeClock()
  const rig = await wireRig(server.url, { clock, plans: compileLine([hop('total', { total: total(5_000) })], []) })
  const client = await rawClient(rig.port)
  client.send(requestText('POST', '/mcp', [['Content-Length', '8']], 'part'))
  await rig.fact('moved')
  clock.advance(20_000)
  client.send('part')
  await rig.fact('asked')
  clock.advance(4_999)
  expect(rig.facts().some(({ kind }) => kind === 'closed')).toBe(false)
  clock.advance(1)
  expect((await client.response()).status).toBe(504)
  expect(await rig.fact('closed')).toMatchObject({ atMs: 25_000, cause: { kind: 'max_duration' } })
})

test('header timeout: 504, and the connection serves on [accuracy.header-timeout]', async () => {
  const call = await open([hop('h', { headers: limit(30_000) })], { head: null })
  call.clock.advance(29_999)
  expect(call.closed()).toBeUndefined()
  call.clock.advance(1)
  expect(await call.client.response()).toMatchObject({ status: 504, text: 'oh 504', isWhole: true })
  expect(call.closed()).toMatchObject({ atMs: 30_000, cause: { kind: 'header_timeout' }, ending: 'clean' })
  call.client.send(requestText('GET', '/again'))
  expect((await call.client.response({ method: 'GET' })).text).toBe('ok')
})
test('a head just in time disarms it', async () => {
  const call = await open([hop('h', { headers: limit(30_000) })], { head: null })
  call.clock.advance(29_999)
  await call.connection.send(sseHead)
  await call.rig.fact('head', 0, ({ at }) => at === 'client')
  call.clock.advance(1_000_000)
  expect(call.closed()).toBeUndefined()
})

test('a buffer before an idle limit makes that limit see silence [accuracy.buffer-silence]', async () => {
  const inner = hop('inner', { buffering: buffering({ bytes: 1_000_000 }) })
  const outer = hop('outer', { idle: idle(60_000) })
  const held = await open([outer, inner])
  for (let n = 0; n < 3; n += 1) {
    held.clock.advance(20_000 - (n === 0 ? 1 : 0))
    if (n < 2) await write(held, held.connection, chunk(progressEvent(n)))
  }
  expect(held.closed()).toBeUndefined()
  held.clock.advance(1)
  expect(held.closed()).toMatchObject({ atMs: 60_000, cause: { kind: 'idle_timeout', seat: 'outer' } })
  // The other way round the limit sees what arrives.
  const seen = await open([hop('outer', { buffering: buffering({ bytes: 1_000_000 }) }), hop('inner', { idle: idle(60_000) })])
  for (let n = 0; n < 5; n += 1) {
    seen.clock.advance(59_000)
    await write(seen, seen.connection, chunk(progressEvent(n)))
  }
  expect(seen.closed()).toBeUndefined()
})

test('with nobody on the line nothing is ever due, and no timer is armed [accuracy.no-timer]', async () => {
  const call = await open([])
  expect(call.clock.armed()).toBe(0)
  call.clock.advance(86_400_000)
  await call.connection.send(chunk(resultEvent()) + lastChunk)
  expect((await call.client.response()).isWhole).toBe(true)
  expect(call.closed()).toMatchObject({ cause: { kind: 'complete' } })
})

test('when all is over no timer is left, neither ours nor the line’s [accuracy.no-timer]', async () => {
  const call = await open([hop('all', { idle: idle(60_000), total: total(300_000), headers: limit(1_000) })])
  await call.connection.send(lastChunk)
  await call.client.response()
  await call.rig.fact('finished')
  expect(call.clock.armed()).toBe(0)
})
