/** The work receivers on real sockets, with what they delivered and counted; a collector behind them; real exporters in front. */
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Context, ROOT_CONTEXT, type SpanContext, SpanKind, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtoExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node'
import { onTestFinished } from 'vitest'
import type { Settings } from '../../src/config/snapshot.ts'
import type { WorkReport } from '../../src/core/fact.ts'
import type { Log } from '../../src/core/log.ts'
import { silentLog } from '../../src/core/log.ts'
import { realClock } from '../../src/wire/real-clock.ts'
import type { CallKey } from '../../src/work/call-index.ts'
import { createCorrelator } from '../../src/work/correlate.ts'
import { startWorkReceivers, type WorkReceivers } from '../../src/work/receivers.ts'
import type { PendingReport, WorkPort } from '../../src/work/work-port.ts'
import { createWorkPort } from '../../src/work/work-port.ts'
import { spanIdOf, TRACE } from './otlp-spans.ts'

export interface OtlpRig {
  readonly receivers: WorkReceivers
  readonly port: WorkPort
  readonly told: { readonly exchangeId: string; readonly report: WorkReport }[]
  readonly counted: string[]
  readonly warned: string[]
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly grpcUrl: string
  register(...keys: CallKey[]): void
}

export async function otlpRig({
  forwardTo = null as URL | null,
  slowMs = 15_000,
  otlp = {} as Partial<Settings['otlp']>,
} = {}): Promise<OtlpRig> {
  const told: OtlpRig['told'] = []
  const counted: string[] = []
  const warned: string[] = []
  const log: Log = { ...silentLog, warn: (line) => warned.push(line) }
  const correlator = createCorrelator<PendingReport>({ callsMax: 50_000 })
  const port = createWorkPort({
    ...{ clock: realClock, correlator },
    deliver(exchangeId, report) {
      told.push({ exchangeId, report })
      return 'matched'
    },
    count: (source, result) => counted.push(`${source} ${result}`),
  })
  const any = { host: '127.0.0.1', port: 0 }
  const receivers = await startWorkReceivers({
    ...{ workPort: port, clock: realClock, log, slowMs },
    otlp: { listen: any, grpc: any, forwardTo, isDefault: false, isGrpcDefault: false, ...otlp },
  })
  onTestFinished(async () => {
    port.close()
    await receivers.close()
  })
  const { http, grpc } = receivers.addresses
  const register = (...keys: CallKey[]): void => keys.forEach(correlator.register)
  return {
    receivers,
    port,
    told,
    counted,
    warned,
    url: `http://127.0.0.1:${http?.port}`,
    grpcUrl: `http://127.0.0.1:${grpc?.port}`,
    register,
  }
}

export interface Collected {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

/** A collector that keeps what it gets, and answers `status`. */
export async function collector({ status = 200 } = {}): Promise<{ url: URL; got: Collected[] }> {
  const got: Collected[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    got.push({ path: request.url ?? '', headers: request.headers, bytes: Buffer.concat(chunks) })
    response.writeHead(status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), got }
}

export type Wire = 'protobuf' | 'protobuf+gzip' | 'json' | 'json+gzip' | 'grpc' | 'grpc+gzip'
export const WIRES: readonly Wire[] = ['protobuf', 'protobuf+gzip', 'json', 'json+gzip', 'grpc', 'grpc+gzip']

/** A real OpenTelemetry exporter towards the rig. */
export function exporterOf(wire: Wire, rig: Pick<OtlpRig, 'url' | 'grpcUrl'>): SpanExporter {
  const compression = (wire.endsWith('gzip') ? 'gzip' : 'none') as never
  if (wire.startsWith('grpc')) return new GrpcExporter({ url: rig.grpcUrl, compression })
  const options = { url: `${rig.url}/v1/traces`, compression }
  return wire.startsWith('json') ? new JsonExporter(options) : new ProtoExporter(options)
}

/** A tracer of the real SDK; ends with the test. */
export function tracing(wire: Wire, rig: Pick<OtlpRig, 'url' | 'grpcUrl'>) {
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporterOf(wire, rig), { scheduledDelayMillis: 50 })] })
  onTestFinished(() => provider.shutdown().catch(() => undefined))
  return { tracer: provider.getTracer('test'), flush: () => provider.forceFlush() }
}

/** As if the span of this number had come in with the request. */
export function contextOf(id: number, traceId = TRACE): Context {
  const parent: SpanContext = { traceId, spanId: spanIdOf(id), traceFlags: TraceFlags.SAMPLED, isRemote: true }
  return trace.setSpanContext(ROOT_CONTEXT, parent)
}
export const SERVER_SPAN = SpanKind.SERVER
