/** W3C trace context: what ties a server's work report to its call, in a header or spliced bytewise into `params._meta`. */

export interface TraceContext {
  /** 32 lower-case hex digits, not all zero. */
  readonly traceId: string
  /** 16 lower-case hex digits, not all zero. */
  readonly spanId: string
  readonly flags: number
}

/** What goes upstream: the trace kept, a span of our own, always sampled. */
export interface ChildContext {
  readonly traceId: string
  readonly spanId: string
  /** The whole `traceparent` value. */
  readonly header: string
}

/** So many random bytes as lower-case hex. */
export type RandomHex = (bytes: number) => string

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)

/** Null where `text` is no valid traceparent; versions after 00 may carry more, which is ignored. */
export function parseTraceparent(text: string | null | undefined): TraceContext | null {
  const found = FORM.exec(text?.trim() ?? '')
  if (found === null) return null
  const [, version = 'ff', traceId = NO_TRACE, spanId = NO_SPAN, flags = '00', more] = found
  if (version === 'ff' || (version === '00' && more !== undefined) || traceId === NO_TRACE || spanId === NO_SPAN) return null
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** The context given upstream: the incoming trace, or a new one, and a new span; flag 01, for with 00 nothing would be recorded. */
export function childTraceparent(incoming: TraceContext | null, randomHex: RandomHex): ChildContext {
  const hex = randomHex(incoming === null ? 24 : 8) // drawn at once
  const traceId = incoming?.traceId ?? nonZero(hex.slice(16))
  const spanId = nonZero(hex.slice(0, 16))
  return { traceId, spanId, header: `00-${traceId}-${spanId}-01` }
}

// All zeros would be invalid; the chance is nil with a real source, but a test's source may well be zero.
const nonZero = (hex: string): string => (!hex.startsWith('0') || /[^0]/.test(hex) ? hex : `${hex.slice(0, -1)}1`)

/**
 * Sets `params._meta.traceparent` in every JSON-RPC request of `body` (one object or a batch) and alters no other byte.
 * `params` and `_meta` are made where they are missing; where a key comes twice the last counts, as in JSON.parse.
 * Notifications, answers, and requests whose `params` or `_meta` is no object stay as they are.
 * Null: nothing was spliced (no JSON, no request to splice into).
 */
export function spliceMeta(body: Uint8Array, traceparent: string): Uint8Array | null {
  if (parseTraceparent(traceparent) === null || !isJson(body)) return null
  const edits: Edit[] = []
  const start = skipSpace(body, 0)
  if (body[start] === OPEN_OBJECT) spliceMessage(body, start, traceparent, edits)
  else if (body[start] === OPEN_ARRAY) {
    for (const element of elementsOf(body, start)) {
      if (body[element] === OPEN_OBJECT) spliceMessage(body, element, traceparent, edits)
    }
  }
  return edits.length === 0 ? null : applyEdits(body, edits)
}

interface Edit {
  readonly from: number
  readonly until: number
  readonly text: string
}
interface Member {
  readonly key: string
  /** Where the value begins and ends. */
  readonly from: number
  readonly until: number
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d]

// The walk below trusts that its input is well-formed, so this judge comes first.
function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
    return true
  } catch {
    return false
  }
}

function spliceMessage(body: Uint8Array, at: number, traceparent: string, edits: Edit[]): void {
  const message = membersOf(body, at)
  const id = lastOf(message, 'id')
  if (lastOf(message, 'method') === null || id === null || body[id.from] === 0x6e /* null */) return
  const params = lastOf(message, 'params')
  if (params === null) {
    edits.push(addition(at, message, `"params":{"_meta":{"traceparent":"${traceparent}"}}`))
    return
  }
  if (body[params.from] !== OPEN_OBJECT) return
  const paramsMembers = membersOf(body, params.from)
  const meta = lastOf(paramsMembers, '_meta')
  if (meta === null) {
    edits.push(addition(params.from, paramsMembers, `"_meta":{"traceparent":"${traceparent}"}`))
    return
  }
  if (body[meta.from] !== OPEN_OBJECT) return
  const metaMembers = membersOf(body, meta.from)
  const old = lastOf(metaMembers, 'traceparent')
  if (old === null) edits.push(addition(meta.from, metaMembers, `"traceparent":"${traceparent}"`))
  else edits.push({ from: old.from, until: old.until, text: `"${traceparent}"` })
}

/** Right behind the opening brace: the one place that needs no look at spacing. */
function addition(open: number, members: readonly Member[], text: string): Edit {
  return { from: open + 1, until: open + 1, text: members.length === 0 ? text : `${text},` }
}

const lastOf = (members: readonly Member[], key: string): Member | null => members.findLast((member) => member.key === key) ?? null

function membersOf(body: Uint8Array, open: number): readonly Member[] {
  const members: Member[] = []
  let at = skipSpace(body, open + 1)
  while (at < body.length && body[at] !== CLOSE_OBJECT) {
    const keyEnd = skipString(body, at)
    const key = String(JSON.parse(new TextDecoder().decode(body.subarray(at, keyEnd))))
    const from = skipSpace(body, skipSpace(body, keyEnd) + 1)
    const until = skipValue(body, from)
    members.push({ key, from, until })
    at = skipSpace(body, until)
    if (body[at] === COMMA) at = skipSpace(body, at + 1)
  }
  return members
}

function elementsOf(body: Uint8Array, open: number): readonly number[] {
  const starts: number[] = []
  let at = skipSpace(body, open + 1)
  while (at < body.length && body[at] !== CLOSE_ARRAY) {
    starts.push(at)
    at = skipSpace(body, skipValue(body, at))
    if (body[at] === COMMA) at = skipSpace(body, at + 1)
  }
  return starts
}

function skipSpace(body: Uint8Array, from: number): number {
  let at = from
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at += 1
  return at
}

function skipString(body: Uint8Array, quote: number): number {
  let at = quote + 1
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1
  return at + 1
}

/** Counts depth instead of calling itself: a body may nest as deep as it likes. */
function skipValue(body: Uint8Array, from: number): number {
  let at = from
  let depth = 0
  do {
    const byte = body[at]
    if (byte === QUOTE) at = skipString(body, at)
    else {
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth -= 1
      at = depth === 0 && !isStructure(byte) ? skipScalar(body, at) : at + 1
    }
  } while (depth > 0 && at < body.length)
  return at
}

const isStructure = (byte: number | undefined): boolean =>
  byte === OPEN_OBJECT || byte === CLOSE_OBJECT || byte === OPEN_ARRAY || byte === CLOSE_ARRAY || byte === COMMA || byte === COLON

function skipScalar(body: Uint8Array, from: number): number {
  let at = from
  while (at < body.length && !isStructure(body[at]) && skipSpace(body, at) === at) at += 1
  return at
}

function applyEdits(body: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const encoder = new TextEncoder()
  const parts: Uint8Array[] = []
  let at = 0
  for (const { from, until, text } of edits) {
    parts.push(body.subarray(at, from), encoder.encode(text))
    at = until
  }
  parts.push(body.subarray(at))
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let to = 0
  for (const part of parts) {
    whole.set(part, to)
    to += part.length
  }
  return whole
}
