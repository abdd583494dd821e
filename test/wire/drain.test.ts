/** `--after-cut drain`: the client is cut, the server is not told, and its answer is read to the end, unseen. */
import { expect, test } from 'vitest'
import { DRAIN_MAX_MS, drainSeat } from '../../src/core/drain-seat.ts'
import type { Fact } from '../../src/core/fact.ts'
import { compileLine } from '../../src/hops/compile.ts'
import type { Hop } from '../../src/hops/hop.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { hop, idle, limit, total } from '../support/line-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { watchSockets } from '../support/socket-watch.ts'
import { wireRig } from '../support/wire-rig.ts'

const LIMIT_MS = 60_000
const CHUNK = chunk('x'.repeat(65_536))

async function open(hops: readonly Hop[], serve: (connection: RawConnection) => unknown = streams) {
  const clock = fakeClock()
  const sockets = watchSockets()
  const server = await rawServer(serve)
  const rig = await wireRig(server.url, { plans: [...compileLine(hops, []), drainSeat()], clock })
  const client = await rawClient(rig.port)
  client.send(callText())
  await rig.fact('asked')
  return { clock, sockets, server, rig, client, connection: await server.connection(0) }
}
async function streams(connection: RawConnection): Promise<void> {
  await connection.request()
  await connection.send(sseHead + chunk(progressEvent(1)))
}
const kinds = (facts: readonly Fact[], ...wanted: Fact['kind'][]) => facts.map(({ kind }) => kind).filter((kind) => wanted.includes(kind))

test.each(['fin', 'rst', 'clean'] as const)(
  'after an idle cut (%s) the answer is read to its end; nobody is told [drain.read-on]',
  async (ending) => {
    const { clock, server, rig, client, connection } = await open([hop('idle', { idle: idle(LIMIT_MS, { ending }) })])
    await client.until('"progress":1')
    clock.advance(LIMIT_MS)
    expect(await rig.fact('closed')).toMatchObject({ atMs: LIMIT_MS, ending, cause: { kind: 'idle_timeout' } })
    if (ending !== 'clean') await client.untilEnded()
    expect(rig.listener.openCount()).toBe(1)
    clock.advance(4_000)
    await connection.send(chunk(progressEvent(2)) + chunk(resultEvent()) + lastChunk)
    expect(await rig.fact('server_over')).toMatchObject({ atMs: LIMIT_MS + 4_000, how: 'clean' })
    await rig.fact('finished')
    expect(kinds(rig.facts(), 'closed', 'told', 'server_over', 'finished')).toEqual(['closed', 'server_over', 'finished'])
    const events = rig.facts().flatMap((fact) => (fact.kind === 'event' ? [fact.at] : []))
    expect(events).toEqual(['server', 'client', 'server', 'server'])
    expect(connection.ended()).toBeNull()
    // The server's connection was never harmed: it serves the next call.
    const next = await rawClient(rig.port)
    next.send(callText())
    expect((await connection.request()).method).toBe('POST')
    expect(server.connections).toHaveLength(1)
  },
)

test('before its headers too: the client has its 504, the answer comes unseen [drain.read-on]', async () => {
  const { clock, rig, client, connection } = await open([hop('h', { headers: limit(LIMIT_MS) })], (c) => c.request())
  clock.advance(LIMIT_MS)
  expect((await client.response()).status).toBe(504)
  await connection.send(sseHead + chunk(resultEvent()) + lastChunk)
  expect(await rig.fact('server_over')).toMatchObject({ how: 'clean' })
  await rig.fact('finished')
  const heads = rig.facts().flatMap((fact) => (fact.kind === 'head' ? [`${fact.at} ${fact.status}`] : []))
  expect(heads).toEqual(['client 504', 'server 200'])
  expect(kinds(rig.facts(), 'told')).toEqual([])
})

test.each(['fin', 'rst'] as const)('a server that dies while it is drained is over, not told: %s [drain.read-on]', async (how) => {
  const { clock, rig, client, connection } = await open([hop('idle', { idle: idle(LIMIT_MS) })])
  await client.until('"progress":1')
  clock.advance(LIMIT_MS)
  await client.untilEnded()
  connection[how]()
  expect(await rig.fact('server_over')).toMatchObject({ how })
  await rig.fact('finished')
  expect(kinds(rig.facts(), 'closed', 'told')).toEqual(['closed'])
})

test.each(['fin', 'rst'] as const)('the client’s own leaving is told at once: %s [drain.leaving]', async (how) => {
  const { rig, client, connection } = await open([hop('idle', { idle: idle(LIMIT_MS) })])
  await client.until('"progress":1')
  client[how]()
  expect((await connection.untilEnded()).how).toBe('fin') // as this hop passes any leaving on
  await rig.fact('finished')
  expect(kinds(rig.facts(), 'closed', 'told', 'finished').toSorted()).toEqual(['closed', 'finished', 'told'])
})

test('its leaving after the cut changes nothing: it was gone already [drain.leaving]', async () => {
  const { clock, rig, client, connection } = await open([hop('idle', { idle: idle(LIMIT_MS, { ending: 'clean' }) })])
  await client.until('"progress":1')
  clock.advance(LIMIT_MS)
  expect((await client.response()).isWhole).toBe(true)
  client.rst()
  const other = await rawClient(rig.port)
  other.send(callText())
  await other.until('"progress":1')
  expect(connection.ended()).toBeNull()
  await connection.send(lastChunk)
  await rig.fact('finished')
  expect(kinds(rig.facts(), 'closed', 'told', 'server_over')).toEqual(['closed', 'server_over'])
})

test('after a clean cut the client’s connection serves the next call while the first is drained [drain.next]', async () => {
  const { clock, rig, client, connection } = await open([hop('idle', { idle: idle(LIMIT_MS, { ending: 'clean' }) })])
  await client.until('"progress":1')
  clock.advance(LIMIT_MS)
  await client.response()
  client.send(requestText('GET', '/mcp'))
  await rig.fact('asked', 1)
  client.fin() // leaves in the second: only that one is told
  await rig.fact('finished', 1)
  expect(kinds(rig.facts(1), 'told')).toEqual(['told'])
  expect(connection.ended()).toBeNull()
  await connection.send(lastChunk)
  await rig.fact('finished')
  expect(kinds(rig.facts(), 'told')).toEqual([])
})

test('a client that did not read does not keep the server from being read on [drain.unblocked]', async () => {
  const { clock, sockets, rig, client } = await open([hop('total', { total: total(LIMIT_MS) })], async (connection) => {
    await connection.request()
    await connection.send(sseHead)
    for (let n = 0; n < 400; n += 1) await connection.send(CHUNK)
    await connection.send(lastChunk)
  })
  client.pause()
  await sockets.untilStuck(rig.port)
  clock.advance(LIMIT_MS)
  expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'max_duration' } })
  expect(await rig.fact('server_over')).toMatchObject({ how: 'clean' })
  const seen = rig.facts().reduce((sum, fact) => sum + (fact.kind === 'moved' && fact.flow === 'seen' ? fact.bytes : 0), 0)
  expect(seen).toBe(400 * 65_536)
  expect(kinds(rig.facts(), 'told')).toEqual([])
})

test('a server that never ends is told after the longest drain [drain.bound]', async () => {
  const { clock, rig, client, connection } = await open([hop('idle', { idle: idle(LIMIT_MS) })])
  await client.until('"progress":1')
  clock.advance(LIMIT_MS)
  await client.untilEnded()
  clock.advance(DRAIN_MAX_MS - 1)
  expect(connection.ended()).toBeNull()
  clock.advance(1)
  expect((await connection.untilEnded()).how).toBe('fin')
  await rig.fact('finished')
  expect(kinds(rig.facts(), 'closed', 'told', 'finished')).toEqual(['closed', 'told', 'finished'])
})

test('an order of the operator is told at once [drain.leaving]', async () => {
  const { rig, client, connection } = await open([hop('idle', { idle: idle(LIMIT_MS) })])
  await client.until('"progress":1')
  rig.listener.cut('fin', { kind: 'operator', seat: null }, () => true)
  await connection.untilEnded()
  await client.untilEnded()
  expect(await rig.fact('told')).toMatchObject({ ending: 'fin' })
})
