/** Odd and hostile requests: refused in words, never passed on as two. */
import { describe, expect, test } from 'vitest'
import { MIB } from '../support/memory.ts'
import { rawClient } from '../support/raw-client.ts'
import type { HeaderList } from '../support/raw-http.ts'
import { callText, chunk, headText, lastChunk, requestText, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'
import { relay, until } from '../support/relay.ts'
import type { WireRig } from '../support/wire-rig.ts'
import { wireRig } from '../support/wire-rig.ts'

const OK = `${headText(200, [['Content-Length', '2']])}{}`
const long = (bytes: number): string => 'x'.repeat(bytes)

/** The sidecar still serves. */
async function stillServes(rig: WireRig): Promise<void> {
  const client = await rawClient(rig.port)
  void client.send(requestText('GET', '/after'))
  expect([200, 502]).toContain((await client.response({ method: 'GET' })).status)
}

describe('requests that are none', () => {
  const refusals: readonly [string, string, number, RegExp][] = [
    ['no HTTP', 'hello\r\n\r\n', 400, /not a valid HTTP\/1\.1 request/],
    ['an unknown method', 'FOO / HTTP/1.1\r\nHost: h\r\n\r\n', 400, /HPE_INVALID_METHOD/],
    ['a control character in a value', 'GET / HTTP/1.1\r\nX-A: a\u0001b\r\n\r\n', 400, /HPE_INVALID_HEADER_TOKEN/],
    ['a blank before the colon', 'GET / HTTP/1.1\r\nX-A : b\r\n\r\n', 400, /HPE_/],
    ['a folded header', 'GET / HTTP/1.1\r\nX-A: a\r\n b\r\n\r\n', 400, /HPE_/],
    ['a control character in the target', 'GET /\u0001 HTTP/1.1\r\n\r\n', 400, /HPE_INVALID_URL/],
    [
      'both lengths',
      requestText('POST', '/', [
        ['Content-Length', '2'],
        ['Transfer-Encoding', 'chunked'],
      ]),
      400,
      /HPE_/,
    ],
    [
      'two lengths',
      requestText('POST', '/', [
        ['Content-Length', '2'],
        ['Content-Length', '3'],
      ]),
      400,
      /HPE_UNEXPECTED_CONTENT_LENGTH/,
    ],
    ['chunked that is not last', requestText('POST', '/', [['Transfer-Encoding', 'chunked, gzip']]), 400, /HPE_INVALID_TRANSFER_ENCODING/],
    ['CONNECT', 'CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n', 405, /CONNECT is for forward proxies/],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400, /not a valid/],
    ['a head over 64 KiB', requestText('GET', '/', [['X-A', long(70_000)]]), 431, /larger than 64 KiB/],
    ['a target over 64 KiB', requestText('GET', `/${long(70_000)}`), 431, /larger than 64 KiB/],
  ]
  test.each(refusals)('%s [hostile.bad-request]', async (_, request, status, why) => {
    const server = await rawServer((connection) => connection.send(OK))
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    void client.send(request)
    const got = await client.response()
    expect(got).toMatchObject({ status, isWhole: true })
    expect(got.text).toMatch(why)
    expect((await client.untilEnded()).how).toBe('fin')
    expect(server.connections).toEqual([])
    expect(rig.exchangeCount()).toBe(0)
    await stillServes(rig)
  })
  test.each([400_000, 3 * MIB])('the 431 arrives though %d bytes of head are on their way [hostile.bad-request]', async (bytes) => {
    const server = await rawServer((connection) => connection.send(OK))
    const rig = await wireRig(server.url)
    for (let count = 0; count < 10; count += 1) {
      const client = await rawClient(rig.port)
      void client.send(requestText('GET', '/', [['X-A', long(bytes)]]))
      expect((await client.response()).status).toBe(431)
    }
  })
  test('a bad chunk size in an upload ends both sides, and is no whole request [hostile.bad-request]', async () => {
    const server = await rawServer(async (connection) => void (await connection.request()))
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    void client.send(requestText('POST', '/', [['Transfer-Encoding', 'chunked']]) + chunk('{}'))
    await (await server.connection(0)).until('{}')
    void client.send('zz\r\nxx\r\n0\r\n\r\n')
    await client.untilEnded()
    await server.connections[0]?.untilEnded()
    expect(server.connections[0]?.text()).not.toContain('0\r\n\r\n')
    await until('nothing is open', () => rig.listener.openCount() === 0)
  })
  test('a second request that is none, behind a good one that streams, is no clean end of it [hostile.bad-request]', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send(sseHead + chunk('data: 1\n\n'))
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    void client.send(callText())
    await client.until('data: 1')
    void client.send('garbage garbage\r\n\r\n')
    await client.untilEnded()
    expect((await client.response()).isWhole).toBe(false)
    await server.connections[0]?.untilEnded()
    await until('nothing is open', () => rig.listener.openCount() === 0)
  })
  test('CONNECT is not served, and ends nothing else [hostile.bad-request]', async () => {
    const server = await rawServer((connection) => connection.send(OK))
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    void client.send('CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n')
    await client.untilEnded()
    expect(server.connections).toEqual([])
    await stillServes(rig)
  })
})

describe('no smuggling', () => {
  const inner = 'GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n'
  const named: readonly [string, HeaderList, string][] = [
    [
      'Connection: content-length',
      [
        ['Connection', 'content-length'],
        ['Content-Length', String(inner.length)],
      ],
      inner,
    ],
    [
      'Connection: transfer-encoding',
      [
        ['Connection', 'transfer-encoding'],
        ['Transfer-Encoding', 'chunked'],
      ],
      chunk(inner) + lastChunk,
    ],
    [
      'Connection: close, te, content-length',
      [
        ['Connection', 'close, te ,Content-Length'],
        ['Content-Length', String(inner.length)],
      ],
      inner,
    ],
  ]
  test.each(named)('%s [hostile.no-smuggling]', async (_, headers, body) => {
    const { seen, server, rig } = await relay(requestText('POST', '/', headers) + body, OK)
    expect(seen).toMatchObject({ isWhole: true, text: inner })
    expect(server.connections).toHaveLength(1)
    expect(rig.exchangeCount()).toBe(1)
  })
})
