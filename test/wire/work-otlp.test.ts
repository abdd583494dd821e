/** The real OpenTelemetry exporters against the receivers: every encoding tells the same truth. */
import { gzipSync } from 'node:zlib'
import { SpanKind, trace } from '@opentelemetry/api'
import { describe, expect, test, vi } from 'vitest'
import { realClock } from '../../src/wire/real-clock.ts'
import { collector, contextOf, otlpRig, tracing, WIRES } from '../support/otlp-rig.ts'
import { call, spanIdOf } from '../support/otlp-spans.ts'

const NEAR_MS = 50

describe.each(WIRES)('%s', (wire) => {
  test('work that ended 2 s after the close is told so, within 50 ms [work.otlp-encodings]', async () => {
    const rig = await otlpRig()
    const openedAtMs = realClock.nowMs() - 5_000
    rig.register(call('c1', { openedAtMs }))
    const { tracer, flush } = tracing(wire, rig)
    const openedWallMs = realClock.wallMs() - 5_000
    const attributes = { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'render', 'jsonrpc.request.id': '7' }
    const http = tracer.startSpan(
      'POST',
      { kind: SpanKind.SERVER, startTime: openedWallMs, attributes: { 'http.request.method': 'POST' } },
      contextOf(1),
    )
    const span = tracer.startSpan(
      'tools/call render',
      { kind: SpanKind.SERVER, startTime: openedWallMs + 10, attributes },
      trace.setSpan(contextOf(1), http),
    )
    span.end(openedWallMs + 5_000)
    http.end(openedWallMs + 3_000)
    await flush()
    await vi.waitFor(() => expect(rig.told).toHaveLength(2), 5_000)
    const [start, end] = rig.told.map(({ report }) => report)
    expect(start).toMatchObject({ source: 'otlp', event: 'start', requestId: '7' })
    expect(end).toMatchObject({ source: 'otlp', event: 'end', outcome: 'ok' })
    expect(Math.abs((start?.workAtMs ?? 0) - openedAtMs - 10)).toBeLessThan(NEAR_MS)
    expect(Math.abs((end?.workAtMs ?? 0) - (openedAtMs + 3_000) - 2_000)).toBeLessThan(NEAR_MS)
    expect(rig.counted).toEqual(['otlp matched'])
  })
})

test('1,000 concurrent calls of one trace, exported by the real SDK, are told apart [work.thousand-share-a-trace]', async () => {
  const rig = await otlpRig()
  const openedAtMs = realClock.nowMs()
  for (let n = 0; n < 1_000; n += 1)
    rig.register(call(`c${n}`, { openedAtMs, spanIds: [spanIdOf(1), spanIdOf(10_000 + n)], requestId: String(n % 500) }))
  const { tracer, flush } = tracing('protobuf', rig)
  for (let n = 0; n < 1_000; n += 1) {
    const attributes = { 'mcp.method.name': 'tools/call', 'jsonrpc.request.id': n % 500, 'expected.exchange': n }
    tracer.startSpan('tools/call', { kind: SpanKind.SERVER, attributes }, contextOf(10_000 + n)).end()
    if (n % 200 === 199) await flush()
  }
  await vi.waitFor(() => expect(rig.counted).toHaveLength(1_000), 10_000)
  const ends = rig.told.filter(({ report }) => report.event === 'end')
  expect(new Set(ends.map(({ exchangeId }) => exchangeId)).size).toBe(1_000)
  expect(ends.every(({ exchangeId, report }) => Number(report.requestId) === Number(exchangeId.slice(1)) % 500)).toBe(true)
  expect(new Set(rig.counted)).toEqual(new Set(['otlp matched']))
})

describe('the collector behind', () => {
  test.each(['protobuf+gzip', 'json', 'grpc'] as const)('%s: the raw bytes go on [work.forward]', async (wire) => {
    const { url, got } = await collector()
    const rig = await otlpRig({ forwardTo: url })
    const { tracer, flush } = tracing(wire, rig)
    tracer.startSpan('tools/call render', { attributes: { 'mcp.method.name': 'tools/call' } }, contextOf(1)).end()
    await flush()
    await vi.waitFor(() => expect(got).toHaveLength(1), 5_000)
    expect(got[0]?.path).toBe('/v1/traces')
    expect(got[0]?.headers['content-type']).toBe(wire === 'json' ? 'application/json' : 'application/x-protobuf')
    expect(got[0]?.headers['content-encoding']).toBe(wire === 'protobuf+gzip' ? 'gzip' : undefined)
  })
  test('metrics and logs go on unread, byte for byte, with the exporter’s headers', async () => {
    const { url, got } = await collector()
    const rig = await otlpRig({ forwardTo: new URL('/base/', url) })
    const body = gzipSync('not even protobuf')
    for (const signal of ['metrics', 'logs']) {
      const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip', 'x-api-key': 'k' }
      const answer = await fetch(`${rig.url}/v1/${signal}`, { method: 'POST', headers, body })
      expect(answer.status).toBe(200)
    }
    await vi.waitFor(() => expect(got).toHaveLength(2), 5_000)
    expect(got.map(({ path }) => path).sort()).toEqual(['/base/v1/logs', '/base/v1/metrics'])
    for (const { bytes, headers } of got) {
      expect(bytes.equals(body)).toBe(true)
      expect([headers['x-api-key'], headers['content-encoding']]).toEqual(['k', 'gzip'])
    }
    expect(rig.warned).toEqual([])
  })
  test('without a collector metrics and logs succeed, with one warning each [work.metrics-and-logs]', async () => {
    const rig = await otlpRig()
    for (const signal of ['metrics', 'logs', 'metrics']) {
      const answer = await fetch(`${rig.url}/v1/${signal}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
      expect([answer.status, await answer.text()]).toEqual([200, '{}'])
    }
    expect(rig.warned).toHaveLength(2)
  })
  test('a collector that fails or is away harms nothing: counted, one warning [work.forward-fails-alone]', async () => {
    const { url } = await collector({ status: 503 })
    for (const forwardTo of [url, new URL('http://127.0.0.1:1')]) {
      const rig = await otlpRig({ forwardTo })
      rig.register(call('c1', { openedAtMs: realClock.nowMs() }))
      const { tracer, flush } = tracing('protobuf', rig)
      for (const _ of [1, 2]) {
        tracer.startSpan('tools/call', { attributes: { 'mcp.method.name': 'tools/call' } }, contextOf(1)).end()
        await flush()
      }
      await vi.waitFor(() => expect(rig.receivers.forwarder?.counts()).toEqual({ sent: 0, failed: 2, dropped: 0 }), 5_000)
      expect(rig.counted).toEqual(['otlp matched', 'otlp matched'])
      expect(rig.warned).toHaveLength(1)
    }
  })
})
