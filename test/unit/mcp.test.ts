/** What requests and events mean: read from headers, raw JSON and SSE, with ids that no number can hold. */
import { describe, expect, test } from 'vitest'
import { type AskMeaning, decodeName, headersTell, readAsk } from '../../src/core/mcp/ask.ts'
import { bytesOfText, textOfBytes, writtenOf } from '../../src/core/mcp/json-text.ts'
import { findIn, idOf, isRaw, shapeOf, slotOf } from '../../src/core/mcp/raw-json.ts'
import { dataOf, meaningOf, meaningOfJson } from '../../src/core/meaning.ts'
import type { EventMark } from '../../src/core/signal.ts'

const post = (body: string | null, rawHeaders: string[] = []): AskMeaning => readAsk({ method: 'POST', target: '/mcp', rawHeaders }, body)
const call = (id: string, more = ''): string =>
  `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"render","arguments":{"id":99}${more}},"id":${id}}`
const mark = (text: string, pieces: string[] = []): EventMark => ({
  earlier: pieces.length === 0 ? null : pieces.map(bytesOfText),
  bytes: bytesOfText(text),
  isTooLong: false,
})

describe('ids', () => {
  test.each(['0', '7', '-1', '"a"', '9007199254740993', '123456789012345678901234567890', '"9007199254740993"'])(
    '%s stays as it is written [ledger.raw-ids]',
    (id) => expect(post(call(id)).requests[0]?.id).toBe(id),
  )
  test('one way of writing: escapes and needless fractions go', () => {
    expect(post(call('"\\u0061"')).requests[0]?.id).toBe('"a"')
    expect(post(call('1.0')).requests[0]?.id).toBe('1')
  })
  test('an id inside the arguments, a dotted key or a string fools nobody', () => {
    const body =
      '{"params":{"name":"x","arguments":{"id":1,"method":"initialize","s":"\\"id\\":2"}},"params._meta":{"id":3},"id":4,"method":"tools/call"}'
    expect(post(body).requests).toMatchObject([{ id: '4', method: 'tools/call', tool: 'x', progressToken: null, traceparent: null }])
  })
  test('of a name given twice the last counts, as for JSON.parse', () => {
    expect(post('{"id":1,"method":"a","id":2,"method":"b"}').requests[0]).toMatchObject({ id: '2', method: 'b' })
  })
  test('keys with escapes are read', () => expect(post('{"\\u0069d":5,"method":"ping"}').requests[0]?.id).toBe('5'))
})

describe('kinds', () => {
  test('by what is in the body', () => {
    expect(post(call('1')).kind).toBe('call')
    expect(post('{"jsonrpc":"2.0","id":"listen:0","method":"subscriptions/listen"}').kind).toBe('subscription')
    expect(post('{"jsonrpc":"2.0","method":"notifications/initialized"}').kind).toBe('notification')
    expect(post('{"jsonrpc":"2.0","id":1,"result":{}}').kind).toBe('notification')
    expect(post('{"hello":1}').kind).toBe('other')
    expect(post('{"jsonrpc":').kind).toBe('other')
    expect(post('').kind).toBe('other')
    expect(post(null).kind).toBe('other')
  })
  test('by method and headers', () => {
    const get = (...rawHeaders: string[]): string => readAsk({ method: 'GET', target: '/mcp', rawHeaders }, null).kind
    expect(get('Accept', 'application/json, text/event-stream')).toBe('get_sse')
    expect(get('Accept', 'text/html')).toBe('other')
    expect(get('Connection', 'Upgrade', 'Upgrade', 'websocket')).toBe('websocket')
    expect(readAsk({ method: 'DELETE', target: '/mcp', rawHeaders: [] }, null).kind).toBe('other')
  })
  test('a batch gives its requests and notifications apart', () => {
    const batch = post(`[${call('1')},${call('"1"')},{"method":"notifications/cancelled","params":{"requestId":9007199254740993}}]`)
    expect(batch.kind).toBe('call')
    expect(batch.requests.map(({ id }) => id)).toEqual(['1', '"1"'])
    expect(batch.notifications).toEqual([{ method: 'notifications/cancelled', requestId: '9007199254740993' }])
  })
})

describe('headers of 2026-07-28', () => {
  const modern = ['MCP-Protocol-Version', '2026-07-28', 'Mcp-Method', 'tools/call', 'Mcp-Name', '=?base64?csO2bnRnZW4=?=']
  test('tell before the body, which then brings the id [ledger.headers-decide]', () => {
    expect(headersTell(modern, 'POST')).toBe(true)
    expect(post(null, modern)).toMatchObject({
      kind: 'call',
      revision: '2026-07-28',
      requests: [{ id: '', method: 'tools/call', tool: 'röntgen' }],
    })
    expect(post(call('7', ',"_meta":{"progressToken":"p"}'), modern).requests).toMatchObject([
      { id: '7', method: 'tools/call', tool: 'röntgen', progressToken: '"p"', traceparent: null },
    ])
    expect(post(null, ['Mcp-Method', 'subscriptions/listen']).kind).toBe('subscription')
    expect(post(null, ['Mcp-Method', 'notifications/progress']).kind).toBe('notification')
  })
  test('do not tell without a method, a tool, or in an older revision', () => {
    expect(headersTell([], 'POST')).toBe(false)
    expect(headersTell(['mcp-method', 'tools/call'], 'POST')).toBe(false)
    expect(headersTell(['mcp-method', 'ping', 'mcp-protocol-version', '2025-11-25'], 'POST')).toBe(false)
    expect(headersTell([], 'GET')).toBe(true)
  })
  test('a name that is no base64 stands for itself', () => {
    expect(decodeName('plain')).toBe('plain')
    expect(decodeName('=?base64?/w==?=')).toBe('=?base64?/w==?=')
  })
})

test('revision, client, session and trace from wherever they are', () => {
  const meta =
    '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"inspector"},"traceparent":"00-a-b-01"}'
  expect(post(call('1', `,${meta}`), ['User-Agent', 'node/20'])).toMatchObject({
    revision: '2026-07-28',
    client: 'inspector',
    requests: [{ traceparent: '00-a-b-01' }],
  })
  expect(post('{"id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"h"}}}')).toMatchObject({
    revision: '2025-06-18',
    client: 'h',
  })
  expect(
    post(call('1'), ['MCP-Protocol-Version', '2025-11-25', 'User-Agent', 'python-httpx/0.27 (linux)', 'mcp-session-id', 's']),
  ).toMatchObject({
    revision: '2025-11-25',
    client: 'python-httpx',
    session: 's',
  })
  expect(readAsk({ method: 'POST', target: '/messages?sessionId=a%20b', rawHeaders: [] }, call('1')).session).toBe('a b')
})

test('what is asked is told apart by a number: whatever the order of parameters, without `_meta`', () => {
  const hashOf = (params: string): number | null | undefined => post(`{"id":1,"method":"m","params":{${params}}}`).requests[0]?.paramsHash
  const [a, b, c] = ['"a":"x"', '"b":[1,{"y":2}]', '"c":9007199254740993']
  expect(hashOf(`${c},${a}, ${b} ,"_meta":{"progressToken":1}`)).toBe(hashOf(`${a},${b},${c}`))
  expect(hashOf(`"_meta" : {} , ${a}`)).toBe(hashOf(a))
  const others = ['', '"a":"y"', '"a":"b","b":"a"', '"a":"a","b":"b"', b, c, '"c":9007199254740992', `${a},${b}`, '"a":["x"]']
  expect(new Set([a, ...others].map(hashOf)).size).toBe(others.length + 1)
  expect(post('{"id":1,"method":"m"}').requests[0]?.paramsHash).toBeNull()
})

describe('raw JSON', () => {
  const ANY = shapeOf({})
  /** As bytes, and as a text that is written for the moment: after a longer one, whose rest is still there. */
  function accepts(text: string): boolean {
    const bytes = bytesOfText(text)
    writtenOf(`${text}${'"]}'.repeat(9)}`)
    const written = writtenOf(text)
    const isJson = findIn(bytes, bytes.length, ANY) !== null
    expect(findIn(written.bytes, written.length, ANY) !== null).toBe(isJson)
    return isJson
  }
  test.each(['1', '-0.5e+3', '"a\\u00e9\\n"', 'null', '[1,[true,{"a":[]}],false]', ' {"a" : {} } '])('takes %s', (text) =>
    expect(accepts(text)).toBe(true),
  )
  test.each(['', '01', '1.', '-', '1e', '"a', '"\\q"', '"\\u12g4"', '"\n"', '{a:1}', '{"a":1,}', '[1,]', '[1 2]', 'nul', '1 2', '{"a"}'])(
    'refuses %j',
    (text) => expect(accepts(text)).toBe(false),
  )
  test('agrees with JSON.parse on what is JSON', () => {
    const seeds = ['{"id":7,"m":"a\\"b"}', '[{"x":-1.5e2},null,"\\u12ab"]']
    for (const seed of seeds) {
      for (let at = 0; at < seed.length; at += 1) {
        for (const char of ['', '"', '}', ']', ',', ':', '0', '\\', 'e', ' ', '-', '.']) {
          const text = seed.slice(0, at) + char + seed.slice(at + 1)
          let isJson = true
          try {
            JSON.parse(text)
          } catch {
            isJson = false
          }
          expect(accepts(text), text).toBe(isJson)
        }
      }
    }
  })
  test('has a limit on depth', () => {
    expect(accepts('['.repeat(150) + ']'.repeat(150))).toBe(true)
    expect(accepts('['.repeat(100_000) + ']'.repeat(100_000))).toBe(false)
  })
  test('an id is a string or a number', () => {
    const shape = shapeOf({ id: {} })
    const bytes = bytesOfText('{"id":{"a":1}}')
    const [found] = findIn(bytes, bytes.length, shape) ?? []
    const slot = slotOf(shape, 'id')
    if (found === undefined) throw new Error('nothing was found')
    expect(isRaw(bytes, found, slot, '{"a":1}')).toBe(true)
    expect(idOf(bytes, found, slot)).toBeNull()
  })
  test('of a name given twice the last counts, with all that is in it', () => {
    const shape = shapeOf({ a: { b: {} } })
    const bytes = bytesOfText('{"a":{"b":1},"a":{"c":2}}')
    const [found] = findIn(bytes, bytes.length, shape) ?? []
    expect(found === undefined ? null : [...found.spans]).toEqual([17, 24, -1, expect.any(Number)])
  })
  test('texts that are read again and again are the texts they are', () => {
    for (let round = 0; round < 2; round += 1) {
      for (let n = 0; n < 5_000; n += 1) expect(textOfBytes(bytesOfText(`id-${n}`))).toBe(`id-${n}`)
      for (const text of ['', 'é', 'x'.repeat(64), 'x'.repeat(65), '\u0000', '😀']) expect(textOfBytes(bytesOfText(text))).toBe(text)
    }
  })
})

describe('events', () => {
  const means = (text: string): unknown => meaningOf(mark(text))
  test('by what they carry', () => {
    expect(means(': keepalive\n\n')).toEqual({ is: 'comment' })
    expect(means('retry: 5\nid: 1\n\n')).toEqual({ is: 'comment', eventId: '1' })
    expect(means('id: 1\ndata: \n\n')).toEqual({ is: 'other', eventId: '1' })
    expect(means('data: {"method":"notifications/progress","params":{"progress":1,"progressToken":3}}\n\n')).toEqual({
      is: 'progress',
      token: '3',
      value: 1,
    })
    expect(means('event: message\ndata: {"result":{"id":5},"jsonrpc":"2.0","id":9007199254740993}\n\n')).toMatchObject({
      is: 'result',
      id: '9007199254740993',
      outcome: 'ok',
    })
    expect(means('data: {"id":1,"error":{"code":-1}}\n\n')).toMatchObject({ is: 'result', outcome: 'protocol_error' })
    expect(means('data: {"id":1,"result":{"isError":true}}\n\n')).toMatchObject({ outcome: 'tool_error' })
    expect(means('data: {"id":1,"result":{"resultType":"task","taskId":"t"}}\n\n')).toMatchObject({ isTask: true })
    expect(means('data: {"id":1,"method":"ping"}\n\n')).toEqual({ is: 'request' })
    expect(means('data: {"method":"notifications/message"}\n\n')).toEqual({ is: 'notification', method: 'notifications/message' })
    expect(means('data: {"id":1,"result":{}\n\n')).toEqual({ is: 'other' })
    expect(means('event: endpoint\ndata: {"id":1,"result":{}}\n\n')).toEqual({ is: 'other' })
  })
  test('over several data lines, several pieces, every line ending', () => {
    for (const nl of ['\n', '\r\n', '\r']) {
      const event = mark(`${nl}data:"result":{}}${nl}${nl}`, ['da', `ta: {"id":8,${nl}data`])
      expect(dataOf({ ...event, earlier: [bytesOfText(`data: {"id":8,`)] })).toBe('{"id":8,\n"result":{}}')
      expect(meaningOf({ ...event, earlier: [bytesOfText('da'), bytesOfText('ta: {"id":8,')] })).toMatchObject({ is: 'result', id: '8' })
    }
  })
  test('a batch of answers is all of them', () => {
    expect(meaningOfJson(bytesOfText('[{"id":1,"result":{}},{"method":"x"},{"id":2,"error":{}}]'))).toMatchObject({
      is: 'result',
      id: '1',
      also: [{ id: '2', outcome: 'protocol_error' }],
    })
  })
  test('an id of null is an answer to nobody known', () =>
    expect(meaningOfJson(bytesOfText('{"id":null,"error":{}}'))).toMatchObject({ is: 'result', id: null }))
})
