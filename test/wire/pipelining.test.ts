/** Requests sent before the answer to the last: each waits its turn, so many wait and no more, and none opens for a client that left. */
import { expect, test } from 'vitest'
import { compileLine } from '../../src/hops/compile.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { hop, idle } from '../support/line-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { watchSockets } from '../support/socket-watch.ts'
import { wireRig } from '../support/wire-rig.ts'

const get = (target: string): string => requestText('GET', target)

/** Answers each request with its target; `/slow` begins an answer and leaves the rest to the test. */
async function echo(connection: RawConnection): Promise<void> {
  for (;;) {
    const { target } = await connection.request(30_000)
    if (target === '/slow') {
      await connection.send(sseHead + chunk(progressEvent(1)))
      continue
    }
    await connection.send(headText(200, [['Content-Length', String(target.length)]]) + target)
  }
}

test('the second is not dialled, counted or timed before the first’s answer is whole [pipelining.turns]', async () => {
  const server = await rawServer(echo)
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  client.send(get('/slow') + get('/two') + callText())
  await client.until('"progress":1')
  // Another client's exchange passes whole meanwhile: the two still wait.
  const other = await rawClient(rig.port)
  other.send(get('/other'))
  expect((await other.response({ method: 'GET' })).text).toBe('/other')
  expect(rig.exchangeCount()).toBe(2)
  expect(server.connections).toHaveLength(2)
  const connection = await server.connection(0)
  connection.send(chunk(resultEvent()) + lastChunk)
  expect((await client.response()).text).toBe(progressEvent(1) + resultEvent())
  expect((await client.response({ method: 'GET' })).text).toBe('/two')
  expect((await client.response()).text).toBe('/mcp')
  const order = [0, 2, 3].map((n) => rig.facts(n)[0]).map((fact) => (fact?.kind === 'opened' ? fact.target : null))
  expect(order).toEqual(['/slow', '/two', '/mcp'])
  const closed = rig.facts(0).find(({ kind }) => kind === 'closed')
  expect(rig.facts(2)[0]?.atMs).toBeGreaterThanOrEqual(closed?.atMs ?? Infinity)
  expect(rig.facts(2).filter(({ kind }) => kind === 'finished')).toHaveLength(1)
})

test('a limit of the second counts from its own turn [pipelining.turns]', async () => {
  const clock = fakeClock()
  const server = await rawServer(async (connection) => {
    await connection.request()
    if (connection.index === 0) await connection.send(sseHead + chunk(progressEvent(1)))
  })
  const rig = await wireRig(server.url, { clock, plans: compileLine([hop('idle', { idle: idle(1_000) })], []) })
  const client = await rawClient(rig.port)
  client.send(callText() + callText())
  await client.until('"progress":1')
  clock.advance(900)
  ;(await server.connection(0)).send(chunk(resultEvent()) + lastChunk)
  expect((await client.response()).isWhole).toBe(true)
  await rig.fact('asked', 1)
  clock.advance(999)
  expect(rig.facts(1).some(({ kind }) => kind === 'closed')).toBe(false)
  clock.advance(1)
  expect((await client.response()).status).toBe(504)
  expect(await rig.fact('closed', 1)).toMatchObject({ atMs: 1_900 })
})

test('sixteen wait; the seventeenth is refused in its turn, and told why [pipelining.limit]', async () => {
  const server = await rawServer(echo)
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  const waiting = Array.from({ length: 16 }, (_, n) => `/w${n}`)
  client.send([get('/slow'), ...waiting.map(get), get('/refused'), get('/behind')].join(''))
  await client.until('"progress":1')
  ;(await server.connection(0)).send(lastChunk)
  expect((await client.response()).isWhole).toBe(true)
  for (const target of waiting) expect((await client.response({ method: 'GET' })).text).toBe(target)
  const refusal = await client.response({ method: 'GET' })
  expect(refusal).toMatchObject({ status: 503, text: expect.stringMatching(/^impatient-hop: more than 16 pipelined requests wait .*\n$/) })
  expect(refusal.header('connection')).toBe('close')
  expect((await client.untilEnded()).how).toBe('fin')
  expect(rig.exchangeCount()).toBe(17)
})

test.each(['fin', 'rst'] as const)('a client that leaves (%s) with requests waiting opens none of them [pipelining.left]', async (how) => {
  const sockets = watchSockets()
  const server = await rawServer(echo)
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  client.send(get('/slow') + get('/two') + get('/three'))
  await client.until('"progress":1')
  client[how]()
  await rig.fact('finished')
  expect((await (await server.connection(0)).untilEnded()).how).toBe(how)
  if (how === 'fin') expect((await client.untilEnded()).how).toBe('fin')
  await sockets.untilNoneAccepted(rig.port)
  expect([rig.exchangeCount(), server.connections.length]).toEqual([1, 1])
})

test('nor does one whose half-close is tolerated: the answer under way is the last [pipelining.left]', async () => {
  const sockets = watchSockets()
  const server = await rawServer(echo)
  const clientAbort = { midStream: 'at-once', beforeHeaders: 'at-once', halfClose: 'tolerate', upstream: 'fin' } as const
  const rig = await wireRig(server.url, { plans: compileLine([hop('tolerant', { clientAbort })], []) })
  const client = await rawClient(rig.port)
  client.send(get('/slow') + get('/two'))
  client.fin()
  await client.until('"progress":1')
  ;(await server.connection(0)).send(lastChunk)
  expect(await client.response({ method: 'GET' })).toMatchObject({ isWhole: true, text: progressEvent(1) })
  expect((await client.untilEnded()).how).toBe('fin')
  await sockets.untilNoneAccepted(rig.port)
  expect(rig.exchangeCount()).toBe(1)
})

test('a cut by FIN of the first leaves the rest unopened; a clean one lets them have their turn [pipelining.cut]', async () => {
  for (const ending of ['fin', 'rst', 'clean'] as const) {
    const clock = fakeClock()
    const sockets = watchSockets()
    const server = await rawServer(echo)
    const rig = await wireRig(server.url, { clock, plans: compileLine([hop('idle', { idle: idle(1_000, { ending }) })], []) })
    const client = await rawClient(rig.port)
    client.send(get('/slow') + get('/two'))
    await client.until('"progress":1')
    clock.advance(1_000)
    if (ending === 'clean') {
      expect((await client.response({ method: 'GET' })).isWhole).toBe(true)
      expect((await client.response({ method: 'GET' })).text).toBe('/two')
      expect(rig.exchangeCount()).toBe(2)
    } else {
      expect((await client.untilEnded()).how).toBe(ending)
      await sockets.untilNoneAccepted(rig.port)
      expect(rig.exchangeCount()).toBe(1)
    }
  }
})

test('waiting requests are refused nothing when the server dies under the first [pipelining.cut]', async () => {
  const server = await rawServer(async (connection) => {
    if (connection.index > 0) return echo(connection)
    await connection.request()
    connection.rst()
  })
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  client.send(callText() + get('/two'))
  expect((await client.response()).status).toBe(502)
  expect((await client.response({ method: 'GET' })).text).toBe('/two')
})

test('bytes that are no request, behind one under way, are a client’s own leaving, and end nothing else [pipelining.junk]', async () => {
  const server = await rawServer(echo)
  const rig = await wireRig(server.url)
  const client = await rawClient(rig.port)
  client.send(get('/slow'))
  await client.until('"progress":1')
  client.send('junk junk junk\r\n\r\n')
  await rig.fact('finished')
  await (await server.connection(0)).untilEnded()
  await client.untilEnded()
  expect(rig.facts().filter(({ kind }) => kind === 'closed')).toMatchObject([{ cause: { kind: 'client_abort' } }])
  const next = await rawClient(rig.port)
  next.send(get('/next'))
  expect((await next.response({ method: 'GET' })).text).toBe('/next')
})
