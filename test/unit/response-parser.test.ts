/** The direct engine's parser alone: what it takes, what it refuses, its limits, and that it does not matter how the bytes are cut. */
import { describe, expect, test } from 'vitest'
import { readByParser } from '../support/answer-readers.ts'
import { chunk, lastChunk } from '../support/raw-http.ts'

const head = (lines: readonly string[], first = 'HTTP/1.1 200 OK'): string => `${[first, ...lines].join('\r\n')}\r\n\r\n`
const CHUNKED = 'Transfer-Encoding: chunked'

const WHOLE: readonly (readonly [
  string,
  string,
  { readonly body?: string; readonly mayKeep?: boolean; readonly trailers?: readonly string[] },
])[] = [
  ['a body by its length', `${head(['Content-Length: 5'])}hello`, { body: 'hello', mayKeep: true }],
  ['an empty one', head(['Content-Length: 0']), { body: '', mayKeep: true }],
  ['chunks', head([CHUNKED]) + chunk('hel') + chunk('lo') + lastChunk, { body: 'hello', mayKeep: true }],
  [
    'chunks in capitals, their size with zeros',
    `${head(['transfer-encoding: x, CHUNKED'])}000A\r\n0123456789\r\n000\r\n\r\n`,
    { body: '0123456789' },
  ],
  ['extensions', `${head([CHUNKED])}5;a;b=c;d="e;\\"f";=x\r\nhello\r\n0;z\r\n\r\n`, { body: 'hello' }],
  ['trailers', `${head([CHUNKED])}0\r\nX-T: caf\xe9 \r\nx-t:\r\n\r\n`, { trailers: ['X-T', 'caf\xe9', 'x-t', ''] }],
  ['a body to the end', `${head(['X-A: 1'])}hello`, { body: 'hello', mayKeep: false }],
  ['a coding that is none of ours, to the end', `${head(['Transfer-Encoding: chunked, gzip'])}hello`, { body: 'hello', mayKeep: false }],
  ['HTTP/1.0, which closes', `${head(['Content-Length: 2'], 'HTTP/1.0 200 OK')}{}`, { body: '{}', mayKeep: false }],
  ['HTTP/1.0, which stays', `${head(['Content-Length: 2', 'Connection: Keep-Alive'], 'HTTP/1.0 200 OK')}{}`, { body: '{}', mayKeep: true }],
  ['a server that closes', `${head(['Content-Length: 2', 'connection: a, CLOSE,b'])}{}`, { body: '{}', mayKeep: false }],
  ['a 204 with a length', head(['Content-Length: 2'], 'HTTP/1.1 204 No'), { body: '', mayKeep: true }],
  ['a 304 with a length', head(['Content-Length: 2'], 'HTTP/1.1 304 No'), { body: '', mayKeep: true }],
  ['blank lines ahead', `\r\n\r\n${head(['Content-Length: 0'])}`, { body: '' }],
  [
    'interims',
    `${head([], 'HTTP/1.1 100 Continue')}${head(['Link: <a>'], 'HTTP/1.1 103 Early')}${head(['Content-Length: 1'])}x`,
    { body: 'x' },
  ],
]
test.each(WHOLE)('%s, cut between any two bytes [engine.parser]', (_, text, expected) => {
  const whole = readByParser([text])
  expect(whole).toMatchObject({ ...expected, end: 'whole', hasMore: false })
  for (let at = 1; at < text.length; at += 1) expect(readByParser([text.slice(0, at), text.slice(at)])).toEqual(whole)
  expect(readByParser([...text])).toEqual(whole)
})

test('names, values and reasons are what came, byte for byte, blanks around a value left out [engine.parser]', () => {
  const text = head(['X-Dup: 1', "x_!#$%&'*+.^`|~-dup:  caf\xe9\x80 \t\xff\t ", 'X-Empty:', '__proto__: a:b'], 'HTTP/1.1 299 S\xf6 \t"so"')
  expect(readByParser([text]).head).toEqual({
    status: 299,
    reason: 'S\xf6 \t"so"',
    rawHeaders: ['X-Dup', '1', "x_!#$%&'*+.^`|~-dup", 'caf\xe9\x80 \t\xff', 'X-Empty', '', '__proto__', 'a:b'],
  })
})

const REFUSED: readonly (readonly [string, string, string])[] = [
  ['no HTTP', 'SSH-2.0\r\n', 'INVALID_CONSTANT'],
  ['another protocol', 'RTSP/1.0 200 OK\r\n\r\n', 'INVALID_CONSTANT'],
  ['a version that is none', 'HTTP/1.2 200 OK\r\n\r\n', 'INVALID_VERSION'],
  ['two blanks', 'HTTP/1.1  200 OK\r\n\r\n', 'INVALID_STATUS'],
  ['four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'INVALID_STATUS'],
  ['a lone LF', 'HTTP/1.1 200 OK\n\n', 'CR_EXPECTED'],
  ['a lone CR', 'HTTP/1.1 200 OK\rX: 1\r\n\r\n', 'LF_EXPECTED'],
  ['a lone LF behind a field', 'HTTP/1.1 200 OK\r\nX: 1\nY: 2\r\n\r\n', 'CR_EXPECTED'],
  ['a lone CR in a value', head(['X: 1\rY: 2']), 'LF_EXPECTED'],
  ['a folded line', head(['X: 1', ' 2']), 'INVALID_HEADER_TOKEN'],
  ['a folded first line', head([' 2']), 'UNEXPECTED_SPACE'],
  ['a blank before the colon', head(['X : 1']), 'INVALID_HEADER_TOKEN'],
  ['no name', head([': 1']), 'INVALID_HEADER_TOKEN'],
  ['no colon', head(['X']), 'INVALID_HEADER_TOKEN'],
  ['a name beyond ASCII', head(['X\xe9: 1']), 'INVALID_HEADER_TOKEN'],
  ['a NUL', head(['X: a\0b']), 'INVALID_HEADER_TOKEN'],
  ['DEL', head(['X: a\x7fb']), 'INVALID_HEADER_TOKEN'],
  ['two lengths, though equal', head(['Content-Length: 1', 'content-length: 1']), 'UNEXPECTED_CONTENT_LENGTH'],
  ['a list of lengths', head(['Content-Length: 1, 1']), 'INVALID_CONTENT_LENGTH'],
  ['a sign', head(['Content-Length: +1']), 'INVALID_CONTENT_LENGTH'],
  ['no length', head(['Content-Length:']), 'INVALID_CONTENT_LENGTH'],
  ['a length over 64 bits', head(['Content-Length: 18446744073709551616']), 'INVALID_CONTENT_LENGTH'],
  ['a length and a coding', head(['Content-Length: 1', CHUNKED]), 'INVALID_TRANSFER_ENCODING'],
  ['a coding and a length', head([CHUNKED, 'Content-Length: 1']), 'INVALID_CONTENT_LENGTH'],
  ['a coding that says nothing', head(['Transfer-Encoding: ']), 'INVALID_TRANSFER_ENCODING'],
  ['an answer behind an interim that closes', `${head(['Connection: close'], 'HTTP/1.1 103 E')}${head([])}`, 'CLOSED_CONNECTION'],
  ['no size', `${head([CHUNKED])}\r\n`, 'INVALID_CHUNK_SIZE'],
  ['a size that is none', `${head([CHUNKED])}5g\r\n`, 'INVALID_CHUNK_SIZE'],
  ['a size with a prefix', `${head([CHUNKED])}0x5\r\n`, 'INVALID_CHUNK_SIZE'],
  ['a blank behind a size', `${head([CHUNKED])}5 \r\n`, 'INVALID_CHUNK_SIZE'],
  ['a size over 64 bits', `${head([CHUNKED])}10000000000000000\r\n`, 'INVALID_CHUNK_SIZE'],
  ['a lone LF behind a size', `${head([CHUNKED])}5\nhello`, 'CR_EXPECTED'],
  ['a chunk longer than its size', `${head([CHUNKED])}4\r\nhello\r\n`, 'STRICT'],
  ['a chunk without its CR', `${head([CHUNKED])}5\r\nhello\n`, 'STRICT'],
  ['a blank in an extension', `${head([CHUNKED])}5; a\r\n`, 'STRICT'],
  ['an open quote', `${head([CHUNKED])}5;a="b\r\n`, 'STRICT'],
  ['a length among the trailers', `${head([CHUNKED])}0\r\nContent-Length: 1\r\n\r\n`, 'INVALID_CONTENT_LENGTH'],
  ['a folded trailer', `${head([CHUNKED])}0\r\nX: 1\r\n 2\r\n\r\n`, 'INVALID_HEADER_TOKEN'],
]
test.each(REFUSED)('refuses %s, however it is cut [engine.parser]', (_, text, code) => {
  expect(readByParser([text]).end).toBe(`HPE_${code}`)
  for (let at = 1; at < text.length; at += 1) expect(readByParser([text.slice(0, at), text.slice(at)]).end).toBe(`HPE_${code}`)
  expect(readByParser([...text]).end).toBe(`HPE_${code}`)
})

test('what is wrong is refused at its byte, not when the head is there [engine.parser]', () => {
  for (const begun of ['S', 'HTTP/1.1 2x', 'HTTP/1.1 200 OK\r\nX ', 'HTTP/1.1 200 OK\r\nX: \x01']) {
    expect(readByParser([begun.slice(0, -1)]).end).toBe('cut')
    expect(readByParser([begun]).end).toMatch(/^HPE_/)
  }
})

describe('limits', () => {
  test('names, values and reason are less than 64 KiB together; so are trailers, of their own [engine.parser]', () => {
    const value = (bytes: number): string => `X: ${'x'.repeat(bytes)}`
    const most = 65_536 - 'OKX'.length - 1
    expect(readByParser([`${head([value(most)])}`]).end).toBe('whole')
    expect(readByParser([`${head([value(most + 1)])}`]).end).toBe('HPE_HEADER_OVERFLOW')
    expect(readByParser([`HTTP/1.1 200 ${'x'.repeat(65_536)}`]).end).toBe('HPE_HEADER_OVERFLOW')
    const trailers = (bytes: number): string => `${head([CHUNKED, value(60_000)])}0\r\n${value(bytes)}\r\n\r\n`
    expect(readByParser([trailers(65_534)]).end).toBe('whole')
    expect(readByParser([trailers(65_535)]).end).toBe('HPE_HEADER_OVERFLOW')
  })
  test('there is none on the number of fields, nor on blanks, and none is kept [engine.parser]', () => {
    const names = Array.from({ length: 20_000 }, () => `a:${' '.repeat(10)}`)
    expect(readByParser([head([...names, 'Content-Length: 0'])]).head?.rawHeaders).toHaveLength(40_002)
  })
  test('the extensions of one chunk are 16 KiB at most [engine.parser]', () => {
    const text = (bytes: number): string => `${head([CHUNKED])}1;${'x'.repeat(bytes)}\r\nx\r\n`
    expect(readByParser([text(16_383) + text(16_383).slice(head([CHUNKED]).length) + lastChunk]).end).toBe('whole')
    expect(readByParser([text(16_385)]).end).toBe('HPE_CHUNK_EXTENSIONS_OVERFLOW')
  })
})

test('to HEAD no body is read, whatever is promised [engine.parser]', () => {
  for (const field of ['Content-Length: 5', CHUNKED, 'X-A: 1'])
    expect(readByParser([head([field])], 'HEAD')).toMatchObject({ end: 'whole', body: '', mayKeep: field !== 'X-A: 1' })
})
test('what comes behind an answer is not its own [engine.parser]', () => {
  expect(readByParser([`${head(['Content-Length: 2'])}{}x`])).toMatchObject({ end: 'whole', body: '{}', hasMore: true })
  expect(readByParser([`${head([CHUNKED])}${lastChunk}x`])).toMatchObject({ end: 'whole', hasMore: true })
  expect(readByParser([`${head([], 'HTTP/1.1 204 No')}x`])).toMatchObject({ end: 'whole', hasMore: true })
})
test('what comes behind a 101 is handed on as it is [engine.parser]', () => {
  expect(readByParser([`${head(['Upgrade: x'], 'HTTP/1.1 101 Go')}\x81\0`])).toMatchObject({ end: 'switched', rest: '\x81\0' })
})
