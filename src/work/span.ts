/** A span as any source tells it, and whether it counts as work on an MCP request. */

/** OpenTelemetry's SpanKind as its protocol numbers it: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
export type SpanKind = number

export interface SpanLink {
  readonly traceId: string
  readonly spanId: string
}

/** One finished span. Ids are lower-case hex; times are Unix milliseconds, with fractions. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** Null: a root. */
  readonly parentSpanId: string | null
  readonly name: string
  readonly kind: SpanKind
  readonly startWallMs: number
  readonly endWallMs: number
  /** Strings, numbers and booleans as text; other values are left out. */
  readonly attributes: ReadonlyMap<string, string>
  readonly links: readonly SpanLink[]
  readonly isError: boolean
}

/** Which spans of a server without MCP spans are work: an attribute's value, or the span's name with `*` for any text. */
export type SpanMatcher = { readonly attribute: string; readonly equals: string } | { readonly name: string }

const SERVER = 2
const CLIENT = 3
const PRODUCER = 4

/**
 * Whether a span's end is an end of work. Never an HTTP server span, whatever else it says: those end when the client
 * disconnects. Never a client's or producer's span either: it is the asking, not the doing.
 */
export function spanCounts(span: Span, matchers: readonly SpanMatcher[]): boolean {
  if (isHttpServer(span) || span.kind === CLIENT || span.kind === PRODUCER) return false
  return span.attributes.has('mcp.method.name') || matchers.some((matcher) => matches(span, matcher))
}

const isHttpServer = ({ kind, attributes }: Span): boolean =>
  kind === SERVER && (attributes.has('http.request.method') || attributes.has('http.method'))

function matches(span: Span, matcher: SpanMatcher): boolean {
  if ('attribute' in matcher) return span.attributes.get(matcher.attribute) === matcher.equals
  return globMatches(matcher.name, span.name)
}

/** `*` stands for any text; without backtracking beyond the last star, so no pattern is slow. */
export function globMatches(pattern: string, text: string): boolean {
  const [head = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return pattern === text
  if (!text.startsWith(head)) return false
  const tail = rest.pop() ?? ''
  let at = head.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return text.length - tail.length >= at && text.endsWith(tail)
}
