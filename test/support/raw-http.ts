/** HTTP/1.1 as bytes: builders of what a test sends, and a reader that says exactly how a message was framed and whether it was whole. */

export type Framing = 'length' | 'chunked' | 'eof' | 'none'

export interface RawMessage {
  /** The start line and header lines as they came, without the blank line; latin1. */
  readonly head: string
  readonly startLine: string
  /** Names and values in order, as they came. */
  readonly rawHeaders: readonly (readonly [string, string])[]
  /** The first value of that name (any case), or null. */
  header(name: string): string | null
  /** All values of that name, in order. */
  headers(name: string): string[]
  /** Decoded from its chunks. */
  readonly body: Buffer
  readonly text: string
  /** Sizes of the chunks, where it was chunked. */
  readonly chunks: readonly number[]
  readonly framing: Framing
  readonly trailers: readonly (readonly [string, string])[]
  /** False: the bytes ended before the framing said so. `eof` is whole when a FIN came. */
  readonly isWhole: boolean
}
export interface RawRequest extends RawMessage {
  readonly method: string
  readonly target: string
}
export interface RawResponse extends RawMessage {
  readonly status: number
  readonly reason: string
  /** 1xx responses that came before it. */
  readonly interims: readonly RawMessage[]
}

/** What was read, and how many bytes it took. */
interface Reading {
  readonly message: RawMessage
  readonly used: number
}

export interface ReadOptions {
  readonly of: 'request' | 'response'
  /** The method asked, for responses: HEAD has no body. */
  readonly method?: string
  /** The peer's side is over: nothing more will come. */
  readonly isOver: boolean
}

/** Null: more must come. A message cut short is given, with `isWhole: false`, only when nothing more will come. */
export function readMessage(bytes: Buffer, { of, method = 'POST', isOver }: ReadOptions): Reading | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const head = bytes.subarray(0, headEnd).toString('latin1')
  const [startLine = '', ...lines] = head.split('\r\n')
  const rawHeaders = lines.map(pair)
  const headerOf = (name: string): string | null => valuesOf(rawHeaders, name)[0] ?? null
  const rest = bytes.subarray(headEnd + 4)
  const framing = framingOf(of, Number(startLine.split(' ')[1]), method, headerOf)
  const body = readBody(rest, framing, Number(headerOf('content-length') ?? 0), isOver)
  if (!body.isWhole && !isOver) return null
  const content = Buffer.concat(body.parts)
  const message: RawMessage = {
    head,
    startLine,
    rawHeaders,
    header: headerOf,
    headers: (name) => valuesOf(rawHeaders, name),
    body: content,
    text: content.toString('utf8'),
    chunks: framing === 'chunked' ? body.parts.map(({ length }) => length) : [],
    framing,
    trailers: body.trailers,
    isWhole: body.isWhole,
  }
  return { message, used: headEnd + 4 + body.used }
}

function framingOf(of: 'request' | 'response', status: number, method: string, headerOf: (name: string) => string | null): Framing {
  if (of === 'response' && (method === 'HEAD' || status < 200 || status === 204 || status === 304)) return 'none'
  if (/chunked/i.test(headerOf('transfer-encoding') ?? '')) return 'chunked'
  if (headerOf('content-length') !== null) return 'length'
  return of === 'response' ? 'eof' : 'none'
}

interface Body {
  readonly parts: readonly Buffer[]
  readonly used: number
  readonly isWhole: boolean
  readonly trailers: readonly (readonly [string, string])[]
}

function readBody(rest: Buffer, framing: Framing, length: number, isOver: boolean): Body {
  if (framing === 'none') return { parts: [], used: 0, isWhole: true, trailers: [] }
  if (framing === 'eof') return { parts: [rest], used: rest.length, isWhole: isOver, trailers: [] }
  if (framing === 'chunked') return readChunked(rest)
  const bytes = rest.subarray(0, length)
  return { parts: [bytes], used: bytes.length, isWhole: bytes.length === length, trailers: [] }
}

function readChunked(rest: Buffer): Body {
  const parts: Buffer[] = []
  let at = 0
  const result = (used: number, isWhole: boolean, trailers: Body['trailers'] = []): Body => ({ parts, used, isWhole, trailers })
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd === -1) return result(rest.length, false)
    const size = Number.parseInt(rest.subarray(at, lineEnd).toString('latin1'), 16)
    if (Number.isNaN(size)) throw new Error(`not a chunk size: ${JSON.stringify(rest.subarray(at, lineEnd).toString('latin1'))}`)
    at = lineEnd + 2
    if (size === 0) return readTrailers(rest, at, result)
    if (at < rest.length) parts.push(rest.subarray(at, Math.min(at + size, rest.length)))
    if (at + size + 2 > rest.length) return result(rest.length, false)
    at += size + 2
  }
}

function readTrailers(rest: Buffer, at: number, result: (used: number, isWhole: boolean, trailers?: Body['trailers']) => Body): Body {
  if (rest.subarray(at, at + 2).toString('latin1') === '\r\n') return result(at + 2, true)
  const end = rest.indexOf('\r\n\r\n', at)
  return end === -1 ? result(rest.length, false) : result(end + 4, true, rest.subarray(at, end).toString('latin1').split('\r\n').map(pair))
}

function pair(line: string): readonly [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}
function valuesOf(rawHeaders: readonly (readonly [string, string])[], name: string): string[] {
  return rawHeaders.filter(([own]) => own.toLowerCase() === name.toLowerCase()).map(([, value]) => value)
}

export type HeaderList = readonly (readonly [string, string])[]

/** A whole request; Host, and Content-Length for a body, unless `headers` says otherwise. */
export function requestText(method: string, target: string, headers: HeaderList = [], body = ''): string {
  const has = (name: string) => headers.some(([own]) => own.toLowerCase() === name)
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  if (!has('host')) lines.unshift('Host: sidecar.test\r\n')
  if (body !== '' && !has('content-length') && !has('transfer-encoding'))
    lines.push(`Content-Length: ${Buffer.byteLength(body, 'latin1')}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** A `tools/call` in 2026-07-28 as the SDK sends it; `more` adds headers. */
export function callText(
  tool = 'render',
  { id = 1, more = [], progressToken = 1 }: { id?: number; more?: HeaderList; progressToken?: number } = {},
): string {
  const meta = { progressToken, 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: {}, _meta: meta } })
  const headers: HeaderList = [
    ['Content-Type', 'application/json'],
    ['Accept', 'application/json, text/event-stream'],
    ['MCP-Protocol-Version', '2026-07-28'],
    ['Mcp-Method', 'tools/call'],
    ['Mcp-Name', tool],
    ...more,
  ]
  return requestText('POST', '/mcp', headers, body)
}

/** A response head; the blank line included. */
export function headText(status: number, headers: HeaderList = [], reason = 'OK'): string {
  return `HTTP/1.1 ${status} ${reason}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}
export const sseHead = headText(200, [
  ['Content-Type', 'text/event-stream'],
  ['Transfer-Encoding', 'chunked'],
])
/** One chunk of a chunked body. */
export const chunk = (text: string): string => `${Buffer.byteLength(text, 'latin1').toString(16)}\r\n${text}\r\n`
export const lastChunk = '0\r\n\r\n'
export const progressEvent = (n: number): string =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: n } })}\n\n`
export const resultEvent = (id: number | string = 1): string =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', result: { content: [{ type: 'text', text: 'done' }] }, id })}\n\n`
