/** How the whole sidecar stops: what it waits for, what it cuts at once, and what /drain of the metrics port leaves standing. */
import { expect, test } from 'vitest'
import { ask } from '../support/admin-rig.ts'
import type { AppRig } from '../support/app-rig.ts'
import { appRig } from '../support/app-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'

const LONG = { timeout: 20_000, interval: 20 }
const METRICS = 'metrics: { listen: 127.0.0.1:0 }\n'

/** Streams to whoever asks, and ends no stream but a call's, when told. */
async function streams() {
  const calls: RawConnection[] = []
  const { url } = await rawServer(async (connection: RawConnection) => {
    const { text } = await connection.request()
    if (text.includes('tools/call')) calls.push(connection)
    await connection.send(sseHead + chunk(progressEvent(1)))
  })
  return { url, answer: async () => void (await calls[0]?.send(chunk(resultEvent()) + lastChunk)) }
}

async function opened(rig: AppRig, text: string) {
  const client = await rawClient(rig.port)
  client.send(text)
  await client.until('"progress":1')
  return client
}
const causes = async (rig: AppRig): Promise<unknown> =>
  ((await rig.api('GET', '/calls')).json()['calls'] as { id: string; cause: string | null }[]).map(({ cause }) => cause)
const GET_STREAM = requestText('GET', '/mcp', [
  ['Accept', 'text/event-stream'],
  ['MCP-Protocol-Version', '2025-06-18'],
])

test('GET /drain answers when open calls are over; the sidecar stays, not ready, until it is told to stop [stop.drain-route]', async () => {
  const upstream = await streams()
  const rig = await appRig(upstream.url, { yaml: METRICS, flags: { drain: '60s' } })
  const port = rig.app.addresses.metrics?.port ?? 0
  await opened(rig, callText())
  const drained = ask(port, '/drain')
  await expect.poll(async () => (await ask(port, '/readyz')).status, LONG).toBe(503)
  expect(rig.app.openCalls()).toBe(1)
  await upstream.answer()
  const answer = await drained
  expect([answer.status, answer.body]).toEqual([200, 'drained\n'])
  expect([(await ask(port, '/readyz')).status, (await ask(port, '/healthz')).status]).toEqual([503, 200])
  expect((await ask(port, '/drain')).status).toBe(200)
  await rig.app.stop()
  expect(rig.app.summaryLines().join('\n')).toContain('complete 1')
})

test('GET /drain answers when its time is up; the call goes on until the stop, which waits no second time [stop.drain-route]', async () => {
  const upstream = await streams()
  const rig = await appRig(upstream.url, { yaml: METRICS, flags: { drain: '100ms' } })
  const client = await opened(rig, callText())
  const answer = await ask(rig.app.addresses.metrics?.port ?? 0, '/drain')
  expect([answer.status, answer.body]).toEqual([200, 'the time is up: 1 call goes on\n'])
  expect(client.ended()).toBeNull()
  await rig.app.stop()
  await client.untilEnded()
  expect(rig.app.summaryLines().join('\n')).toContain('shutdown 1')
})

test.each([
  ['a GET stream', GET_STREAM],
  [
    'a subscription',
    requestText(
      'POST',
      '/mcp',
      [
        ['Content-Type', 'application/json'],
        ['MCP-Protocol-Version', '2026-07-28'],
        ['Mcp-Method', 'subscriptions/listen'],
      ],
      '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}',
    ),
  ],
])('%s is not waited for: it is cut at once as shutdown, while a call has its time [stop.waits-for-calls]', async (_, text) => {
  const upstream = await streams()
  const rig = await appRig(upstream.url, { flags: { drain: '60s' } })
  const call = await opened(rig, callText())
  const stream = await opened(rig, text)
  const stopped = rig.app.stop()
  await stream.untilEnded()
  expect(await causes(rig)).toEqual([null, 'shutdown'])
  expect([call.ended(), rig.app.openCalls()]).toEqual([null, 1])
  await upstream.answer()
  await stopped
  expect((await call.response()).isWhole).toBe(true)
})

test('a GET stream on which an answer is awaited, as in 2024-11-05, has its time [stop.waits-for-calls]', async () => {
  let answers: RawConnection | null = null
  const upstream = await rawServer(async (connection) => {
    const { method } = await connection.request()
    if (method === 'GET') {
      answers = connection
      await connection.send(sseHead + chunk('event: endpoint\ndata: /messages?sessionId=s1\n\n') + chunk(progressEvent(1)))
    } else await connection.send(headText(202, [['Content-Length', '0']], 'Accepted'))
  })
  const rig = await appRig(upstream.url, { flags: { drain: '60s' } })
  const stream = await opened(rig, requestText('GET', '/sse', [['Accept', 'text/event-stream']]))
  const poster = await rawClient(rig.port)
  const body = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"render","arguments":{}}}'
  poster.send(requestText('POST', '/messages?sessionId=s1', [['Content-Type', 'application/json']], body))
  expect((await poster.response()).status).toBe(202)
  const stopped = rig.app.stop()
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(stream.ended()).toBeNull()
  await (answers as RawConnection | null)?.send(chunk(resultEvent(7)))
  await stream.untilEnded()
  await stopped
})

test('told to hurry, it cuts what is open at once and still has its summary [stop.hurry]', async () => {
  const upstream = await streams()
  const rig = await appRig(upstream.url, { flags: { drain: '1h' } })
  const call = await opened(rig, callText())
  const stopped = rig.app.stop()
  rig.app.hurry()
  await stopped
  await call.untilEnded()
  expect(rig.app.summaryLines().join('\n')).toContain('shutdown 1')
})
