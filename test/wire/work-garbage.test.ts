/** Garbage on the receivers: the right status, bounded memory, and the good spans beside it kept. */
import { once } from 'node:events'
import { connect as connectH2, constants } from 'node:http2'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { realClock } from '../../src/wire/real-clock.ts'
import { decodeSpans, SPANS_MAX } from '../../src/work/otlp-decode.ts'
import { startWorkReceivers } from '../../src/work/receivers.ts'
import type { Span } from '../../src/work/span.ts'
import { otlpRig } from '../support/otlp-rig.ts'
import { call, spanIdOf, TRACE } from '../support/otlp-spans.ts'

const MiB = 1_048_576
const attribute = (key: string, value: unknown) => ({ key, value: { stringValue: value } })
const jsonSpan = (id: number, more: object = {}) => ({
  ...{ traceId: TRACE, spanId: spanIdOf(id), parentSpanId: spanIdOf(1), name: 'tools/call', kind: 2 },
  ...{ startTimeUnixNano: `${Math.round(realClock.wallMs())}000000`, endTimeUnixNano: `${Math.round(realClock.wallMs())}000000` },
  attributes: [attribute('mcp.method.name', 'tools/call')],
  ...more,
})
const jsonExport = (...spans: unknown[]) => JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })

/** Protobuf by hand: a field of bytes. */
const field = (number: number, bytes: Uint8Array): Buffer => {
  const length: number[] = []
  for (let left = bytes.length; ; left = Math.floor(left / 128)) {
    length.push((left % 128) + (left >= 128 ? 128 : 0))
    if (left < 128) break
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes])
}
const nanoField = (number: number): Buffer => {
  const bytes = Buffer.alloc(9)
  bytes[0] = (number << 3) | 1
  bytes.writeBigUInt64LE(BigInt(Math.round(realClock.wallMs())) * 1_000_000n, 1)
  return bytes
}
const text = (value: string): Buffer => Buffer.from(value)
const protoSpan = (id: number): Buffer =>
  Buffer.concat([
    ...[field(1, Buffer.from(TRACE, 'hex')), field(2, Buffer.from(spanIdOf(id), 'hex')), field(4, Buffer.from(spanIdOf(1), 'hex'))],
    ...[nanoField(7), nanoField(8), field(9, Buffer.concat([field(1, text('mcp.method.name')), field(2, field(1, text('tools/call')))]))],
  ])
const protoExport = (...spans: Buffer[]): Buffer => field(1, field(2, Buffer.concat(spans.map((span) => field(2, span)))))

const PROTO = { 'content-type': 'application/x-protobuf' }
const JSON_TYPE = { 'content-type': 'application/json' }
async function rigWithCall(options: Parameters<typeof otlpRig>[0] = {}) {
  const rig = await otlpRig(options)
  rig.register(call('c1', { openedAtMs: realClock.nowMs() - 1_000 }))
  const post = (body: Uint8Array | string, headers: Record<string, string> = PROTO, path = '/v1/traces') =>
    fetch(`${rig.url}${path}`, { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer> })
  /** A good export still gets through. */
  const isWell = async () => {
    const answer = await post(protoExport(protoSpan(900)))
    expect(answer.status).toBe(200)
    expect(rig.counted).toContain('otlp matched')
  }
  return { ...rig, post, isWell }
}

describe('HTTP', () => {
  const bomb = gzipSync(Buffer.alloc(100 * MiB))
  test.each([
    ['truncated protobuf', 400, () => protoExport(protoSpan(2)).subarray(0, 40), PROTO],
    ['noise', 400, () => Buffer.from('ffffffffff', 'hex'), PROTO],
    ['no JSON', 400, () => text('{"resourceSpans":'), JSON_TYPE],
    ['JSON of the wrong type', 400, () => text('{"resourceSpans":7}'), JSON_TYPE],
    ['an empty JSON body', 400, () => text(''), JSON_TYPE],
    ['no gzip', 400, () => text('plain'), { ...PROTO, 'content-encoding': 'gzip' }],
    ['gzip that breaks off', 400, () => gzipSync(protoExport(protoSpan(2))).subarray(0, 30), { ...PROTO, 'content-encoding': 'gzip' }],
    ['a gzip bomb', 413, () => bomb, { ...PROTO, 'content-encoding': 'gzip' }],
    ['17 MiB', 413, () => Buffer.alloc(17 * MiB), PROTO],
    ['text', 415, () => text('hello'), { 'content-type': 'text/plain' }],
    ['brotli', 415, () => text('x'), { ...PROTO, 'content-encoding': 'br' }],
  ])('%s: %i [work.otlp-statuses]', async (_what, status, body, headers) => {
    const rig = await rigWithCall()
    const answer = await rig.post(body(), headers)
    expect(answer.status).toBe(status)
    const isPlain = headers['content-type'] === 'text/plain'
    expect(answer.headers.get('content-type')).toBe(isPlain ? 'application/problem+json' : headers['content-type'])
    expect(rig.counted).toEqual([])
    await rig.isWell()
  })
  test('an empty protobuf is an empty export; GET is 405; elsewhere is 404', async () => {
    const rig = await rigWithCall()
    const empty = await rig.post(new Uint8Array(0))
    expect([empty.status, (await empty.arrayBuffer()).byteLength]).toEqual([200, 0])
    const got = await fetch(`${rig.url}/v1/traces`)
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await rig.post('', PROTO, '/v2/traces')).status).toBe(404)
  })
  test('bad spans are rejected by number, the good beside them count [work.partial-success]', async () => {
    const rig = await rigWithCall()
    const bad = [7, null, {}, jsonSpan(3, { traceId: 'x' }), jsonSpan(4, { endTimeUnixNano: {} }), jsonSpan(5, { attributes: 'all' })]
    const answer = await rig.post(jsonExport(jsonSpan(2), ...bad, jsonSpan(6)), JSON_TYPE)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ partialSuccess: { rejectedSpans: '6' } })
    expect(rig.counted).toEqual(['otlp matched', 'otlp matched'])
    const shortIds = field(1, Buffer.from('ff', 'hex'))
    const proto = await rig.post(protoExport(protoSpan(10), shortIds, protoSpan(11).subarray(0, 30), protoSpan(12)))
    // partial_success (1) { rejected_spans (1): 2, error_message (2): … }
    expect([...new Uint8Array(await proto.arrayBuffer()).subarray(2, 4)]).toEqual([8, 2])
    expect(rig.counted).toHaveLength(4)
  })
  test('of an export that breaks off, the spans before the break are kept [work.garbage]', async () => {
    const rig = await rigWithCall()
    const whole = protoExport(protoSpan(2), protoSpan(3), protoSpan(4))
    const answer = await rig.post(whole.subarray(0, whole.length - 20))
    expect(answer.status).toBe(400)
    expect(rig.counted).toEqual(['otlp matched', 'otlp matched'])
  })
  test('100 MB bodies and bombs, many at once: memory stays bounded, good spans beside them are kept [work.garbage]', async () => {
    const rig = await rigWithCall()
    const before = process.memoryUsage().rss
    let peak = before
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20)
    const chunk = Buffer.alloc(MiB)
    const endless = () => {
      let left = 100
      return new ReadableStream({
        pull(controller) {
          if (left-- > 0) controller.enqueue(chunk)
          else controller.close()
        },
      })
    }
    const big = Array.from({ length: 6 }, () =>
      fetch(`${rig.url}/v1/traces`, { method: 'POST', headers: PROTO, body: endless(), duplex: 'half' } as RequestInit).then(
        ({ status }) => status,
        () => 'cut',
      ),
    )
    const bombs = Array.from({ length: 6 }, () => rig.post(bomb, { ...PROTO, 'content-encoding': 'gzip' }).then(({ status }) => status))
    const good = await Promise.all(Array.from({ length: 20 }, (_, n) => rig.post(protoExport(protoSpan(100 + n)))))
    const statuses = await Promise.all([...big, ...bombs])
    clearInterval(watch)
    expect(statuses.every((status) => status === 413 || status === 429 || status === 'cut')).toBe(true)
    expect(good.every(({ status }) => status === 200)).toBe(true)
    expect(rig.counted.filter((line) => line === 'otlp matched')).toHaveLength(20)
    expect(peak - before).toBeLessThan(300 * MiB)
  })
  test('a slow sender is cut [work.slow-senders]', async () => {
    const rig = await rigWithCall({ slowMs: 300 })
    const socket = connect(Number(new URL(rig.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{')
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    await once(socket, 'close')
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 408 /)
    await rig.isWell()
  })
})

describe('gRPC', () => {
  const frame = (message: Uint8Array, flag = 0): Buffer => {
    const head = Buffer.alloc(5)
    head[0] = flag
    head.writeUInt32BE(message.length, 1)
    return Buffer.concat([head, message])
  }
  const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
  interface Asked {
    readonly path?: string
    readonly type?: string
    readonly encoding?: string
    readonly isOpen?: boolean
    readonly method?: string
  }
  async function ask(
    url: string,
    body: Uint8Array,
    { path = EXPORT, type = 'application/grpc', encoding, isOpen = false, method = 'POST' }: Asked = {},
  ) {
    const session = connectH2(url)
    const stream = session.request({
      ...{ ':method': method, ':path': path, 'content-type': type, te: 'trailers' },
      ...(encoding === undefined ? {} : { 'grpc-encoding': encoding }),
    })
    let status = 0
    let grpc: unknown
    stream.on('error', () => undefined)
    stream.on('response', (headers) => {
      status = Number(headers[constants.HTTP2_HEADER_STATUS])
      grpc ??= headers['grpc-status']
    })
    stream.on('trailers', (headers) => (grpc ??= headers['grpc-status']))
    stream.resume()
    if (isOpen) stream.write(body)
    else stream.end(body)
    await once(stream, 'close')
    session.close()
    return [status, grpc]
  }
  const good = frame(protoExport(protoSpan(2)))
  test.each([
    ['a good call', [200, '0'], good, {}],
    ['truncated protobuf', [200, '3'], frame(protoExport(protoSpan(2)).subarray(0, 40)), {}],
    ['another service', [200, '12'], good, { path: '/x.Y/Z' }],
    ['another compression', [200, '12'], good, { encoding: 'snappy' }],
    ['a frame that breaks off', [200, '13'], good.subarray(0, 50), {}],
    ['no frame', [200, '13'], Buffer.alloc(2), {}],
    ['a compressed flag without encoding', [200, '13'], frame(gzipSync('x'), 1), {}],
    ['no gzip', [200, '3'], frame(text('plain'), 1), { encoding: 'gzip' }],
    ['a gzip bomb', [200, '8'], frame(gzipSync(Buffer.alloc(100 * MiB)), 1), { encoding: 'gzip' }],
    ['17 MiB', [200, '8'], frame(Buffer.alloc(17 * MiB)), {}],
    ['no gRPC', [415, undefined], good, { type: 'application/json' }],
    ['PUT', [405, undefined], good, { method: 'PUT' }],
  ] as const)('%s: %j [work.grpc-statuses]', async (_what, expected, body, asked) => {
    const rig = await rigWithCall()
    expect(await ask(rig.grpcUrl, body, asked)).toEqual(expected)
    await ask(rig.grpcUrl, frame(protoExport(protoSpan(3))))
    expect(rig.counted).toContain('otlp matched')
  })
  test('a slow call is cut with DEADLINE_EXCEEDED [work.slow-senders]', async () => {
    const rig = await rigWithCall({ slowMs: 200 })
    expect(await ask(rig.grpcUrl, good.subarray(0, 10), { isOpen: true })).toEqual([200, '4'])
  })
  test('what is no HTTP/2 at all is dropped, and the next is served', async () => {
    const rig = await rigWithCall()
    const socket = connect(Number(new URL(rig.grpcUrl).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.resume()
    socket.write('GET / HTTP/1.1\r\n\r\n')
    await once(socket, 'close')
    expect(await ask(rig.grpcUrl, good)).toEqual([200, '0'])
  })
})

describe('ports', () => {
  test('a taken port: default is a warning and down, configured is an error that names the key [work.ports]', async () => {
    const first = await otlpRig()
    const taken = first.receivers.addresses.http
    const rig = await otlpRig({ otlp: { listen: taken, grpc: null, isDefault: true } })
    expect(rig.receivers.isUp()).toBe(false)
    expect(rig.receivers.addresses).toEqual({ http: null, grpc: null })
    expect(rig.receivers.warnings[0]).toContain(`otlp.listen: 127.0.0.1:${taken?.port} is already taken`)
    expect(first.receivers.isUp()).toBe(true)
    const asked = { ...first, workPort: first.port, clock: realClock, log: { ...console } }
    const otlp = { listen: null, grpc: first.receivers.addresses.grpc, forwardTo: null, isDefault: true, isGrpcDefault: false }
    await expect(startWorkReceivers({ ...asked, otlp })).rejects.toThrow(/^otlp\.grpc: 127\.0\.0\.1:\d+ is already taken/)
  })
})

test('decoding takes so many spans of one export and no more', () => {
  let taken = 0
  const many = protoExport(...Array.from({ length: SPANS_MAX + 5 }, (_, n) => protoSpan(n + 2)))
  expect(decodeSpans(many, 'protobuf', () => (taken += 1))).toEqual({ taken: SPANS_MAX, rejected: 5, problem: null })
  expect(taken).toBe(SPANS_MAX)
})
test('any prefix of an export is decoded without a throw, and no half span is taken', () => {
  const whole = protoExport(protoSpan(2), protoSpan(3))
  for (let length = 0; length <= whole.length; length += 1) {
    const spans: Span[] = []
    const { problem } = decodeSpans(whole.subarray(0, length), 'protobuf', (span) => spans.push(span))
    expect(spans.length).toBeLessThanOrEqual(2)
    expect(spans.every(({ attributes }) => attributes.has('mcp.method.name'))).toBe(true)
    expect(problem === null).toBe(length === 0 || length === whole.length)
  }
})
