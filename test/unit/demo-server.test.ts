/** The demo's server and client against each other, with nothing between them. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connectDemoClient } from '../../src/demo/client.ts'
import { runDemo } from '../../src/demo/demo.ts'
import { startDemoServer } from '../../src/demo/server.ts'
import { connectV2Client } from '../support/mcp-clients.ts'

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

/** Takes work reports as the sidecar's admin port does. */
async function startReportTaker(status = 202): Promise<{ url: URL; reports: Record<string, unknown>[] }> {
  const reports: Record<string, unknown>[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    reports.push({ target: `${request.method} ${request.url}`, ...JSON.parse(body) })
    response.writeHead(status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), reports }
}

async function start() {
  const server = await startDemoServer()
  onTestFinished(() => server.stop())
  const { url, reports } = await startReportTaker()
  server.reportTo(url)
  return { server, reports, events: () => reports.map(({ event }) => event) }
}

test.each([
  ['render_obedient', 'abort'],
  ['render_deaf', 'end'],
])('%s, left by its client: its last report is %s [demo.two-tools]', async (tool, last) => {
  const { server, reports, events } = await start()
  const client = await connectV2Client(new URL('/mcp', server.origin), { headers: { traceparent: TRACEPARENT } })
  const leaving = new AbortController()
  const startedMs = Date.now()
  const call = client.callTool(
    { name: tool, arguments: { workMs: 600, progressEveryMs: 50 } },
    { signal: leaving.signal, onprogress: () => leaving.abort() },
  )
  await expect(call).rejects.toThrow()
  await expect.poll(events).toEqual(['start', last])
  expect(reports[0]).toMatchObject({ target: 'POST /api/v1/work', traceparent: TRACEPARENT, requestId: expect.anything() })
  const workedMs = Number(reports[1]?.['at']) - startedMs
  if (last === 'end') expect(workedMs).toBeGreaterThan(590)
  expect(server.lostReports()).toEqual([])
})
test('undisturbed, both give their result after all their progress; silence is kept when asked', async () => {
  const { server, events } = await start()
  const client = await connectV2Client(new URL('/mcp', server.origin), { headers: { traceparent: TRACEPARENT } })
  const counts: number[] = []
  for (const args of [
    { workMs: 100, progressEveryMs: 20 },
    { workMs: 100, progressEveryMs: 20, silentAfterMs: 40 },
  ]) {
    let count = 0
    const onprogress = () => {
      count += 1
    }
    const result = await client.callTool({ name: 'render_deaf', arguments: args }, { onprogress })
    expect(result.content).toEqual([{ type: 'text', text: 'rendered in 5 steps' }])
    counts.push(count)
  }
  expect(counts).toEqual([4, 2])
  await expect.poll(events).toEqual(['start', 'end', 'start', 'end'])
})
test('the client tells what it has: waiting, a result, or that it left', async () => {
  const { server } = await start()
  const client = await connectDemoClient(server.origin, 'demo-test')
  onTestFinished(() => client.stop())
  const patient = client.call('render_obedient', { workMs: 100, progressEveryMs: 20 }, { leaveAfterMs: null })
  const impatient = client.call('render_obedient', { workMs: 5_000, progressEveryMs: 20 }, { leaveAfterMs: 60 })
  expect(patient.outcome()).toEqual({ is: 'waiting' })
  await expect.poll(patient.outcome).toEqual({ is: 'result', text: 'rendered in 5 steps' })
  await expect.poll(impatient.outcome).toEqual({ is: 'left' })
})
test('reports that do not arrive are told, and cost the call nothing', async () => {
  const { server } = await start()
  const client = await connectV2Client(new URL('/mcp', server.origin))
  await client.callTool({ name: 'render_deaf', arguments: { workMs: 10, progressEveryMs: 10 } })
  expect(server.lostReports()).toEqual([expect.stringMatching(/without a traceparent/), expect.stringMatching(/without a traceparent/)])
  server.reportTo((await startReportTaker(403)).url)
  const traced = await connectV2Client(new URL('/mcp', server.origin), { headers: { traceparent: TRACEPARENT } })
  await traced.callTool({ name: 'render_deaf', arguments: { workMs: 10, progressEveryMs: 10 } })
  await expect.poll(() => server.lostReports().filter((lost) => lost.includes('answered 403'))).toHaveLength(2)
})
test('a sidecar that cannot start ends the demo with one line and code 3 [demo.cannot-start]', async () => {
  const printed: string[] = []
  const code = await runDemo(
    { isServing: false },
    {
      startSidecar: () => Promise.reject(new Error('127.0.0.1:8080 is taken')),
      print: (text) => void printed.push(text),
      paint: (_colour, text) => text,
      untilStopped: () => Promise.resolve(),
    },
  )
  expect(code).toBe(3)
  expect(printed).toEqual(['demo: 127.0.0.1:8080 is taken'])
})
