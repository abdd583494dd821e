/** SSE bodies through the sidecar: the same bytes, however they were written, cut or watched. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SeatPlan } from '../../src/core/seat.ts'
import { compileHop } from '../../src/hops/compile.ts'
import type { Buffering } from '../../src/hops/hop.ts'
import { buffering, hop, idle } from '../support/line-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, sseHead } from '../support/raw-http.ts'
import type { RawServer } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import type { RawSocket } from '../support/raw-socket.ts'
import { relay, sendParts } from '../support/relay.ts'
import { wireRig } from '../support/wire-rig.ts'

const BODIES: Readonly<Record<string, string>> = {
  LF: 'event: message\ndata: {"a":1}\n\ndata: b\ndata: c\n\n',
  CRLF: 'event: message\r\ndata: a\r\n\r\ndata: b\r\n\r\n',
  CR: 'event: message\rdata: a\r\rdata: b\r\r',
  'all line endings mixed': 'data: a\r\n\ndata: b\r\r\ndata: c\n\r\n\r\r\n\n',
  comments: ': ping\n\n:\n\n: one\n: two\ndata: x\n\n',
  ids: 'id: 1\ndata: a\n\nid\ndata: b\n\nid: \u0000\ndata: c\n\n',
  retry: 'retry: 3000\n\nretry: x\ndata: a\n\n',
  'empty data': 'data:\n\ndata\n\nid: 7\ndata: \n\nevent: ping\ndata:\n\n',
  'a byte order mark, UTF-8 and bytes that are not': '\xef\xbb\xbfdata: \xc3\xa9\xe2\x82\xac\n\ndata: \xff\xfe\x80\n\n',
  'no end of the last event': 'data: a\n\ndata: {"half":',
  'only blank lines': '\n\n\r\n\r\n\r\r',
  nothing: '',
}

const watching: readonly SeatPlan[] = compileHop(hop('watching', { buffering: buffering('none'), idle: idle(600_000) }))
const holding = (mode: Buffering['mode']): readonly SeatPlan[] =>
  compileHop(hop('holding', { buffering: buffering(mode), idle: idle(600_000) }))

describe.each([
  ['nobody on the line', []],
  ['a watching hop', watching],
])('%s', (_, plans) => {
  test.each(Object.entries(BODIES))('%s [transparency.sse-bytes]', async (_name, body) => {
    const { got } = await relay(callText(), [sseHead, ...(body === '' ? [] : [chunk(body)]), lastChunk], { plans })
    expect(got.head).toBe(`${sseHead.slice(0, sseHead.indexOf('\r\nTransfer'))}\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked`)
    expect(got.body.toString('latin1')).toBe(body)
    expect(got).toMatchObject({ framing: 'chunked', isWhole: true, trailers: [] })
  })
})

test('chunks go out in one write each, as they came [transparency.one-write]', async () => {
  const chunks = ['data: 1\n\ndata: 2\n\ndata: 3\n\n', 'data: 4', '\n\ndata: 5\n\n: x']
  const { got } = await relay(callText(), [sseHead, ...chunks.map(chunk), lastChunk])
  expect(got.chunks).toEqual(chunks.map(({ length }) => length))
})

test.each([
  ['nobody', []],
  ['a watching hop', watching],
])('one event of 4 MB, %s on the line [transparency.large-event]', async (_, plans) => {
  const event = Buffer.alloc(4 * 1_048_576 + 8, 'x')
  event.write('data: ')
  event.write('\n\n', event.length - 2)
  const framed = Buffer.concat([Buffer.from(`${event.length.toString(16)}\r\n`), event, Buffer.from('\r\n')])
  const { got, rig } = await relay(callText(), [sseHead, framed, chunk(': after\n\n'), lastChunk], { plans })
  expect(got.isWhole).toBe(true)
  expect(got.body.equals(Buffer.concat([event, Buffer.from(': after\n\n')]))).toBe(true)
  expect(rig.facts().filter(({ kind }) => kind === 'event')).toHaveLength(4) // two events, seen at both edges
})

/** One connection each way; `answer` is what the server writes next, part by part. */
async function keptRelay(plans: readonly SeatPlan[]): Promise<(parts: readonly Buffer[]) => Promise<Buffer>> {
  let parts: readonly Buffer[] = []
  const server: RawServer = await rawServer(async (connection) => {
    for (;;) {
      await connection.request(60_000)
      await sendParts(connection, parts)
    }
  })
  const rig = await wireRig(server.url, { plans })
  const client: RawSocket = await rawClient(rig.port)
  return async (next) => {
    parts = next
    await client.send(callText())
    const { isWhole, body } = await client.response()
    expect(isWhole).toBe(true)
    return body
  }
}

const SAMPLE = Object.values(BODIES).slice(0, -2).join('')

test.each([
  ['nobody', []],
  ['a watching hop', watching],
])('a cut at every byte of the answer, %s on the line [transparency.cut-anywhere]', async (_, plans) => {
  const ask = await keptRelay(plans)
  const body = 'id: 1\r\ndata: a\r\n\r\n: p\n\ndata: \xc3\xa9\r\rretry: 5\n\n'
  const answer = Buffer.from(sseHead + chunk(body.slice(0, 9)) + chunk(body.slice(9)) + lastChunk, 'latin1')
  for (let at = 1; at < answer.length; at += 1) {
    const got = await ask([answer.subarray(0, at), answer.subarray(at)])
    expect(got.toString('latin1'), `cut at ${at}`).toBe(body)
  }
})

test.each([
  ['nobody', []],
  ['a watching hop', watching],
  ['a hop that holds all', holding('full')],
  ['a hop that holds pages', holding({ bytes: 64 })],
  ['a hop one event behind', holding('one-behind')],
  ['a hop that holds for a time', holding({ everyMs: 2 })],
])('any cuts of the stream, %s on the line [transparency.cut-anywhere] [transparency.seats-keep-bytes]', async (_, plans) => {
  const ask = await keptRelay(plans)
  const answer = Buffer.from(sseHead + chunk(SAMPLE.slice(0, 100)) + chunk(SAMPLE.slice(100)) + lastChunk, 'latin1')
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: answer.length - 1 }), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(cuts, async (at) => {
      const edges = [0, ...at.sort((one, other) => one - other), answer.length]
      const got = await ask(edges.slice(1).map((edge, index) => answer.subarray(edges[index], edge)))
      expect(got.toString('latin1')).toBe(SAMPLE)
    }),
    { numRuns: 40 },
  )
})

test('every byte in a chunk of its own [transparency.cut-anywhere]', async () => {
  const { got } = await relay(callText(), [sseHead + [...SAMPLE].map(chunk).join('') + lastChunk])
  expect(got.body.toString('latin1')).toBe(SAMPLE)
})

test('a stream without chunks, to the end of its connection [transparency.sse-bytes]', async () => {
  const { got } = await relay(callText(), [headText(200, [['Content-Type', 'text/event-stream']]), SAMPLE], { closes: true })
  expect(got).toMatchObject({ framing: 'eof', isWhole: true })
  expect(got.body.toString('latin1')).toBe(SAMPLE)
})
