/** A chunked answer of which whole chunks go past Node's parser, against the same answer read by the parser alone. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutAt, readByLane, readByNode } from '../support/answer-readers.ts'

const RUNS = 4_000
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

const pick = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

const data = fc.oneof(
  pick('data: {"n":1}\n\n', ': ping\n\n', '\r\n', '\r\n\r\n', '0\r\n\r\n', '4\r\n4', '5\r\nhello\r\n', 'x'.repeat(300)),
  fc.string({ minLength: 1, maxLength: 40 }).map((text) => text.replace(/[^\x20-\x7e]/g, '?')),
)
const hexOf = (size: number, style: number): string => {
  const hex = size.toString(16)
  return style === 0 ? hex : style === 1 ? hex.toUpperCase() : hex.padStart(style, '0')
}
const chunk = fc.tuple(data, pick(0, 0, 0, 1, 4, 7, 8, 12)).map(([text, style]) => `${hexOf(text.length, style)}\r\n${text}\r\n`)
/** What only the parser may judge. */
const odd = fc.oneof(
  { weight: 12, arbitrary: pick('') },
  {
    weight: 1,
    arbitrary: pick(
      ...[
        '5;a=b\r\nhello\r\n',
        '5\nhello\n',
        '5 \r\nhello\r\n',
        '5\r\nhello!\r\n',
        '+5\r\nhello\r\n',
        '\r\n',
        'x\r\n',
        'fffffffffffffffff\r\nhello\r\n',
      ],
      ...[
        '0x5\r\nhello\r\n',
        '5\r\nhello',
        '5\r\r\nhello\r\n',
        '5\r\nhello\r',
        '5\r\nhello\n\r',
        '-1\r\n\r\n',
        '0\r\n\r\n',
        '0\r\nX-T: 1\r\n\r\n',
      ],
    ),
  },
)
const last = pick('0\r\n\r\n', '0\r\n\r\n', '0\r\nX-T: 1\r\n\r\n', '000\r\n\r\n', '0;a\r\n\r\n', '', '0\r\n')
const body = fc
  .tuple(fc.array(fc.tuple(chunk, odd), { maxLength: 8 }), last)
  .map(([chunks, end]) => chunks.map((pair) => pair.join('')).join('') + end)
const places = fc.array(fc.nat({ max: 400 }), { maxLength: 12 })
/** What may be taken, asked again and again. */
const leave = fc.infiniteStream(fc.boolean())

test('however it is cut into reads and whatever is taken: the same body, end, trailers and refusals [bench.chunk-lane]', async () => {
  let taken = 0
  await fc.assert(
    fc.asyncProperty(body, places, pick('GET', 'GET', 'GET', 'HEAD'), fc.boolean(), leave, async (text, at, method, isAll, leaves) => {
      const pieces = [HEAD, ...cutAt(text, at)].filter((piece) => piece !== '')
      const mayTake = (): boolean => isAll || leaves.next().value === true
      const { taken: count, ...read } = await readByLane(pieces, method, mayTake)
      taken += count
      expect(read).toEqual(await readByNode(pieces, method))
    }),
    { numRuns: RUNS },
  )
  expect(taken).toBeGreaterThan(RUNS / 4)
})

test('the head may come with any of the body, or in parts, which leaves all to the parser [bench.chunk-lane]', async () => {
  await fc.assert(
    fc.asyncProperty(body, places, async (text, at) => {
      const pieces = cutAt(HEAD + text, at)
      const { taken: _, ...read } = await readByLane(pieces, 'GET', () => true)
      expect(read).toEqual(await readByNode(pieces))
    }),
    { numRuns: RUNS },
  )
})

test('an event of each read is taken, and those that a head, an end or a cut stands in are not [bench.chunk-lane]', async () => {
  const event = 'a\r\ndata: 123\n\r\n'
  const takenOf = async (...pieces: string[]): Promise<number> => (await readByLane(pieces, 'GET', () => true)).taken
  expect(await takenOf(HEAD, event, event + event, `${event}0\r\n\r\n`)).toBe(4)
  expect(await takenOf(HEAD + event, event, '0\r\n\r\n')).toBe(1)
  expect(await takenOf(HEAD + event.slice(0, 5), event.slice(5) + event, event, '0\r\n\r\n')).toBe(2)
  expect(await takenOf(HEAD, event + event.slice(0, 1), event.slice(1), event, '0\r\n\r\n')).toBe(2)
  expect(await takenOf(HEAD.slice(0, 40), HEAD.slice(40), event, '0\r\n\r\n')).toBe(0)
  expect(await takenOf(`HTTP/1.1 103 Early\r\n\r\n${HEAD}`, event, '0\r\n\r\n')).toBe(0)
})
