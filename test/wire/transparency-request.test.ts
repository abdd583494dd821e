/** The way of a request: methods, targets, Expect, uploads as they come; interim answers on the way back. */
import { describe, expect, test } from 'vitest'
import { rawClient } from '../support/raw-client.ts'
import type { HeaderList } from '../support/raw-http.ts'
import { chunk, headText, lastChunk, requestText } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'
import { relay } from '../support/relay.ts'
import { wireRig } from '../support/wire-rig.ts'

const OK = `${headText(200, [['Content-Length', '2']])}{}`
const CHUNKED = ['Transfer-Encoding', 'chunked'] as const

describe('methods and targets', () => {
  test.each([
    ['POST', '//a//b/../c?x=%zz'],
    ['GET', '/%2e%2e/./a;b=c,d?e=f?g&&=#'],
    ['GET', 'http://other.example:81/mcp?a=b'],
    ['OPTIONS', '*'],
    ['OPTIONS', '/mcp'],
    ['DELETE', '/mcp'],
    ['PUT', '/'],
    ['PATCH', '/'],
    ['PROPFIND', '/dav/'],
    ['PURGE', '/cache'],
    ['M-SEARCH', '*'],
    ['TRACE', '/'],
    ['GET', `/${'long/'.repeat(6_000)}`],
    ['GET', '/?q=a|b"c<d>{e}^f`g\\h'],
  ])('%s %s [transparency.target]', async (method, target) => {
    const { seen, got } = await relay(requestText(method, target), OK, { method })
    expect(seen.startLine).toBe(`${method} ${target} HTTP/1.1`)
    expect(seen.rawHeaders).toEqual([
      ['Host', 'sidecar.test'],
      ['Connection', 'keep-alive'],
    ])
    expect(got.text).toBe('{}')
  })
  test.each(['GET', 'DELETE', 'OPTIONS', 'PROPFIND'])('%s with a body, sized and in chunks [transparency.target]', async (method) => {
    const sized = await relay(requestText(method, '/', [['Content-Length', '3']], 'abc'), OK, { method })
    expect(sized.seen).toMatchObject({ method, framing: 'length', text: 'abc' })
    const chunked = await relay(requestText(method, '/', [CHUNKED]) + chunk('abc') + lastChunk, OK, { method })
    expect(chunked.seen).toMatchObject({ method, framing: 'chunked', text: 'abc' })
    expect(chunked.seen.header('content-length')).toBeNull()
  })
  test.each([
    ['no length', []],
    ['a length of 0', [['Content-Length', '0'] as const]],
  ])('POST without a body, %s [transparency.target]', async (_, headers) => {
    const { seen } = await relay(requestText('POST', '/', headers), OK)
    expect(seen.rawHeaders).toEqual([['Host', 'sidecar.test'], ...headers, ['Connection', 'keep-alive']])
  })
  test('an empty body in chunks stays in chunks [transparency.target]', async () => {
    const { seen } = await relay(requestText('POST', '/', [CHUNKED]) + lastChunk, OK)
    expect(seen).toMatchObject({ framing: 'chunked', isWhole: true, text: '' })
  })
  test('no Host is no Host [transparency.target]', async () => {
    const { seen } = await relay('GET /mcp HTTP/1.1\r\nAccept: a/b\r\n\r\n', OK, { method: 'GET' })
    expect(seen.rawHeaders).toEqual([
      ['Accept', 'a/b'],
      ['Connection', 'keep-alive'],
    ])
  })
})

describe('Expect: 100-continue', () => {
  test.each(['header', 'none'] as const)(
    'is answered here and not forwarded; the head goes ahead (inject %s) [transparency.expect]',
    async (inject) => {
      const server = await rawServer(async (connection) => {
        await connection.request()
        await connection.send(OK)
      })
      const rig = await wireRig(server.url, { inject })
      const client = await rawClient(rig.port)
      const headers: HeaderList = [
        ['Expect', '100-continue'],
        ['X-A', '1'],
        ['Content-Length', '5'],
      ]
      void client.send(requestText('POST', '/', headers))
      const answered = await client.until('\r\n\r\n')
      expect(answered).toBe('HTTP/1.1 100 Continue\r\n\r\n')
      const head = await (await server.connection(0)).until('\r\n\r\n') // before any byte of the body
      expect(head).not.toMatch(/expect/i)
      expect(head).toContain('X-A: 1\r\nContent-Length: 5')
      void client.send('hello')
      const got = await client.response()
      expect(got).toMatchObject({ status: 200, text: '{}' })
      expect(got.interims.map(({ startLine }) => startLine)).toEqual(['HTTP/1.1 100 Continue'])
      expect(server.connections[0]?.text().endsWith('\r\n\r\nhello')).toBe(true)
    },
  )
  test("the server's own 100 is not relayed a second time [transparency.expect]", async () => {
    const ask = requestText('POST', '/', [['Expect', '100-continue']], '{}')
    const { got } = await relay(ask, ['HTTP/1.1 100 Continue\r\n\r\n', OK])
    expect(got.interims.map(({ startLine }) => startLine)).toEqual(['HTTP/1.1 100 Continue'])
    expect(got.text).toBe('{}')
  })
  test('a final answer before the body was sent arrives [transparency.expect]', async () => {
    const server = await rawServer(async (connection) => {
      await connection.until('\r\n\r\n')
      await connection.send(`${headText(417, [['Content-Length', '2']], 'No')}no`)
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    void client.send(
      requestText('POST', '/', [
        ['Expect', '100-continue'],
        ['Content-Length', '5'],
      ]),
    )
    expect(await client.response()).toMatchObject({ status: 417, reason: 'No', text: 'no' })
  })
})

describe('interim answers', () => {
  const EARLY = 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nx-OBS: caf\xe9\r\nlink: </b>\r\n\r\n'

  test('102 and 103 arrive as they were, when they were sent [transparency.interim]', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send('HTTP/1.1 102 Processing\r\n\r\n')
      await connection.until('never', 60_000).catch(() => undefined)
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    void client.send(requestText('POST', '/', [], '{}'))
    expect(await client.until('\r\n\r\n')).toBe('HTTP/1.1 102 Processing\r\n\r\n')
    const upstream = await server.connection(0)
    await upstream.send(EARLY)
    expect(await client.until('103')).toBe(`HTTP/1.1 102 Processing\r\n\r\n${EARLY}`)
    await upstream.send(OK)
    const { interims, text } = await client.response()
    expect([interims.length, text]).toEqual([2, '{}'])
  })
  test('16 are relayed, the rest not, and the answer arrives [transparency.interim]', async () => {
    const many = Array.from({ length: 20 }, (_, index) => `HTTP/1.1 103 Early\r\nX-N: ${index}\r\n\r\n`)
    const { got } = await relay(requestText('POST', '/', [], '{}'), [...many, OK])
    expect(got.interims.map(({ header }) => header('x-n'))).toEqual(Array.from({ length: 16 }, (_, index) => String(index)))
    expect(got).toMatchObject({ status: 200, text: '{}' })
  })
  test("an interim's hop-by-hop headers are stripped; a client of HTTP/1.0 gets none [transparency.interim]", async () => {
    const interim = 'HTTP/1.1 103 Early\r\nConnection: x-a\r\nX-A: 1\r\nX-B: 2\r\n\r\n'
    const { got } = await relay(requestText('POST', '/', [], '{}'), [interim, OK])
    expect(got.interims[0]?.rawHeaders).toEqual([['X-B', '2']])
    const old = await relay('GET / HTTP/1.0\r\nHost: h\r\n\r\n', [interim, OK], { method: 'GET' })
    expect(old.got.interims).toEqual([])
    expect(old.got.text).toBe('{}')
  })
})

describe('uploads stream', () => {
  test.each([
    ['sized', ['Content-Length', '9'], (part: string) => part],
    ['in chunks', CHUNKED, chunk],
  ] as const)('%s: head, then each part, as the client sends them [transparency.upload-streams]', async (_, header, framed) => {
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send(OK)
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    void client.send(requestText('POST', '/', [header]))
    const upstream = await server.connection(0)
    await upstream.until('\r\n\r\n')
    for (const part of ['one', 'two', '{}!']) {
      void client.send(framed(part))
      await upstream.until(part)
    }
    if (header === CHUNKED) void client.send(lastChunk)
    expect(await client.response()).toMatchObject({ status: 200, text: '{}' })
    expect(await rig.fact('asked')).toBeDefined()
  })
  test('an answer that begins during the upload streams beside it [transparency.upload-streams]', async () => {
    const server = await rawServer(async (connection) => {
      await connection.until('one')
      await connection.send(headText(200, [CHUNKED]) + chunk('early'))
      await connection.until('two')
      await connection.send(chunk('late') + lastChunk)
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    void client.send(requestText('POST', '/', [['Content-Length', '6']], 'one'))
    await client.until('early')
    void client.send('two')
    expect(await client.response()).toMatchObject({ status: 200, text: 'earlylate', isWhole: true })
  })
})
