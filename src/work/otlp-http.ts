/** The OTLP/HTTP port: exporters POST /v1/traces, /v1/metrics, /v1/logs; probes POST /work or open a WebSocket there. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import type { TelemetrySignal } from './forward.ts'
import { CONTENT_TYPE, type OtlpEncoding, statusBody, successBody } from './otlp-answer.ts'
import type { OtlpIntake, Outcome } from './otlp-intake.ts'
import type { WorkSocket } from './probe-server.ts'
import { problemOf } from './probe-server.ts'
import { createByteBudget, readBody } from './read-body.ts'
import type { WorkPort } from './work-port.ts'

export interface OtlpHttpAsked {
  readonly intake: OtlpIntake
  readonly workPort: Pick<WorkPort, 'takeProbeMessage'>
  readonly workSocket: WorkSocket
  /** A request that is not whole after this is cut. */
  readonly slowMs?: number
}

const PROBE_BYTES_MAX = 65_536
const CONNECTIONS_MAX = 1_024
const SIGNALS: Readonly<Record<string, TelemetrySignal>> = { '/v1/traces': 'traces', '/v1/metrics': 'metrics', '/v1/logs': 'logs' }

/** Not yet listening. */
export function createOtlpServer(asked: OtlpHttpAsked): Server {
  const { slowMs = 15_000 } = asked
  const server = createServer({
    ...{ requestTimeout: slowMs, headersTimeout: Math.min(slowMs, 10_000), keepAliveTimeout: 60_000 },
    connectionsCheckingInterval: Math.max(100, Math.min(slowMs / 5, 1_000)),
  })
  server.maxConnections = CONNECTIONS_MAX
  const probeBudget = createByteBudget(16 * PROBE_BYTES_MAX)
  server.on('request', (request, response) => {
    response.on('error', () => response.destroy())
    const path = pathOf(request)
    const signal = SIGNALS[path]
    if (signal !== undefined) void takeExport(asked.intake, signal, request, response)
    else if (path === '/work') void takeProbe(asked.workPort, probeBudget, request, response)
    else answerText(response, 404, `nothing is at ${path}: expected /v1/traces, /v1/metrics, /v1/logs or /work`)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    if (pathOf(request) !== '/work') refuse(socket, '404 Not Found')
    else if (request.headers.origin !== undefined) refuse(socket, '403 Forbidden')
    else asked.workSocket.take(request, socket, head)
  })
  return server
}

const pathOf = ({ url = '/' }: IncomingMessage): string => (url.split('?')[0] ?? '/').replace(/(.)\/+$/, '$1')

const refuse = (socket: Duplex, status: string): void => {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

async function takeExport(intake: OtlpIntake, signal: TelemetrySignal, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return answerText(response, 405, `expected POST, got ${request.method ?? 'nothing'}`, { Allow: 'POST' })
  const encoding = encodingOf(request)
  if (encoding === null) {
    const type = request.headers['content-type'] ?? 'none'
    return answerText(response, 415, `Content-Type: expected application/x-protobuf or application/json, got ${type}`)
  }
  const compression = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (compression !== 'gzip' && compression !== 'identity') {
    return answerOtlp(response, 415, encoding, {
      is: 'failed',
      code: 3,
      message: `Content-Encoding: expected gzip or none, got ${compression}`,
    })
  }
  const lengthBytes = Number(request.headers['content-length'] ?? 0)
  const outcome = await intake.takeBody({
    signal,
    encoding,
    isGzip: compression === 'gzip',
    from: request,
    lengthBytes,
    headers: headersOf(request),
  })
  answerOtlp(response, statusOf(outcome), encoding, outcome)
}

function encodingOf({ headers }: IncomingMessage): OtlpEncoding | null {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type === 'application/x-protobuf' || type === 'application/protobuf') return 'protobuf'
  return type === 'application/json' ? 'json' : null
}

const NOT_PASSED_ON = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'host', 'content-length', 'expect'],
])

/** What the collector is to see of the exporter: its encoding, its credentials, its name. */
function headersOf(request: IncomingMessage): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (!NOT_PASSED_ON.has(name) && value !== undefined) headers[name] = String(value)
  }
  return headers
}

function statusOf(outcome: Outcome): number {
  if (outcome.is === 'taken') return 200
  switch (outcome.code) {
    case 8: // RESOURCE_EXHAUSTED: of this body alone, or of all together and so worth another try
      return outcome.retryAfterS === undefined ? 413 : 429
    default:
      return 400
  }
}

function answerOtlp(response: ServerResponse, status: number, encoding: OtlpEncoding, outcome: Outcome): void {
  const body =
    outcome.is === 'taken' ? successBody(encoding, outcome.rejected, outcome.message) : statusBody(encoding, outcome.code, outcome.message)
  const retry = outcome.is === 'failed' && outcome.retryAfterS !== undefined ? { 'Retry-After': String(outcome.retryAfterS) } : {}
  write(response, status, { 'Content-Type': CONTENT_TYPE[encoding], ...retry }, body)
}

async function takeProbe(
  workPort: Pick<WorkPort, 'takeProbeMessage'>,
  budget: ReturnType<typeof createByteBudget>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST')
    return answerText(response, 405, `expected POST or a WebSocket, got ${request.method ?? 'nothing'}`, { Allow: 'POST' })
  // A server reports from no browser: a page that tries would be forging reports.
  if (request.headers.origin !== undefined) return answerText(response, 403, 'Origin: expected none; a browser does not report work')
  const read = await readBody(request, PROBE_BYTES_MAX, budget)
  if (read.is !== 'body') return answerText(response, read.is === 'too_large' ? 413 : 429, `a message has ${PROBE_BYTES_MAX} bytes at most`)
  budget.give(read.bytes.length)
  const problem = problemOf(workPort, read.bytes.toString('utf8'))
  if (problem === null) write(response, 202, {}, new Uint8Array(0))
  else answerText(response, 400, problem)
}

/** An `application/problem+json`, as on the admin port. */
function answerText(response: ServerResponse, status: number, detail: string, headers: Readonly<Record<string, string>> = {}): void {
  write(
    response,
    status,
    { 'Content-Type': 'application/problem+json', ...headers },
    Buffer.from(`${JSON.stringify({ status, detail })}\n`),
  )
}

function write(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, { ...headers, 'Content-Length': String(body.length) })
  response.end(body)
}
