/** When things arrive: heads ahead of bodies, ends by the connection, and silence without a limit. */
import { describe, expect, test } from 'vitest'
import { compileHop } from '../../src/hops/compile.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { buffering, hop, total } from '../support/line-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import type { HeaderList } from '../support/raw-http.ts'
import { callText, chunk, headText, lastChunk, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawHandler } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { relay } from '../support/relay.ts'
import type { WireRigOptions } from '../support/wire-rig.ts'
import { wireRig } from '../support/wire-rig.ts'

const watching = compileHop(hop('watching', { buffering: buffering('none'), total: total(1e9) }))

/** A server that sends its head and waits; the test goes on with its connection. */
async function waitingServer(head: string, options: WireRigOptions = {}) {
  const answerHead: RawHandler = async (connection) => {
    await connection.request()
    await connection.send(head)
  }
  const server = await rawServer(answerHead)
  const rig = await wireRig(server.url, options)
  const client = await rawClient(rig.port)
  return { rig, client, server }
}

describe('the head arrives before the body', () => {
  const bodies: readonly [string, HeaderList, string, string][] = [
    [
      'SSE in chunks',
      [
        ['Content-Type', 'text/event-stream'],
        ['Transfer-Encoding', 'chunked'],
      ],
      chunk(resultEvent()) + lastChunk,
      resultEvent(),
    ],
    ['SSE to the end of the connection', [['Content-Type', 'text/event-stream']], resultEvent(), resultEvent()],
    [
      'JSON with a length',
      [
        ['Content-Type', 'application/json'],
        ['Content-Length', '2'],
      ],
      '{}',
      '{}',
    ],
    [
      'JSON in chunks',
      [
        ['Content-Type', 'application/json'],
        ['Transfer-Encoding', 'chunked'],
      ],
      chunk('{}') + lastChunk,
      '{}',
    ],
  ]
  describe.each([
    ['nobody', []],
    ['a watching hop', watching],
  ])('%s on the line', (_, plans) => {
    test.each(bodies)('%s [transparency.head-at-once]', async (_name, headers, body, expected) => {
      const { client, server } = await waitingServer(headText(200, [['X-OBS', 'caf\xe9'], ...headers]), { plans })
      void client.send(callText())
      const head = await client.until('\r\n\r\n')
      expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\nX-OBS: caf\xe9\r\n/)
      expect(head.endsWith('\r\n\r\n')).toBe(true)
      const upstream = await server.connection(0)
      await upstream.send(body)
      if (!headers.some(([name]) => /length|encoding/i.test(name))) upstream.fin()
      expect(await client.response()).toMatchObject({ text: expected, isWhole: true })
    })
  })
})

test('an answer to the end of its connection has no chunks, says close, and closes [transparency.eof]', async () => {
  const { got, client } = await relay(callText(), [headText(200, [['X-A', '1']]), 'one', 'two'], { closes: true })
  expect(got.head).toBe('HTTP/1.1 200 OK\r\nX-A: 1\r\nConnection: close')
  expect(client.text()).toBe(`${got.head}\r\n\r\nonetwo`)
  expect((await client.untilEnded()).how).toBe('fin')
})

describe('HTTP/1.0', () => {
  const ask = 'GET /mcp HTTP/1.0\r\nHost: h\r\n\r\n'
  test('a client gets no chunks, and the end by the connection [transparency.http10]', async () => {
    const { seen, got, client } = await relay(ask, [sseHead, chunk('data: 1\n\n'), chunk('data: 2\n\n'), lastChunk], { method: 'GET' })
    expect(seen.startLine).toBe('GET /mcp HTTP/1.1')
    expect(got).toMatchObject({ framing: 'eof', text: 'data: 1\n\ndata: 2\n\n', isWhole: true })
    expect(got.header('connection')).toBe('close')
    expect((await client.untilEnded()).how).toBe('fin')
  })
  test('a client may keep its connection where the length is known [transparency.http10]', async () => {
    const kept = 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'
    const { got, client } = await relay(kept, `${headText(200, [['Content-Length', '2']])}{}`, { method: 'GET' })
    expect(got.header('connection')).toBe('keep-alive')
    expect(got.text).toBe('{}')
    expect(client.ended()).toBeNull()
  })
  test('a server of HTTP/1.0 is understood [transparency.http10]', async () => {
    const { got } = await relay(callText(), ['HTTP/1.0 200 Fine\r\nX-A: 1\r\n\r\n', 'body'], { closes: true })
    expect(got).toMatchObject({ startLine: 'HTTP/1.1 200 Fine', framing: 'eof', text: 'body', isWhole: true })
  })
})

describe('silence', () => {
  test('before the head and in mid-stream, 10 minutes each: nothing is armed, nothing ends [transparency.no-timer]', async () => {
    const clock = fakeClock()
    const server = await rawServer(async (connection) => void (await connection.request()))
    const rig = await wireRig(server.url, { clock })
    const client = await rawClient(rig.port)
    void client.send(callText())
    const upstream = await server.connection(0)
    await upstream.request()
    expect(clock.armed()).toBe(0)
    clock.advance(600_000)
    await upstream.send(sseHead + chunk(': hi\n\n'))
    await client.until(': hi')
    expect(clock.armed()).toBe(0)
    clock.advance(600_000)
    await upstream.send(chunk(resultEvent()) + lastChunk)
    expect(await client.response()).toMatchObject({ isWhole: true, text: `: hi\n\n${resultEvent()}` })
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'complete' }, ending: 'clean', atMs: 1_200_000 })
    expect(clock.armed()).toBe(0)
  })
  test('of an upload, 10 minutes [transparency.no-timer]', async () => {
    const clock = fakeClock()
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send(headText(202, [['Content-Length', '0']]))
    })
    const rig = await wireRig(server.url, { clock })
    const client = await rawClient(rig.port)
    void client.send(requestText('POST', '/', [['Content-Length', '6']], 'one'))
    await (await server.connection(0)).until('one')
    expect(clock.armed()).toBe(0)
    clock.advance(600_000)
    void client.send('two')
    expect((await client.response()).status).toBe(202)
  })
})
