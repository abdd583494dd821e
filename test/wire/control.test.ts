/** Control while streams are open, over real sockets: what is taken away lets go of what it held; what is added or edited waits for the next. */
import { expect, test } from 'vitest'
import { controlRig } from '../support/control-rig.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { hop, total } from '../support/line-rig.ts'
import type { RawSocket } from '../support/raw-client.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, lastChunk, progressEvent, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'

type Rig = Awaited<ReturnType<typeof controlRig>>
/** How a fault is taken away. */
const WAYS = {
  removal: (rig: Rig) => void rig.control.remove('f'),
  disabling: (rig: Rig) => void rig.control.patch('f', { enabled: false }),
  stop: (rig: Rig) => rig.control.stop(),
  expiry: (_: Rig, clock: ReturnType<typeof fakeClock>) => clock.advance(600_000),
} as const
type Way = keyof typeof WAYS
const ways = Object.keys(WAYS) as Way[]

async function called(fault: object, more: Parameters<typeof controlRig>[1] = {}) {
  const clock = fakeClock()
  const upstream = await rawServer(() => undefined)
  const rig = await controlRig(upstream.url, { faults: [{ for: '10m', ...fault }], clock, ...more })
  const open = async (): Promise<{ client: RawSocket; connection: RawConnection }> => {
    const client = await rawClient(rig.port)
    const index = upstream.connections.length
    client.send(callText())
    const connection = await upstream.connection(index)
    await connection.until('tools/call')
    return { client, connection }
  }
  const take = (way: Way): void => WAYS[way](rig, clock)
  return { clock, upstream, rig, open, take }
}
const eventsSeen = (rig: Rig, count: number) =>
  expect.poll(() => rig.facts().filter((fact) => fact.kind === 'event' && fact.at === 'server').length, { timeout: 10_000 }).toBe(count)

test.each(ways)('%s: held bytes go on in order, and later ones follow at once [faults2.release-held]', async (way) => {
  for (const form of [
    { buffer: { mode: 'full', holdHeaders: true } },
    { latency: { delay: '20m', on: 'event' } },
    { delay: { what: 'progress', by: '20m' } },
    { slice: { size: 1, every: '20m' } },
    { stall: { from: 'headers' } },
    { stall: { from: 'body' } },
  ]) {
    const { rig, open, take } = await called({ do: form })
    const { client, connection } = await open()
    connection.send(sseHead + chunk(progressEvent(1)))
    await expect.poll(rig.notes).toContain('f fired')
    if (!('stall' in form)) {
      connection.send(chunk(progressEvent(2)))
      if (!('slice' in form)) await eventsSeen(rig, 2)
    }
    expect([way, form, client.text().includes('"progress":1')]).toEqual([way, form, false])
    take(way)
    connection.send(chunk(resultEvent()) + lastChunk)
    const answer = await client.response()
    const held = 'stall' in form ? progressEvent(1) : progressEvent(1) + progressEvent(2)
    expect([form, answer.text, answer.isWhole]).toEqual([form, held + resultEvent(), true])
  }
})

test.each(ways)('%s: a pending cut lapses; what was cut stays cut [faults2.release-cut]', async (way) => {
  for (const form of [
    { cut: { after: { events: 2 } } },
    { cut: { after: { time: '20m' } } },
    { 'idle-timeout': { after: '20m' } },
    { cut: { before: 'result' } },
  ]) {
    const { clock, rig, open, take } = await called({ do: form })
    const { client, connection } = await open()
    connection.send(sseHead + chunk(progressEvent(1)))
    await client.until('"progress":1')
    take(way)
    if (way !== 'expiry') clock.advance(1_800_000)
    connection.send(chunk(progressEvent(2)) + chunk(progressEvent(3) + resultEvent()) + lastChunk)
    const answer = await client.response()
    expect([form, answer.text, answer.isWhole]).toEqual([
      form,
      progressEvent(1) + progressEvent(2) + progressEvent(3) + resultEvent(),
      true,
    ])
    expect(rig.record().cause).toBe('complete')
  }
  const cut = await called({ do: { cut: { after: { events: 1 } } } })
  const { client, connection } = await cut.open()
  connection.send(sseHead + chunk(progressEvent(1)))
  expect((await client.untilEnded()).how).toBe('fin')
  cut.take(way)
  await cut.rig.fact('finished')
  expect(cut.rig.record()).toMatchObject({ cause: 'fault', fault: 'f' })
})

test.each(ways)('%s: a server from whom a leaving was hidden is told then [faults2.release-hidden]', async (way) => {
  for (const form of [{ 'hide-disconnect': {} }, { 'half-open': { for: '30m' } }]) {
    const { rig, open, take } = await called({ do: form })
    const { client, connection } = await open()
    connection.send(sseHead)
    await client.until('\r\n\r\n')
    client.fin()
    await rig.fact('closed')
    connection.send(chunk(progressEvent(1)))
    await eventsSeen(rig, 1)
    expect(connection.ended()).toBeNull()
    take(way)
    expect((await connection.untilEnded()).how).toBe('fin')
    await rig.fact('finished')
  }
})

test('a request held for latency goes on when its fault is taken away [faults2.release-held]', async () => {
  const clock = fakeClock()
  const upstream = await rawServer(() => undefined)
  const rig = await controlRig(upstream.url, { clock, faults: [{ do: { latency: { delay: '1h', on: 'request' } } }] })
  const client = await rawClient(rig.port)
  client.send(callText())
  await rig.fact('asked')
  rig.control.remove('f')
  await (await upstream.connection(0)).until('tools/call')
})

test('taking one fault away leaves the others and the hops where they are [faults2.release-held]', async () => {
  const { rig, clock, open } = await called(
    { do: { latency: { delay: '1h', on: 'headers' } } },
    {
      faults: [{ do: { latency: { delay: '1h', on: 'headers' } } }, { name: 'g', do: { cut: { after: { events: 2 } } } }],
      path: [hop('nginx', { total: total(60_000) })],
    },
  )
  const [one, two] = [await open(), await open()]
  one.connection.send(sseHead)
  two.connection.send(sseHead)
  await rig.fact('head', 1)
  rig.control.remove('f')
  await one.client.until('\r\n\r\n')
  one.connection.send(chunk(progressEvent(1)) + chunk(progressEvent(2)))
  expect((await one.client.untilEnded()).how).toBe('fin')
  clock.advance(60_000)
  expect((await two.client.untilEnded()).how).toBe('fin')
  await rig.fact('finished', 1)
  expect([rig.record(0).fault, rig.record(1).hop]).toEqual(['g', 'nginx'])
})

test('additions, edits and a new path reach exchanges opened later; an open one keeps what it opened with [faults2.change-later]', async () => {
  const { rig, clock, open } = await called({ do: { 'max-duration': { after: '10s' } } })
  const first = await open()
  first.connection.send(sseHead)
  await first.client.until('\r\n\r\n')
  expect(rig.control.patch('f', { do: { 'max-duration': { after: '5s' } } })).toBeNull()
  expect(rig.control.add({ name: 'g', do: { headers: { response: { set: { 'X-New': '1' } } } } })).toBeNull()
  rig.control.setPath([hop('nginx', { total: total(3_000) })], {})
  rig.reload([{ name: 'h', do: { cut: { after: { time: '1s' } } } }])
  const second = await open()
  second.connection.send(sseHead)
  expect(await second.client.until('\r\n\r\n')).toContain('X-New: 1')
  clock.advance(1_000)
  expect((await second.client.untilEnded()).how).toBe('fin')
  clock.advance(8_999)
  expect(first.client.ended()).toBeNull()
  clock.advance(1)
  expect((await first.client.untilEnded()).how).toBe('fin')
  await rig.fact('finished', 0)
  expect([rig.record(0).cause, rig.record(0).closedMs, rig.record(1).fault]).toEqual(['max_duration', 10_000, 'h'])
})

test("the API's path taken away, or ended, leaves open exchanges; the file's stays with them [faults2.release-path]", async () => {
  for (const way of ['reset', 'expiry', 'stop'] as const) {
    const { rig, clock, open } = await called({ do: { refuse: {} } }, { faults: [], path: [hop('a', { total: total(120_000) })] })
    const byFile = await open()
    rig.control.setPath([hop('b', { total: total(60_000) })], { for: '30s' })
    const byApi = await open()
    for (const { client, connection } of [byFile, byApi]) {
      connection.send(sseHead)
      await client.until('\r\n\r\n')
    }
    if (way === 'reset') rig.control.resetPath()
    else if (way === 'stop') rig.control.stop()
    clock.advance(60_000)
    expect([way, byApi.client.ended()]).toEqual([way, null])
    clock.advance(60_000)
    if (way === 'stop') expect(byFile.client.ended()).toBeNull()
    else expect((await byFile.client.untilEnded()).how).toBe('fin')
    expect(byApi.client.ended()).toBeNull()
  }
})

test('stop outlives reloads until resume; a request that waits for its body opens in pass-through [faults2.stop-live]', async () => {
  const { rig, upstream } = await called({ do: { cut: { before: 'request' } }, when: { tool: 'x' } })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: {} } })
  const client = await rawClient(rig.port)
  client.send(`POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`)
  await rig.fact('moved')
  rig.control.stop()
  rig.reload([{ name: 'g', do: { cut: { before: 'request' } } }])
  client.send(body.slice(9))
  await (await upstream.connection(0)).until('tools/call')
  expect(rig.control.state().isStopped).toBe(true)
  rig.control.resume()
  const later = await rawClient(rig.port)
  later.send(callText())
  expect((await later.untilEnded()).how).toBe('fin')
})

test('cut: open streams that match every key given, by the ending asked for; how many [faults2.cut-live]', async () => {
  const upstream = await rawServer(async (connection) => {
    await connection.request()
    connection.send(sseHead + chunk(progressEvent(1)))
  })
  const clock = fakeClock()
  const rig = await controlRig(upstream.url, { clock })
  const open = async (tool: string): Promise<RawSocket> => {
    const client = await rawClient(rig.port)
    client.send(callText(tool))
    await client.until('"progress":1')
    return client
  }
  const old = await open('render')
  clock.advance(5_000)
  const [render, search, other] = [await open('render'), await open('search_a'), await open('other')]
  expect(rig.steering.cutOpen({ tool: 'nothing' })).toBe(0)
  expect(rig.steering.cutOpen({ tool: 'render', olderThan: '4s', ending: 'rst' })).toBe(1)
  expect((await old.untilEnded()).how).toBe('rst')
  expect(rig.steering.cutOpen({ tool: 'search_*', method: 'tools/call', kind: 'call', revision: '2026-*' })).toBe(1)
  expect((await search.untilEnded()).how).toBe('fin')
  expect([render.ended(), other.ended()]).toEqual([null, null])
  expect(rig.steering.cutOpen({ id: 'c4' })).toBe(1)
  await other.untilEnded()
  expect(rig.steering.cutOpen({ all: true })).toBe(1)
  await render.untilEnded()
  expect((await upstream.connection(0)).ended()?.how).toBeOneOf(['fin', 'rst'])
  expect([rig.record(0), rig.record(2)]).toMatchObject([
    { cause: 'operator', closedBy: 'sidecar', ending: 'rst' },
    { cause: 'operator', ending: 'fin' },
  ])
})
