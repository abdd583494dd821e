/** Hops, faults and control on WebSocket sessions: what cuts one, how it looks on both sides, and what takes a limit off. */
import { describe, expect, test } from 'vitest'
import type { IdleLimit, Limit } from '../../src/hops/hop.ts'
import { controlRig } from '../support/control-rig.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { rawServer } from '../support/raw-server.ts'
import { acceptRaw, echo, rawFrame, rawSession, refusedClient, wsClient, wsServer } from '../support/websocket-rig.ts'

const limit: Limit = {
  afterMs: 60_000,
  answer: { status: 504, reason: '', rawHeaders: [], body: 'too late' },
  ending: 'fin',
  upstream: 'fin',
}
const idle: IdleLimit = { ...limit, counts: 'bytes', direction: 'response', rearmMs: 0 }
const hop = { name: 'path[0]:h', preset: 'h' }

/** Both ends bare, and time stands until it is moved. */
async function bareSession(options: Parameters<typeof controlRig>[1]) {
  const clock: FakeClock = fakeClock()
  const server = await rawServer(acceptRaw, { answersFin: false })
  const rig = await controlRig(server.url, { clock, ...options })
  const client = await rawSession(rig.port)
  await rig.fact('asked')
  return { clock, rig, client, session: await server.connection(0) }
}
const serverFrame = (opcode: number, text: string): Buffer => Buffer.concat([Buffer.of(0x80 | opcode, text.length), Buffer.from(text)])

describe('idle', () => {
  test('cuts a silent session when its time is over, not before [websocket.idle] [websocket.cut-form]', async () => {
    const { clock, rig, client, session } = await bareSession({ path: [{ ...hop, idle }] })
    clock.advance(59_999)
    expect(rig.facts().some(({ kind }) => kind === 'closed')).toBe(false)
    clock.advance(1)
    expect((await client.untilEnded()).how).toBe('fin')
    expect((await session.untilEnded()).how).toBe('fin')
    expect(client.text()).not.toContain('\x88')
    expect(session.text()).not.toContain('\x88')
    expect(rig.record()).toMatchObject({
      kind: 'websocket',
      status: 101,
      closedMs: 60_000,
      closedBy: 'sidecar',
      cause: 'idle_timeout',
      hop: 'h',
      ending: 'fin',
      toldMs: 60_000,
      silenceAtCloseMs: 60_000,
    })
    await rig.fact('finished')
  })

  test.each([
    [9, 'a ping'],
    [10, 'a pong'],
    [1, 'a message'],
    [2, 'an empty message'],
  ])('a frame of the server keeps it: opcode %i, %s [websocket.idle]', async (opcode, text) => {
    const { clock, rig, client, session } = await bareSession({ path: [{ ...hop, idle: { ...idle, counts: 'events' } }] })
    const said = text === 'an empty message' ? '' : text
    clock.advance(59_000)
    await session.send(serverFrame(opcode, said))
    await client.until(serverFrame(opcode, said).toString('latin1'))
    clock.advance(59_999)
    expect(rig.facts().some(({ kind }) => kind === 'closed')).toBe(false)
    clock.advance(1)
    await client.untilEnded()
    expect(rig.record()).toMatchObject({ cause: 'idle_timeout', closedMs: 119_000, longestSilenceMs: 60_000 })
  })

  test('the client’s frames count where the direction is both, and only there [websocket.idle]', async () => {
    for (const direction of ['response', 'both'] as const) {
      const { clock, rig, client, session } = await bareSession({ path: [{ ...hop, idle: { ...idle, direction } }] })
      clock.advance(59_000)
      client.send(rawFrame(1, 'still here'))
      await session.until('\x81\x8a')
      clock.advance(59_000)
      expect(rig.facts().some(({ kind }) => kind === 'closed')).toBe(direction === 'response')
      clock.advance(1_000)
      await client.untilEnded()
      expect(rig.record()).toMatchObject({ cause: 'idle_timeout', closedMs: direction === 'both' ? 119_000 : 60_000 })
    }
  })
})

describe('the form of a cut', () => {
  test('rst to the client, rst to the server [websocket.cut-form]', async () => {
    const { clock, rig, client, session } = await bareSession({ path: [{ ...hop, idle: { ...idle, ending: 'rst', upstream: 'rst' } }] })
    clock.advance(60_000)
    expect((await client.untilEnded()).how).toBe('rst')
    expect((await session.untilEnded()).how).toBe('rst')
    expect(rig.record()).toMatchObject({ ending: 'rst', cause: 'idle_timeout' })
  })

  test('clean is a Close 1001, and the connection ends once it is answered, or after a while [websocket.cut-form]', async () => {
    for (const isAnswered of [true, false]) {
      const { clock, rig, client, session } = await bareSession({ path: [{ ...hop, idle: { ...idle, ending: 'clean' } }] })
      clock.advance(60_000)
      await client.until('\x88\x02\x03\xe9')
      await session.untilEnded()
      expect(client.ended()).toBeNull()
      if (isAnswered) client.send(rawFrame(8, Uint8Array.of(0x03, 0xe9)))
      else clock.advance(5_000)
      expect((await client.untilEnded()).how).toBe('fin')
      expect(rig.record()).toMatchObject({ ending: 'clean', cause: 'idle_timeout', hop: 'h' })
      session.fin()
      await rig.fact('finished')
    }
  })

  test('upstream none: the server is not told, and is read on until it ends [websocket.cut-form]', async () => {
    const { clock, rig, client, session } = await bareSession({ path: [{ ...hop, idle: { ...idle, upstream: 'none' } }] })
    clock.advance(60_000)
    await client.untilEnded()
    await session.send(serverFrame(1, 'unheard'))
    await rig.fact('moved', 0, ({ flow, bytes }) => flow === 'seen' && bytes === 9)
    expect(session.ended()).toBeNull()
    expect(rig.record()).toMatchObject({ toldMs: null })
    session.fin()
    await rig.fact('finished')
  })

  test('clean in the middle of a frame is a FIN, and told as one [websocket.cut-form] [websocket.faults]', async () => {
    const { rig, client, session } = await bareSession({
      faults: [{ when: { kind: 'websocket' }, do: { cut: { after: { bytes: 5 }, ending: 'clean' } } }],
    })
    session.send(serverFrame(1, 'a long message'))
    expect((await client.untilEnded()).how).toBe('fin')
    expect(client.text().slice(client.text().indexOf('\r\n\r\n') + 4)).toBe('\x81\x0ea l')
    expect(rig.record()).toMatchObject({ ending: 'fin', cause: 'fault', fault: 'f', notices: ['clean-became-fin'] })
  })
})

test('total cuts a busy session [websocket.total]', async () => {
  const { clock, rig, client, session } = await bareSession({
    path: [{ ...hop, idle, total: { ...limit, from: 'request', at: 'deadline' } }],
  })
  for (let n = 1; n < 60; n += 1) {
    clock.advance(1_000)
    await session.send(serverFrame(1, `m${n}.`))
    await client.until(`m${n}.`)
  }
  expect(rig.facts().some(({ kind }) => kind === 'closed')).toBe(false)
  clock.advance(1_000)
  await client.untilEnded()
  expect(rig.record()).toMatchObject({ cause: 'max_duration', closedMs: 60_000, ending: 'fin' })
})

test('a handshake that is not answered in time gets the hop’s answer, and the server is told [websocket.before-head]', async () => {
  const clock = fakeClock()
  const server = await rawServer((connection) => connection.request(), { answersFin: false })
  for (const limits of [{ idle }, { headers: limit }]) {
    const rig = await controlRig(server.url, { clock, path: [{ ...hop, ...limits }] })
    const before = server.connections.length
    const refused = refusedClient(rig.port)
    await (await server.connection(before)).request()
    await rig.fact('asked')
    clock.advance(60_000)
    expect(await refused).toMatchObject({ status: 504, body: 'too late' })
    await (await server.connection(before)).untilEnded()
    expect(rig.record()).toMatchObject({ kind: 'websocket', status: 504, closedBeforeHeaders: true, hop: 'h', ending: 'clean' })
    await rig.fact('finished')
    await expect.poll(() => rig.listener.openCount()).toBe(0)
  }
})

test('in shadow the session lives on, and its record says what would have cut it [websocket.shadow]', async () => {
  const { clock, rig, client, session } = await bareSession({ path: [{ ...hop, idle }], snapshot: { mode: 'shadow' } })
  clock.advance(70_000)
  await session.send(serverFrame(1, 'alive'))
  await client.until('alive')
  expect(rig.record().wouldCut).toMatchObject([{ hop: 'h', cause: 'idle_timeout', atMs: 60_000 }])
  expect(rig.facts().some(({ kind }) => kind === 'closed')).toBe(false)
})

test('a hop’s buffering holds no frame, nor the 101 [websocket.tunnel]', async () => {
  const { client, session } = await bareSession({
    path: [
      {
        ...hop,
        buffering: { mode: 'full', holdHeaders: true, atCut: 'flush', honours: [] },
        request: { buffer: true, bodyMaxBytes: 10, retry: null },
      },
    ],
  })
  await session.send(serverFrame(1, 'at once'))
  await client.until('at once')
  client.send(rawFrame(1, 'more than ten bytes'))
  await session.until('\x81\x93')
})

test('a hop that ends truncated answers well-formed makes no Close of a server’s end [websocket.tunnel]', async () => {
  const { client, session, rig } = await bareSession({
    path: [{ ...hop, upstreamLoss: { beforeHeaders: null, midStream: { fin: 'clean', rst: 'clean' } } }],
  })
  session.fin()
  expect((await client.untilEnded()).how).toBe('fin')
  expect(client.text()).not.toContain('\x88')
  expect(rig.record()).toMatchObject({ cause: 'server_close', ending: 'fin' })
})

describe('faults', () => {
  test('a cut by time, by bytes, and the idle timer act where kind is websocket [websocket.faults]', async () => {
    for (const [form, cause] of [
      [{ cut: { after: { time: '2s' }, ending: 'rst' } }, 'fault'],
      [{ cut: { after: { bytes: 20 }, ending: 'fin' } }, 'fault'],
      [{ 'idle-timeout': { after: '2s' } }, 'idle_timeout'],
      [{ 'max-duration': { after: '2s' } }, 'max_duration'],
    ] as const) {
      const { clock, rig, client, session } = await bareSession({ faults: [{ when: { kind: 'websocket' }, do: form }] })
      await session.send(serverFrame(1, 'ten bytes.'))
      await client.until('ten bytes.')
      await session.send(serverFrame(1, 'and another'))
      if (!('cut' in form && 'bytes' in form.cut.after)) clock.advance(2_000)
      await client.untilEnded()
      expect(rig.record()).toMatchObject({ cause, fault: 'f' })
      expect(rig.tally('f').fired).toBe(1)
    }
  })

  test('a refusal of the fault’s own comes instead of the session [websocket.faults]', async () => {
    const server = await wsServer()
    const rig = await controlRig(server.url, { faults: [{ when: { kind: 'websocket' }, do: { respond: { status: 503, body: 'no' } } }] })
    expect(await refusedClient(rig.port)).toMatchObject({ status: 503, body: 'no' })
    await rig.fact('finished')
    expect(server.requests).toHaveLength(0)
  })

  test('a hidden leaving is told later, or never while the server goes on [websocket.faults]', async () => {
    const { clock, rig, client, session } = await bareSession({
      faults: [{ when: { kind: 'websocket' }, do: { 'half-open': { for: '30s' } } }],
    })
    client.fin()
    await rig.fact('closed')
    await session.send(serverFrame(1, 'unheard'))
    await rig.fact('moved', 0, ({ flow }) => flow === 'seen')
    expect(session.ended()).toBeNull()
    clock.advance(30_000)
    await session.untilEnded()
    await rig.fact('finished')
  })
})

describe('control', () => {
  test('an order cuts open sessions, both sides at once [websocket.control]', async () => {
    for (const ending of ['fin', 'rst'] as const) {
      const { rig, client, session } = await bareSession({})
      expect(rig.listener.openCount()).toBe(1)
      expect(rig.listener.cut(ending, { kind: 'operator', seat: null }, () => true)).toBe(1)
      expect((await client.untilEnded()).how).toBe(ending)
      await session.untilEnded()
      expect(rig.record()).toMatchObject({ cause: 'operator', ending })
      await rig.fact('finished')
    }
  })

  test('stop takes limits and faults off open sessions [websocket.control]', async () => {
    const { clock, rig, client, session } = await bareSession({
      path: [{ ...hop, idle }],
      faults: [{ when: { kind: 'websocket' }, do: { stall: { from: 'body' } } }],
    })
    await session.send(serverFrame(1, 'held'))
    await rig.control.stop()
    await client.until('held')
    clock.advance(600_000)
    client.send(rawFrame(1, 'still open'))
    await session.until('\x81\x8a')
    expect(rig.facts().some(({ kind }) => kind === 'closed')).toBe(false)
  })

  test('closing the listener ends what is open, and the server is told [websocket.control]', async () => {
    const server = await wsServer({ onSession: echo })
    const rig = await controlRig(server.url)
    const client = await wsClient(rig.port)
    const session = await server.session()
    await rig.listener.close()
    expect((await client.closed).code).toBe(1006)
    expect((await session.closed).code).toBe(1006)
    await rig.fact('finished')
  })
})
