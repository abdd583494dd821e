/** The sidecar's own span of each exchange, sent to the collector so that a trace keeps its link between client and server. */
import type { Clock, Timer } from '../core/clock.ts'
import type { Forwarder } from './forward.ts'

export interface OwnSpan {
  readonly traceId: string
  readonly spanId: string
  /** The client's span, from its traceparent; null: the trace begins here. */
  readonly parentSpanId: string | null
  /** `tools/call render`, or `POST /mcp` where the request says nothing of MCP. */
  readonly name: string
  readonly startWallMs: number
  readonly endWallMs: number
  /** E.g. `mcp.method.name`, `impatient.cause`. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly isError: boolean
}

export interface OwnSpanExporter {
  take(span: OwnSpan): void
  /** Sends what waits. */
  flush(): void
}

const BATCH_MAX = 512
const FLUSH_AFTER_MS = 1_000

export function createOwnSpanExporter({
  forwarder,
  clock,
  version,
}: {
  forwarder: Forwarder
  clock: Clock
  version: string
}): OwnSpanExporter {
  let batch: OwnSpan[] = []
  let timer: Timer | null = null

  function flush(): void {
    timer?.cancel()
    timer = null
    if (batch.length === 0) return
    const bytes = ownSpansBody(batch, version)
    batch = []
    forwarder.send({ signal: 'traces', bytes, headers: { 'content-type': 'application/json' } })
  }

  return {
    take(span) {
      batch.push(span)
      if (batch.length >= BATCH_MAX) flush()
      else timer ??= clock.after(FLUSH_AFTER_MS, flush)
    },
    flush,
  }
}

const SPAN_KIND_SERVER = 2

/** An ExportTraceServiceRequest as OTLP/JSON. */
export function ownSpansBody(spans: readonly OwnSpan[], version: string): Uint8Array {
  const request = {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': 'impatient-hop', 'service.version': version }) },
        scopeSpans: [{ scope: { name: 'impatient-hop', version }, spans: spans.map(spanOf) }],
      },
    ],
  }
  return Buffer.from(JSON.stringify(request))
}

const spanOf = ({ traceId, spanId, parentSpanId, name, startWallMs, endWallMs, attributes, isError }: OwnSpan) => ({
  ...{ traceId, spanId, ...(parentSpanId === null ? {} : { parentSpanId }), name, kind: SPAN_KIND_SERVER, flags: 1 },
  ...{ startTimeUnixNano: nanoText(startWallMs), endTimeUnixNano: nanoText(endWallMs), attributes: attributesOf(attributes) },
  status: isError ? { code: 2 } : {},
})

/** Through integers: as a double, nanoseconds since 1970 would be off by hundreds. */
const nanoText = (wallMs: number): string => (BigInt(Math.round(wallMs * 1_000)) * 1_000n).toString()

const attributesOf = (attributes: OwnSpan['attributes']) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValueOf(value) }))

function anyValueOf(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
