/** A trace that only the body may name: looked for before the request goes on, while the rest of it is read with the books. */
import { describe, expect, test } from 'vitest'
import type { Told } from '../../src/core/fact.ts'
import { compileLine } from '../../src/hops/compile.ts'
import { hop, idle } from '../support/line-rig.ts'
import { requestText } from '../support/raw-http.ts'
import { relay } from '../support/relay.ts'
import type { WireRigOptions } from '../support/wire-rig.ts'

const traceId = 'a1'.repeat(16)
const named = `00-${traceId}-${'b2'.repeat(8)}-01`
const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'

const bodyOf = (meta: string, text = 'x'): string =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"render","arguments":{"text":"${text}"},"_meta":{${meta}}}}`

async function sent(body: string, options: WireRigOptions = { inject: 'header' }) {
  const told: Told[] = []
  const headers: [string, string][] = [
    ['Host', 'h'],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(Buffer.byteLength(body))],
  ]
  const openRecord = () => ({ id: 'c1', tell: (one: Told) => void told.push(one) })
  const { seen, rig } = await relay(requestText('POST', '/', headers, body), OK, { ...options, openRecord })
  expect(seen.text).toBe(body)
  const [, given, spanId] = seen.headers('traceparent')[0]?.split('-') ?? []
  await rig.fact('finished')
  const kinds = told.map(({ kind }) => kind).filter((kind) => kind === 'unread' || kind === 'understood')
  return { given, spanId, kinds, understood: await rig.fact('understood'), order: told.map(({ kind }) => kind) }
}

describe('a trace in the body', () => {
  test.each([
    ['by its name', '"traceparent"'],
    ['by its name with an escape', '"trace\\u0070arent"'],
  ])('%s is continued [transparency.trace-in-body]', async (_, name) => {
    const { given, spanId, kinds, understood } = await sent(bodyOf(`${name}:"${named}"`))
    expect([given, kinds]).toEqual([traceId, ['understood']])
    expect(spanId).not.toBe('b2'.repeat(8))
    expect(understood).toMatchObject({ traceId, spanId, ask: { requests: [{ id: '7', tool: 'render', traceparent: named }] } })
  })
  test.each([
    ['where nothing names one', bodyOf(''), ['unread']],
    ['where a text has a backslash', bodyOf('', 'a\\n'), ['unread']],
    ['where a text has an escape', bodyOf('', '\\u0041'), ['understood']],
    ['where an argument is called so', bodyOf('', 'traceparent'), ['understood']],
    ['where the one named is none', bodyOf('"traceparent":"x"'), ['understood']],
  ])('%s there is a new one, and the call is known all the same [transparency.trace-in-body] [bench.read-later]', async (_, body, how) => {
    const { given, spanId, kinds, understood, order } = await sent(body)
    expect(given).toMatch(/^(?!0{32})[0-9a-f]{32}$/)
    expect(kinds).toEqual(how)
    expect(understood).toMatchObject({ traceId: given, spanId, ask: { kind: 'call', requests: [{ id: '7', tool: 'render' }] } })
    expect(order.slice(0, 4)).toEqual(['opened', 'moved', ...how, 'asked'])
  })
  test('is not looked for where none is given upstream; what is asked is read later [bench.read-later]', async () => {
    const { given, kinds, understood } = await sent(bodyOf(`"traceparent":"${named}"`), { inject: 'none' })
    expect([given, kinds]).toEqual([undefined, ['unread']])
    expect(understood).not.toHaveProperty('traceId')
  })
  test('a long request is read at once, for others would wait for its reading [bench.read-later]', async () => {
    const { given, kinds, understood } = await sent(bodyOf('', 'x'.repeat(65_536)))
    expect(kinds).toEqual(['understood'])
    expect(given).toMatch(/^[0-9a-f]{32}$/)
    expect(understood).toMatchObject({ ask: { requests: [{ id: '7', tool: 'render' }] } })
  })
  test('where somebody sits on the line what is asked is read before it goes on [bench.read-later]', async () => {
    const plans = compileLine([hop('a', { idle: idle(3_600_000) })], [])
    const { given, kinds, understood } = await sent(bodyOf(''), { inject: 'header', plans })
    expect(kinds).toEqual(['understood'])
    expect(understood).toMatchObject({ traceId: given })
  })
})
