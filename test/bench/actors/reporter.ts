/** Work reports as a traced server sends them: OTLP/HTTP in JSON, ten batches a second, some of them of calls that it serves. */
import { randomBytes } from 'node:crypto'
import http from 'node:http'

export interface Reporter {
  /** A request's head: its `traceparent` names the call. */
  saw(head: string): void
  sent(): number
}

const EVERY_MS = 100
/** 200 spans a second: half of calls that were served, half of other traces, as a tracer exports them. */
const SPANS_PER_BATCH = 20

interface Traced {
  readonly traceId: string
  readonly spanId: string
}

export function createReporter(url: string): Reporter {
  if (url === '') return { saw: () => undefined, sent: () => 0 }
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  let served: Traced[] = []
  let sent = 0
  const timer = setInterval(() => {
    const spans = [...served, ...Array.from({ length: SPANS_PER_BATCH - served.length }, stranger)].map(spanOf)
    served = []
    const body = JSON.stringify({ resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: {}, spans }] }] })
    const request = http.request(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } }, (response) => {
      if (response.statusCode === 200) sent += spans.length
      response.resume()
    })
    request.on('error', () => undefined)
    request.end(body)
  }, EVERY_MS)
  timer.unref()
  return {
    saw(head) {
      if (served.length >= SPANS_PER_BATCH / 2) return
      const found = /\r\ntraceparent: 00-([0-9a-f]{32})-([0-9a-f]{16})/i.exec(head)
      if (found?.[1] !== undefined && found[2] !== undefined) served.push({ traceId: found[1], spanId: found[2] })
    },
    sent: () => sent,
  }
}

const stranger = (): Traced => ({ traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') })

function spanOf({ traceId, spanId }: Traced): unknown {
  const endMs = Date.now()
  return {
    traceId,
    spanId: randomBytes(8).toString('hex'),
    parentSpanId: spanId,
    name: 'tools/call echo',
    kind: 2,
    startTimeUnixNano: `${endMs - 1}000000`,
    endTimeUnixNano: `${endMs}000000`,
    attributes: [{ key: 'mcp.method.name', value: { stringValue: 'tools/call' } }],
    status: {},
  }
}
