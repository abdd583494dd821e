/** The OTLP/gRPC port: the three Export methods over cleartext HTTP/2, one message each way. */
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { constants, createServer } from 'node:http2'
import type { Clock } from '../core/clock.ts'
import type { TelemetrySignal } from './forward.ts'
import { successBody } from './otlp-answer.ts'
import type { OtlpIntake, Outcome } from './otlp-intake.ts'
import { EXPORT_BYTES_MAX } from './otlp-intake.ts'

export interface OtlpGrpcAsked {
  readonly intake: OtlpIntake
  readonly clock: Clock
  /** A call that is not whole after this is cut. */
  readonly slowMs?: number
}

const SIGNALS: Readonly<Record<string, TelemetrySignal>> = {
  '/opentelemetry.proto.collector.trace.v1.TraceService/Export': 'traces',
  '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export': 'metrics',
  '/opentelemetry.proto.collector.logs.v1.LogsService/Export': 'logs',
}

/** gRPC's own numbers. */
const [DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL] = [4, 8, 12, 13]
const FRAME_BYTES = 5
const CONNECTIONS_MAX = 256

/** Not yet listening. */
export function createGrpcServer(asked: OtlpGrpcAsked): Http2Server {
  const server = createServer({ settings: { maxConcurrentStreams: 64 } })
  server.maxConnections = CONNECTIONS_MAX
  server.on('sessionError', () => undefined) // a broken peer: its session is already gone
  server.on('stream', (stream, headers) => {
    stream.on('error', () => stream.close())
    void serve(asked, stream, headers)
  })
  return server
}

async function serve(
  { intake, clock, slowMs = 15_000 }: OtlpGrpcAsked,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const refused = refusalOf(headers)
  if (refused !== null) {
    answerHttp(stream, refused)
    return
  }
  const path = headers[':path'] ?? ''
  const signal = SIGNALS[path]
  if (signal === undefined) return fail(stream, UNIMPLEMENTED, `nothing is at ${path}`)
  const compression = String(headers['grpc-encoding'] ?? 'identity')
  if (compression !== 'identity' && compression !== 'gzip')
    return fail(stream, UNIMPLEMENTED, `grpc-encoding: expected gzip or identity, got ${compression}`)
  const timer = clock.after(slowMs, () => {
    fail(stream, DEADLINE_EXCEEDED, `the call was not whole after ${slowMs} ms`)
    stream.close(constants.NGHTTP2_CANCEL)
  })
  const read = await intake.read(stream, EXPORT_BYTES_MAX + FRAME_BYTES)
  timer.cancel()
  switch (read.is) {
    case 'broken':
      return
    case 'too_large':
      return fail(stream, RESOURCE_EXHAUSTED, `an export has ${EXPORT_BYTES_MAX} bytes at most`)
    case 'too_many':
      return fail(stream, RESOURCE_EXHAUSTED, 'too many exports at once; try again')
    case 'body': {
      await takeFrame(intake, stream, read.bytes, signal, compression, headers)
      intake.give(read.bytes.length)
    }
  }
}

async function takeFrame(
  intake: OtlpIntake,
  stream: ServerHttp2Stream,
  frame: Buffer,
  signal: TelemetrySignal,
  compression: 'gzip' | 'identity',
  headers: IncomingHttpHeaders,
): Promise<void> {
  if (frame.length < FRAME_BYTES || frame.readUInt32BE(1) !== frame.length - FRAME_BYTES)
    return fail(stream, INTERNAL, 'expected one whole message')
  const flag = frame.readUInt8(0)
  if (flag > 1 || (flag === 1 && compression === 'identity')) return fail(stream, INTERNAL, 'a compressed message without grpc-encoding')
  const isGzip = flag === 1
  const bytes = frame.subarray(FRAME_BYTES)
  answer(stream, await intake.takeMessage({ signal, encoding: 'protobuf', isGzip, bytes, headers: headersOf(headers, isGzip) }))
}

/** As OTLP/HTTP would have sent the same bytes, with the exporter's own metadata. */
function headersOf(headers: IncomingHttpHeaders, isGzip: boolean): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const isOurs = /^:|^grpc-/.test(name) || ['te', 'content-type', 'content-length', 'host'].includes(name)
    if (!isOurs && value !== undefined) passed[name] = String(value)
  }
  return { ...passed, 'content-type': 'application/x-protobuf', ...(isGzip ? { 'content-encoding': 'gzip' } : {}) }
}

/** The HTTP status for what is no gRPC call at all; null: it is one. */
function refusalOf(headers: IncomingHttpHeaders): 405 | 415 | null {
  if (headers[':method'] !== 'POST') return 405
  return /^application\/grpc($|[+;])/.test(headers['content-type'] ?? '') ? null : 415
}

function answerHttp(stream: ServerHttp2Stream, status: number): void {
  if (stream.destroyed || stream.headersSent) return
  stream.respond({ ':status': status }, { endStream: true })
  stream.resume()
}

function answer(stream: ServerHttp2Stream, outcome: Outcome): void {
  if (outcome.is === 'failed') return fail(stream, outcome.code, outcome.message)
  if (stream.destroyed || stream.headersSent) return
  const message = successBody('protobuf', outcome.rejected, outcome.message)
  const frame = Buffer.alloc(FRAME_BYTES + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, FRAME_BYTES)
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.end(frame)
}

/** A status without a message, which gRPC calls trailers-only. */
function fail(stream: ServerHttp2Stream, code: number, message: string): void {
  if (stream.destroyed || stream.headersSent) return
  stream.respond(
    {
      ...{ ':status': 200, 'content-type': 'application/grpc', 'grpc-accept-encoding': 'identity,gzip' },
      ...{ 'grpc-status': String(code), 'grpc-message': encodeURIComponent(message) },
    },
    { endStream: true },
  )
  stream.resume()
}
