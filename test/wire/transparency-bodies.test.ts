/** Bodies that are no stream, and answers without a body: as they came, with no header invented. */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { compileHop } from '../../src/hops/compile.ts'
import { buffering, hop, idle } from '../support/line-rig.ts'
import type { HeaderList } from '../support/raw-http.ts'
import { callText, chunk, headText, lastChunk, requestText } from '../support/raw-http.ts'
import { relay } from '../support/relay.ts'

const JSON_TYPE = ['Content-Type', 'application/json'] as const
const CHUNKED = ['Transfer-Encoding', 'chunked'] as const
/** What a parser would change: numbers, blanks, duplicates, escapes, order. */
const BODY = '{ "id":9007199254740993,"n":1e400,\t"a":1.0,"a":-0, "\\u0061":"\\/\\u00e9\xc3\xa9", "big":123456789012345678901234567890}\r\n'
const watching = compileHop(hop('watching', { buffering: buffering('none'), idle: idle(600_000) }))

describe.each([
  ['nobody', []],
  ['a watching hop', watching],
])('JSON, %s on the line', (_, plans) => {
  test('with Content-Length [transparency.json]', async () => {
    const { got } = await relay(callText(), headText(200, [JSON_TYPE, ['Content-Length', String(BODY.length)]]) + BODY, { plans })
    expect(got).toMatchObject({ framing: 'length', isWhole: true })
    expect(got.body.toString('latin1')).toBe(BODY)
    expect(got.rawHeaders).toEqual([JSON_TYPE, ['Content-Length', String(BODY.length)], ['Connection', 'keep-alive']])
  })
  test('in chunks [transparency.json]', async () => {
    const answer = [headText(200, [JSON_TYPE, CHUNKED]), chunk(BODY.slice(0, 20)), chunk(BODY.slice(20)), lastChunk]
    const { got } = await relay(callText(), answer, { plans })
    expect(got).toMatchObject({ framing: 'chunked', isWhole: true, chunks: [20, BODY.length - 20] })
    expect(got.body.toString('latin1')).toBe(BODY)
  })
  test('to the end of the connection [transparency.json] [transparency.eof]', async () => {
    const { got } = await relay(callText(), [headText(200, [JSON_TYPE]), BODY.slice(0, 9), BODY.slice(9)], { plans, closes: true })
    expect(got).toMatchObject({ framing: 'eof', isWhole: true })
    expect(got.body.toString('latin1')).toBe(BODY)
    expect(got.rawHeaders).toEqual([JSON_TYPE, ['Connection', 'close']])
  })
  test('of the request, with Content-Length and in chunks [transparency.json]', async () => {
    const sized = await relay(requestText('POST', '/', [JSON_TYPE, ['Content-Length', String(BODY.length)]], BODY), headText(202), {
      plans,
      closes: true,
    })
    expect(sized.seen).toMatchObject({ framing: 'length', isWhole: true })
    expect(sized.seen.body.toString('latin1')).toBe(BODY)
    const ask = requestText('POST', '/', [JSON_TYPE, CHUNKED]) + chunk(BODY.slice(0, 30)) + chunk(BODY.slice(30)) + lastChunk
    const chunked = await relay(ask, headText(202), { plans, closes: true })
    expect(chunked.seen).toMatchObject({ framing: 'chunked', isWhole: true })
    expect(chunked.seen.body.toString('latin1')).toBe(BODY)
  })
  test('gzip in both directions [transparency.encoded]', async () => {
    const packed = gzipSync(Buffer.from('data: {"a":1}\n\n'.repeat(200)))
    const headers: HeaderList = [
      ['Content-Type', 'text/event-stream'],
      ['Content-Encoding', 'gzip'],
      ['Content-Length', String(packed.length)],
    ]
    const ask = Buffer.concat([Buffer.from(requestText('POST', '/', headers)), packed])
    const { seen, got } = await relay(ask, [headText(200, headers), packed.subarray(0, 11), packed.subarray(11)], { plans })
    expect(seen.body.equals(packed)).toBe(true)
    expect(got.body.equals(packed)).toBe(true)
    expect(got.rawHeaders.slice(0, 3)).toEqual(headers)
  })
})

describe('no body', () => {
  test.each([
    [202, [['Content-Length', '0']]],
    [200, [JSON_TYPE, ['Content-Length', '0']]],
    [204, []],
    [204, [['X-A', '1']]],
    [
      304,
      [
        ['ETag', '"a"'],
        ['Content-Length', '99'],
      ],
    ],
    [304, [['ETag', '"a"']]],
  ] as [number, HeaderList][])('%s %j [transparency.no-body]', async (status, headers) => {
    const { got, client } = await relay(requestText('POST', '/', [], '{}'), headText(status, headers, 'So'))
    expect(got.head).toBe(headText(status, [...headers, ['Connection', 'keep-alive']], 'So').trimEnd())
    expect(got.body.length).toBe(0)
    expect(client.ended()).toBeNull()
    expect(client.bytes().length).toBe(got.head.length + 4)
  })
  test.each([
    ['a length', [JSON_TYPE, ['Content-Length', '1234']], []],
    ['chunks', [JSON_TYPE], [CHUNKED]],
    ['neither', [JSON_TYPE], []],
  ] as [string, HeaderList, HeaderList][])('the answer to HEAD, with %s [transparency.no-body]', async (_, headers, framing) => {
    const { seen, got, client } = await relay(requestText('HEAD', '/mcp'), headText(200, [...headers, ...framing]), { method: 'HEAD' })
    expect(seen.method).toBe('HEAD')
    expect(got.rawHeaders).toEqual([...headers, ['Connection', 'keep-alive']])
    expect(client.ended()).toBeNull()
    expect(client.bytes().length).toBe(got.head.length + 4)
  })
  test('chunks without any content [transparency.no-body]', async () => {
    const { got } = await relay(requestText('POST', '/', [], '{}'), headText(202, [CHUNKED]) + lastChunk)
    expect(got).toMatchObject({ framing: 'chunked', isWhole: true, chunks: [] })
  })
})

test('trailers, in both directions [transparency.trailers]', async () => {
  const trailers = 'X-Sum: 1\r\nx-sum: caf\xe9\r\n'
  const framed = (what: string): string => `${chunk(what)}0\r\n${trailers}\r\n`
  const announced: HeaderList = [['Trailer', 'X-Sum'], CHUNKED]
  const { seen, got } = await relay(requestText('POST', '/', announced) + framed('{}'), headText(200, announced) + framed('[]'))
  const expected = [
    ['X-Sum', '1'],
    ['x-sum', 'caf\xe9'],
  ]
  expect(seen).toMatchObject({ text: '{}', trailers: expected })
  expect(got).toMatchObject({ text: '[]', trailers: expected })
  expect([seen.header('trailer'), got.header('trailer')]).toEqual(['X-Sum', 'X-Sum'])
})
test.each([
  ['nobody', []],
  ['a hop that collects requests', compileHop(hop('collecting', { request: { buffer: true, bodyMaxBytes: null, retry: null } }))],
])('trailers after an empty body, unannounced, %s on the line [transparency.trailers]', async (_, plans) => {
  const framed = '0\r\nX-Sum: 1\r\n\r\n'
  const { seen, got } = await relay(requestText('POST', '/', [CHUNKED]) + framed, headText(200, [CHUNKED]) + framed, { plans })
  expect(seen).toMatchObject({ framing: 'chunked', text: '', trailers: [['X-Sum', '1']] })
  expect(got.trailers).toEqual([['X-Sum', '1']])
})
