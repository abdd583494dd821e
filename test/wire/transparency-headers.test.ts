/** Heads in both directions: raw names, bytes and order; what is stripped, and nothing else. */
import { describe, expect, test } from 'vitest'
import type { HeaderList } from '../support/raw-http.ts'
import { headText, requestText } from '../support/raw-http.ts'
import { relay } from '../support/relay.ts'

const OK = `${headText(200, [['Content-Length', '2']])}{}`
const KEPT = ['Connection', 'keep-alive'] as const

/** Interleaved duplicates, odd case, obs-text, emptiness, inner blanks: all legal. */
const ODD: HeaderList = [
  ['X-Dup', '1'],
  ['x-other', 'a,b ,, c'],
  ['x-dup', '2'],
  ['X-OBS', 'caf\xe9 \x80\xff "\xc3\xa9"'],
  ['X-Empty', ''],
  ['X_under.score~!#$', 'tab\there  and   blanks'],
  ['X-DUP', '3'],
  ['Cookie', 'a=1'],
  ['cookie', 'b=2'],
  ['Set-Cookie', 'a=1; Path=/'],
  ['set-cookie', 'b=\xe9'],
  ['Date', 'yesterday'],
  ['Content-Disposition', 'attachment; filename="\xe9.txt"'],
  ['Content-Type', 'application/json; charset="\xfc"'],
  ['User-Agent', ''],
  ['constructor', '1'],
  ['__proto__', '2'],
]

describe('raw names, bytes and order', () => {
  test.each(['header', 'none'] as const)('of the request (inject %s) [transparency.raw-headers]', async (inject) => {
    const headers: HeaderList = [
      ['Host', 'h'],
      ...ODD,
      ['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`],
      ['Content-Length', '2'],
    ]
    const { seen } = await relay(requestText('POST', '/mcp', headers, '{}'), OK, { inject })
    const got = seen.rawHeaders.map(([name, value]) =>
      name === 'traceparent' && inject === 'header' ? [name, headers.at(-2)?.[1]] : [name, value],
    )
    expect(got).toEqual([...headers, KEPT])
  })
  test('of a request without a body [transparency.raw-headers]', async () => {
    const { seen } = await relay(requestText('GET', '/mcp', [['Host', 'h'], ...ODD]), OK, { method: 'GET' })
    expect(seen.rawHeaders).toEqual([['Host', 'h'], ...ODD, KEPT])
  })
  test.each(['200', '500', '204', '304'])('of an answer %s [transparency.raw-headers]', async (status) => {
    const hasBody = status === '200' || status === '500'
    const sized: HeaderList = hasBody ? [['Content-Length', '2']] : []
    const { got } = await relay(requestText('GET', '/'), headText(Number(status), [...ODD, ...sized]) + (hasBody ? '{}' : ''), {
      method: 'GET',
    })
    expect(got.rawHeaders).toEqual([...ODD, ...sized, KEPT])
  })
  test('of an answer in chunks [transparency.raw-headers]', async () => {
    const { got } = await relay(requestText('GET', '/'), `${headText(200, [...ODD, ['Transfer-Encoding', 'chunked']])}0\r\n\r\n`, {
      method: 'GET',
    })
    expect(got.rawHeaders).toEqual([...ODD, KEPT, ['Transfer-Encoding', 'chunked']])
  })
})

test('6,000 headers in each direction [transparency.many-headers]', async () => {
  const many: HeaderList = Array.from({ length: 6_000 }, (_, index) => [`h${index % 10}`, String(index)] as const)
  const { seen, got } = await relay(requestText('GET', '/', [['Host', 'h'], ...many]), headText(200, [...many, ['Content-Length', '0']]), {
    method: 'GET',
  })
  expect(seen.rawHeaders.length).toBe(6_002)
  expect(seen.rawHeaders.slice(1, -1)).toEqual(many)
  expect(got.rawHeaders.slice(0, -2)).toEqual(many)
})

test.each(['OK', '', 'Fine By Me', 'caf\xe9', 'Not Found'])('reason phrase "%s" [transparency.reason]', async (reason) => {
  const { got } = await relay(requestText('GET', '/'), headText(200, [['Content-Length', '0']], reason), { method: 'GET' })
  expect(got.startLine).toBe(`HTTP/1.1 200 ${reason}`)
})
test.each([200, 218, 299, 404, 421, 499, 599, 799, 999])('status %s [transparency.reason]', async (status) => {
  const { got } = await relay(requestText('GET', '/'), `${headText(status, [['Content-Length', '2']], 'So')}{}`, { method: 'GET' })
  expect(got).toMatchObject({ startLine: `HTTP/1.1 ${status} So`, text: '{}' })
})
test('a status line without a reason and its blank [transparency.reason]', async () => {
  const { got } = await relay(requestText('GET', '/'), 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', { method: 'GET' })
  expect(got.startLine).toBe('HTTP/1.1 200 ')
})

test('what the client says of itself reaches the server as it was; nothing is added [transparency.client-headers]', async () => {
  const headers: HeaderList = [
    ['hOST', 'Mcp.Example:8080'],
    ['Origin', 'http://evil.example'],
    ['Authorization', 'Bearer a.b.c=='],
    ['Accept', 'application/json;q=0.9'],
    ['ACCEPT', 'text/event-stream, */*;q=0.1'],
    ['MCP-Protocol-Version', '2026-07-28'],
    ['Mcp-Method', 'tools/call'],
    ['mcp-name', '=?base64?w6k=?='],
    ['mCP-sESSION-iD', 'S-1'],
    ['Mcp-Param-x', ' 1'],
    ['Last-Event-ID', '9'],
    ['Forwarded', 'for=1.2.3.4'],
    ['Content-Length', '2'],
  ]
  const { seen } = await relay(requestText('POST', '/mcp', headers, '{}'), OK)
  expect(seen.head.split('\r\n').slice(1)).toEqual([
    ...headers.map(([name, value]) => `${name}: ${value.trim()}`),
    'Connection: keep-alive',
  ])
})

describe('hop by hop', () => {
  const OWN: HeaderList = [
    ['Connection', 'X-Named , close'],
    ['connection', 'x-also,'],
    ['Keep-Alive', 'timeout=9'],
    ['Proxy-Connection', 'keep-alive'],
    ['TE', 'trailers'],
    ['Upgrade', 'h2c'],
    ['X-Named', '1'],
    ['x-named', '2'],
    ['X-ALSO', '3'],
  ]
  const theirs: HeaderList = [
    ['X-Named-Not', '1'],
    ['Proxy-Authorization', 'Basic x'],
    ['Proxy-Authenticate', 'Basic'],
    ['Via', '1.0 a'],
    ['Max-Forwards', '1'],
    ['Cache-Control', 'no-store'],
  ]

  test('of the request [transparency.hop-by-hop]', async () => {
    const { seen } = await relay(requestText('POST', '/', [['Host', 'h'], ...OWN, ...theirs, ['Content-Length', '2']], '{}'), OK)
    expect(seen.rawHeaders).toEqual([['Host', 'h'], ...theirs, ['Content-Length', '2'], KEPT])
  })
  test('of a request in chunks [transparency.hop-by-hop]', async () => {
    const ask = `${requestText('POST', '/', [['Host', 'h'], ...OWN, ...theirs, ['Transfer-Encoding', 'chunked']])}2\r\n{}\r\n0\r\n\r\n`
    const { seen } = await relay(ask, OK)
    expect(seen.rawHeaders).toEqual([['Host', 'h'], ...theirs, KEPT, ['Transfer-Encoding', 'chunked']])
    expect(seen.text).toBe('{}')
  })
  test('of the answer [transparency.hop-by-hop]', async () => {
    const { got } = await relay(requestText('GET', '/'), `${headText(200, [...OWN, ...theirs, ['Content-Length', '2']])}{}`, {
      method: 'GET',
    })
    expect(got.rawHeaders).toEqual([...theirs, ['Content-Length', '2'], KEPT])
    expect(got.text).toBe('{}')
  })
  test("the length is the message's own, whoever names it [hostile.no-smuggling]", async () => {
    const inner = 'GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n'
    const ask = requestText(
      'POST',
      '/',
      [
        ['Connection', 'content-length, host'],
        ['Content-Length', String(inner.length)],
      ],
      inner,
    )
    const { seen, got, server } = await relay(
      ask,
      `${headText(200, [
        ['Connection', 'content-length'],
        ['Content-Length', '2'],
      ])}{}`,
    )
    expect(seen.text).toBe(inner)
    expect(got).toMatchObject({ text: '{}', isWhole: true })
    expect(server.connections.map((connection) => connection.text().split('HTTP/1.1').length)).toEqual([3]) // head and inner, once
  })
})

describe('traceparent', () => {
  const traceId = 'a1'.repeat(16)
  const incoming = `00-${traceId}-${'b2'.repeat(8)}-00`
  const ask = (headers: HeaderList): string => requestText('POST', '/', [['Host', 'h'], ...headers, ['Content-Length', '2']], '{}')

  test('an incoming one is continued in its place, once [transparency.traceparent]', async () => {
    const { seen, rig } = await relay(
      ask([
        ['X-A', '1'],
        ['TraceParent', incoming],
        ['tracestate', 'v=1'],
        ['traceparent', incoming],
      ]),
      OK,
      {
        inject: 'header',
      },
    )
    const [value = ''] = seen.headers('traceparent')
    expect(seen.rawHeaders.map(([name]) => name)).toEqual(['Host', 'X-A', 'TraceParent', 'tracestate', 'Content-Length', 'Connection'])
    expect(value).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`))
    expect(value).not.toContain('b2'.repeat(8))
    expect(await rig.fact('opened')).toMatchObject({ traceId, spanId: value.split('-')[2] })
  })
  test.each([
    ['none', []],
    ['a malformed one', [['traceparent', 'x'] as const]],
    ['one of zeros', [['traceparent', `00-${'0'.repeat(32)}-${'b2'.repeat(8)}-01`] as const]],
  ])('%s gives a new trace [transparency.traceparent]', async (_, headers) => {
    const { seen } = await relay(ask(headers), OK, { inject: 'header' })
    expect(seen.headers('traceparent')).toHaveLength(1)
    expect(seen.header('traceparent')).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  })
  test('with inject none it is left as it was [transparency.traceparent]', async () => {
    const { seen } = await relay(
      ask([
        ['traceparent', 'x'],
        ['traceparent', incoming],
      ]),
      OK,
    )
    expect(seen.headers('traceparent')).toEqual(['x', incoming])
  })
})
