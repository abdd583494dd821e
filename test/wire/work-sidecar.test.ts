/** The whole way: real clients, the sidecar, real servers that report their work, the record that comes of it. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROOT_CONTEXT, SpanKind, TraceFlags, trace } from '@opentelemetry/api'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startApp } from '../../src/app.ts'
import { loadSettings } from '../../src/config/load.ts'
import { silentLog } from '../../src/core/log.ts'
import type { CallRecord } from '../../src/core/record.ts'
import { createProbe } from '../../src/work/probe.ts'
import { connectV1Client, connectV2Client } from '../support/mcp-clients.ts'
import { inputSchema, said, v1StatefulServer, v2Server } from '../support/otlp-mcp.ts'
import { tracing } from '../support/otlp-rig.ts'
import { parentOf } from '../support/otlp-spans.ts'

const NEAR_MS = 250 // of real processes on a busy machine
const GRACE = '300ms'

async function sidecar(upstream: string, flags: Record<string, string> = {}) {
  const any = '127.0.0.1:0'
  const asked = { upstream: new URL(upstream).origin, listen: any, admin: any, otlp: any, 'otlp-grpc': any, grace: GRACE, ...flags }
  const loaded = loadSettings({ flags: asked, env: {}, readFile: () => '' })
  if ('errors' in loaded) throw new Error(loaded.errors.join('\n'))
  const app = await startApp({ ...loaded.settings, drainMs: 0 }, { log: silentLog, writeOut: () => undefined })
  onTestFinished(() => app.stop())
  const { listen, admin, otlp } = app.addresses
  const records = async (): Promise<CallRecord[]> => {
    const answer = await fetch(`http://127.0.0.1:${admin.port}/api/v1/calls`)
    const { calls } = (await answer.json()) as { calls: CallRecord[] }
    return calls.filter(({ method }) => method === 'tools/call')
  }
  const settled = async (): Promise<CallRecord> =>
    await vi.waitFor(
      async () => {
        const [record] = await records()
        if (record === undefined || record.work.outcome === 'pending') throw new Error(`pending: ${JSON.stringify(record?.work)}`)
        return record
      },
      { timeout: 20_000, interval: 100 },
    )
  return { url: new URL(`http://127.0.0.1:${listen.port}/mcp`), otlpUrl: `http://127.0.0.1:${otlp?.port}`, admin, records, settled }
}

/** A tool of so many milliseconds that obeys its signal or does not. */
const working = async (workMs: number, obeys: boolean, signal: AbortSignal) => {
  if (obeys) await sleep(workMs, undefined, { signal })
  else await sleep(workMs)
  return said('done')
}

/** The probe needs the sidecar's address, which needs the server's: it is made at the first call. */
function lateProbe() {
  const at = { url: '' }
  let probe: ReturnType<typeof createProbe> | null = null
  onTestFinished(() => probe?.close())
  return {
    at,
    get: () => {
      probe ??= createProbe({ url: at.url })
      return probe
    },
  }
}

async function v2Rig(workMs: number, obeys: boolean) {
  const probe = lateProbe()
  const url = await v2Server((server) => {
    server.registerTool('render', { inputSchema }, (_args, context) =>
      probe.get().run(context, () => working(workMs, obeys, context.mcpReq.signal)),
    )
  })
  const front = await sidecar(url)
  probe.at.url = front.otlpUrl
  return { ...front, client: await connectV2Client(front.url) }
}
async function v1Rig(workMs: number, obeys: boolean) {
  const probe = lateProbe()
  const url = await v1StatefulServer((server) => {
    server.registerTool('render', { inputSchema: inputSchema.shape }, (_args, extra) =>
      probe.get().run(extra, () => working(workMs, obeys, extra.signal)),
    )
  })
  const front = await sidecar(url)
  probe.at.url = front.otlpUrl
  return { ...front, client: await connectV1Client(front.url) }
}
const ask = { name: 'render', arguments: { text: 'x' } }
const near = (ms: number | null, expectedMs: number): void => expect(Math.abs((ms ?? Number.NaN) - expectedMs)).toBeLessThan(NEAR_MS)

test('v2: a deaf tool is orphaned, by as long as it worked on; a violation [work.sidecar-v2]', async () => {
  const { client, settled } = await v2Rig(2_000, false)
  await expect(client.callTool(ask, { timeout: 700 })).rejects.toThrow()
  const record = await settled()
  expect(record).toMatchObject({
    revision: '2026-07-28',
    closedBy: 'client',
    abandonedBy: 'close',
    work: { source: 'probe', outcome: 'orphaned' },
  })
  near(record.work.endedMs, 2_000)
  near(record.work.afterCloseMs, 2_000 - (record.abandonedMs ?? 0))
  expect(record.violations).toEqual(['work-after-cancel'])
})
test('v2: an obedient tool is stopped; no violation [work.sidecar-v2]', async () => {
  const { client, settled } = await v2Rig(5_000, true)
  await expect(client.callTool(ask, { timeout: 700 })).rejects.toThrow()
  const record = await settled()
  expect(record).toMatchObject({ closedBy: 'client', work: { source: 'probe', outcome: 'stopped' }, violations: [] })
  near(record.work.endedMs, record.abandonedMs ?? 0)
})
test('v1 stateful on a FIN: runs to completion, and that is no violation [work.sidecar-v1]', async () => {
  const { url, settled, client } = await v1Rig(2_000, true)
  const session = (client.transport as { sessionId?: string } | undefined)?.sessionId ?? ''
  const abort = new AbortController()
  const body = JSON.stringify({ jsonrpc: '2.0', id: 70, method: 'tools/call', params: ask })
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-session-id': session,
    'mcp-protocol-version': '2025-11-25',
  }
  await fetch(url, { method: 'POST', headers, body, signal: abort.signal })
  await sleep(500)
  abort.abort()
  const record = await settled()
  expect(record).toMatchObject({
    revision: '2025-11-25',
    closedBy: 'client',
    abandonedBy: 'close',
    work: { outcome: 'orphaned' },
    violations: [],
  })
  near(record.work.endedMs, 2_000)
})
test('v1: after notifications/cancelled an obedient tool is stopped, its stream left open [work.sidecar-v1]', async () => {
  const { client, settled, records } = await v1Rig(20_000, true)
  await expect(client.callTool(ask, undefined, { timeout: 700 })).rejects.toThrow()
  await vi.waitFor(async () => expect((await records())[0]?.abandonedBy).toBe('notification'), { timeout: 10_000 })
  await client.close()
  const record = await settled()
  expect(record).toMatchObject({ abandonedBy: 'notification', work: { source: 'probe', outcome: 'stopped' }, violations: [] })
})
test('v1: a deaf tool whose client timed out and left the stream open is orphaned from the notification on [work.sidecar-v1]', async () => {
  const { client, settled } = await v1Rig(3_000, false)
  await expect(client.callTool(ask, undefined, { timeout: 1_000 })).rejects.toThrow()
  await sleep(2_500)
  await client.close()
  const record = await settled()
  expect(record).toMatchObject({
    abandonedBy: 'notification',
    work: { source: 'probe', outcome: 'orphaned' },
    violations: ['cancel-ignored'],
  })
  near(record.abandonedMs, 1_000)
  near(record.work.afterCloseMs, 2_000)
})

const PARALLEL = 1_000
test('1,000 concurrent calls of one trace and one JSON-RPC id, through the sidecar, each gets its own span’s work [work.thousand-share-a-trace]', async () => {
  const waiting: { response: ServerResponse; traceparent: string }[] = []
  const server = createServer((request, response) => {
    request.resume().once('end', () => waiting.push({ response, traceparent: String(request.headers['traceparent']) }))
  }).listen({ port: 0, host: '127.0.0.1', backlog: PARALLEL })
  await once(server, 'listening')
  onTestFinished(() => server.closeAllConnections())
  const front = await sidecar(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const { tracer, flush } = tracing('protobuf', { url: front.otlpUrl, grpcUrl: '' })
  const calls = Array.from({ length: PARALLEL }, async (_, n) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: `tool${n}`, arguments: {} } })
    const answer = await fetch(front.url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', traceparent: parentOf(1) },
    })
    return await answer.text()
  })
  await vi.waitFor(() => expect(waiting).toHaveLength(PARALLEL), { timeout: 50_000 })
  expect(new Set(waiting.map(({ traceparent }) => traceparent)).size).toBe(PARALLEL)
  for (const [n, { traceparent }] of waiting.entries()) {
    const [, traceId = '', spanId = ''] = traceparent.split('-')
    const parent = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true })
    tracer
      .startSpan(
        'tools/call',
        { kind: SpanKind.SERVER, attributes: { 'mcp.method.name': 'tools/call', 'jsonrpc.request.id': '7' } },
        parent,
      )
      .end()
    if (n % 250 === 249) await flush()
  }
  const reports = async (result: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${front.admin.port}/metrics`)).text()
    const line = text
      .split('\n')
      .find((one) => one.startsWith('impatient_work_reports_total') && one.includes('"otlp"') && one.includes(`"${result}"`))
    return Number(line?.split(' ').at(-1) ?? Number.NaN)
  }
  await vi.waitFor(async () => expect(await reports('matched')).toBe(PARALLEL), { timeout: 20_000, interval: 500 })
  expect(await reports('ambiguous')).toBe(0)
  for (const { response } of waiting) {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":7,"result":{"content":[]}}')
  }
  await Promise.all(calls)
  const records = await front.records()
  expect(new Set(records.map(({ tool }) => tool)).size).toBe(PARALLEL)
  expect(records.filter(({ work }) => work.source === 'otlp')).toHaveLength(PARALLEL)
})
