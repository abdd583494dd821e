/** The direct engine's parser against Node's own, on answers as they are, mangled, and cut anywhere: both take the same and refuse the same. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutAt, readByNode, readByParser } from '../support/answer-readers.ts'

const RUNS = 4_000

const pick = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

const statusLine = fc
  .tuple(
    pick('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.2', 'http/1.1', 'HTTP/11'),
    pick(' ', ' ', ' ', '  ', '\t'),
    pick('200', '200', '204', '304', '404', '103', '099', '999', '20', '2000', '2x0'),
    pick(' OK', ' ', '', ' caf\xe9', ' a\tb', ' O\x01K', '\r', '\n', ' x\ry'),
  )
  .map((parts) => parts.join(''))

const plainField = fc
  .tuple(
    pick('X-A', 'x-b', 'Date', 'Keep-Alive', 'Trailer', 'Upgrade', '!#$', 'X A', 'X\x00', '', ' X', 'X\xe9'),
    pick(':', ': ', ':\t', ' : ', ':  '),
    pick('1', '', 'a, b', 'caf\xe9\xff', 'timeout=2', ' x ', 'a\tb', 'a\x01b', 'a\x7fb', 'a\r b', 'x'.repeat(40)),
  )
  .map((parts) => parts.join(''))

const framingField = pick(
  'Content-Length: 5',
  'Content-Length: 5',
  'content-length:5 ',
  'Content-Length: 0',
  'Content-Length:',
  'Content-Length: -1',
  'Content-Length: 5, 5',
  'Content-Length: 0x5',
  'Content-Length: 05',
  'Content-Length: 18446744073709551616',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked',
  'transfer-encoding:\tCHUNKED  ',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: gzip , \tchunked',
  'Transfer-Encoding: chunked, gzip',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunkedx',
  'Transfer-Encoding: chunked;q=1',
  'Transfer-Encoding:',
  'Connection: close',
  'Connection: keep-alive',
  'connection: x, Close ,y',
  'Proxy-Connection: close',
)

const chunks = pick(
  'hello',
  '5\r\nhello\r\n0\r\n\r\n',
  '005\r\nhello\r\n0\r\n\r\n',
  '5;a=b;c="d\\"e";f\r\nhello\r\n0;x\r\n\r\n',
  '2\r\nhe\r\n3\r\nllo\r\n0\r\nX-T: 1\r\nx-t: caf\xe9\r\n\r\n',
  '0\r\n\r\n',
  '5\r\nhel',
  '5\nhello\n0\n\n',
  '5 \r\nhello\r\n0\r\n\r\n',
  '5; a\r\nhello\r\n0\r\n\r\n',
  '5;a="\r\nhello\r\n0\r\n\r\n',
  '5;=b;;\r\nhello\r\n0\r\n\r\n',
  '5\r\nhello!\r\n0\r\n\r\n',
  'x\r\n\r\n',
  '\r\n',
  '-5\r\nhello\r\n',
  'fffffffffffffffff\r\nhello\r\n',
  '0\r\nContent-Length: 1\r\n\r\n',
  '0\r\nX T: 1\r\n\r\n',
  '0\r\n X: 1\r\n\r\n',
  '',
)

const interim = pick(
  '',
  '',
  '',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early\r\nX-A: 1\r\n\r\n',
  'HTTP/1.1 102 P\r\nConnection: close\r\n\r\n',
)

const answer = fc
  .tuple(
    pick('', '', '\r\n', '\n'),
    interim,
    statusLine,
    fc.array(fc.oneof(plainField, framingField), { maxLength: 4 }),
    pick('\r\n', '\r\n', '\r\n', '\n', '\r\r\n'),
    chunks,
  )
  .map(([before, early, line, fields, eol, body]) => `${before}${early}${[line, ...fields].join('\r\n')}${eol}\r\n${body}`)

/** Sound in nearly all of its parts, so that what is deep inside is read at all. */
const soundAnswer = fc
  .tuple(
    interim,
    pick('HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', 'HTTP/1.0 200 ', 'HTTP/1.1 304 Not Modified', 'HTTP/1.1 500 caf\xe9'),
    pick('X-A: 1', 'Set-Cookie: a=b; c', 'x-a:'),
    framingField,
    chunks,
  )
  .map(([early, line, one, framing, body]) => `${early}${line}\r\n${one}\r\n${framing}\r\n\r\n${body}`)

const mangled = fc
  .tuple(
    fc.oneof(answer, soundAnswer),
    fc.nat(),
    pick('', ' ', '\r', '\n', '\0', ':', '\t', ';', '0', 'f', '\xff', '\r\n'),
    fc.nat({ max: 1 }),
  )
  .map(([text, at, what, removed]) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + what + text.slice(place + removed)
  })

/**
 * Where the two differ, by intention. The body of a 204: RFC 9112 §6.3 knows none, Node waits for one that has a length. A TAB behind
 * `chunked`, a length or an option of Connection: RFC 9110 §5.6.3 has it be a blank like any other. Protocols that are no HTTP: Node takes RTSP and ICE. A
 * Transfer-Encoding that says nothing, and two CRs behind the status line: Node takes them up to llhttp 9.3, and refuses them later.
 * Which of several faults is named is not compared.
 */
const EXEMPT = [
  /^(\r|\n)*(HTTP.*\r\n(.+\r\n)*\r\n)*HTTP\/\d\.\d 204/,
  /chunked *\t|^content-length:.*\d *\t|^(proxy-)?connection:.*\w *\t/im,
  /^[\r\n]*(RTSP|ICE)/,
  /^transfer-encoding:[ \t]*\r?$/im,
  /^HTTP.*\r\r/im,
]
const isExempt = (text: string): boolean => EXEMPT.some((pattern) => pattern.test(text))

test.each([
  ['as they are', answer],
  ['sound', soundAnswer],
  ['with one byte changed', mangled],
] as const)('answers %s: taken or refused alike, and read alike [engine.parser]', async (_, kind) => {
  await fc.assert(
    fc.asyncProperty(kind, pick('GET', 'GET', 'HEAD'), fc.array(fc.nat({ max: 200 }), { maxLength: 3 }), async (text, method, places) => {
      fc.pre(!isExempt(text))
      const pieces = cutAt(text, places)
      const { interims, head, body, trailers, end } = readByParser(pieces, method)
      const theirs = await readByNode(pieces, method)
      const verdictOf = (how: string): string => (how.startsWith('HPE_') ? 'refused' : how)
      expect([interims, head, verdictOf(end)]).toEqual([theirs.interims, theirs.head, verdictOf(theirs.end)])
      if (end === 'whole') expect([body, trailers]).toEqual([theirs.body, theirs.trailers])
    }),
    { numRuns: RUNS },
  )
})
