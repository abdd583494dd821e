/** Reads the spans out of an OTLP trace export, protobuf or JSON: good spans are taken one by one, bad ones beside them counted. */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { spanOfJson } from './otlp-json.ts'
import type { Span, SpanLink } from './span.ts'

export interface Decoded {
  readonly taken: number
  /** Spans that were none: no valid ids, a field of the wrong type, or more than fit in one export. */
  readonly rejected: number
  /** Why the body itself could not be read to its end; null: it could. What came before was taken. */
  readonly problem: string | null
}

/** Far above any exporter's batch; more would stop the loop, and the timers of the data path with it. */
export const SPANS_MAX = 20_000
const ATTRIBUTES_MAX = 256
const LINKS_MAX = 128

type Take = (span: Span) => void

/** `body`: an ExportTraceServiceRequest, decompressed. */
export function decodeSpans(body: Uint8Array, encoding: 'protobuf' | 'json', take: Take): Decoded {
  let taken = 0
  let rejected = 0
  const takeOne = (span: Span | null): void => {
    if (span === null || taken >= SPANS_MAX) rejected += 1
    else {
      taken += 1
      take(span)
    }
  }
  const problem = encoding === 'protobuf' ? readProtobuf(body, takeOne) : readJson(body, takeOne)
  return { taken, rejected, problem }
}

function readProtobuf(body: Uint8Array, takeOne: (span: Span | null) => void): string | null {
  let isWhole = true
  /** The nested messages of one field, cut short where their sender broke off: the spans before the break are good. */
  const eachNested = (bytes: Uint8Array, wanted: number, take: (nested: Uint8Array, isCut: boolean) => void): void =>
    eachField(bytes, (field, type, reader) => {
      if (field !== wanted || type !== LD) return false
      const length = reader.uint32()
      const from = reader.pos
      reader.pos = Math.min(from + length, reader.len)
      const isCut = reader.pos < from + length
      if (isCut) isWhole = false
      take(bytes.subarray(from, reader.pos), isCut)
      return true
    })
  try {
    eachNested(body, 1, (resource) =>
      eachNested(resource, 2, (scope) => eachNested(scope, 2, (span, isCut) => takeOne(isCut ? null : spanOfBytes(span)))),
    )
    return isWhole ? null : 'no OTLP protobuf: it breaks off'
  } catch (error) {
    return `no OTLP protobuf: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Calls `read` per field; what it does not read (false) is skipped. Throws where the bytes break off or make no sense. */
function eachField(bytes: Uint8Array, read: (field: number, type: WireType, reader: BinaryReader) => boolean): void {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (!read(field, type, reader)) reader.skip(type, field)
  }
}

interface Draft {
  traceId: string | null
  spanId: string | null
  parentSpanId: string | null
  name: string
  kind: number
  startWallMs: number
  endWallMs: number
  isError: boolean
  readonly attributes: Map<string, string>
  readonly links: SpanLink[]
}

/** Null: bytes that are no span. Its neighbours are whole: each span's length stands before it. */
function spanOfBytes(bytes: Uint8Array): Span | null {
  const draft: Draft = {
    ...{ traceId: null, spanId: null, parentSpanId: null, name: '', kind: 0, startWallMs: 0, endWallMs: 0, isError: false },
    ...{ attributes: new Map(), links: [] },
  }
  try {
    eachField(bytes, (field, type, reader) => readSpanField(draft, field, type, reader))
  } catch {
    return null
  }
  const { traceId, spanId } = draft
  if (traceId === null || spanId === null || draft.endWallMs === 0) return null
  return { ...draft, traceId, spanId }
}

function readSpanField(draft: Draft, field: number, type: WireType, reader: BinaryReader): boolean {
  if (type !== WIRE_TYPE_OF[field]) return false
  switch (field) {
    case 1:
      draft.traceId = hexOf(reader.bytes(), 16)
      return true
    case 2:
      draft.spanId = hexOf(reader.bytes(), 8)
      return true
    case 4:
      draft.parentSpanId = hexOf(reader.bytes(), 8)
      return true
    case 5:
      draft.name = reader.string()
      return true
    case 6:
      draft.kind = reader.int32()
      return true
    case 7:
      draft.startWallMs = Number(reader.fixed64()) / 1e6
      return true
    case 8:
      draft.endWallMs = Number(reader.fixed64()) / 1e6
      return true
    case 9:
      readAttribute(draft.attributes, reader.bytes())
      return true
    case 13:
      readLink(draft.links, reader.bytes())
      return true
    case 15:
      draft.isError = readStatus(reader.bytes()) === 2
      return true
    default:
      return false
  }
}

const { LengthDelimited: LD, Varint, Bit64 } = WireType
const WIRE_TYPE_OF: Readonly<Record<number, WireType>> = {
  1: LD,
  2: LD,
  4: LD,
  5: LD,
  6: Varint,
  7: Bit64,
  8: Bit64,
  9: LD,
  13: LD,
  15: LD,
}

function readAttribute(attributes: Map<string, string>, bytes: Uint8Array): void {
  if (attributes.size >= ATTRIBUTES_MAX) return
  let key: string | null = null
  let value: string | null = null
  eachField(bytes, (field, type, reader) => {
    if (type !== LD) return false
    if (field === 1) key = reader.string()
    else if (field === 2) value = readValue(reader.bytes())
    else return false
    return true
  })
  if (key !== null && value !== null) attributes.set(key, value)
}

/** Strings, booleans, integers and doubles as text; null for lists and maps. */
function readValue(bytes: Uint8Array): string | null {
  let value: string | null = null
  eachField(bytes, (field, type, reader) => {
    if (field === 1 && type === LD) value = reader.string()
    else if (field === 2 && type === Varint) value = String(reader.bool())
    else if (field === 3 && type === Varint) value = String(reader.int64())
    else if (field === 4 && type === Bit64) value = String(reader.double())
    else return false
    return true
  })
  return value
}

function readLink(links: SpanLink[], bytes: Uint8Array): void {
  let traceId: string | null = null
  let spanId: string | null = null
  eachField(bytes, (field, type, reader) => {
    if (type !== LD || field > 2) return false
    if (field === 1) traceId = hexOf(reader.bytes(), 16)
    else spanId = hexOf(reader.bytes(), 8)
    return true
  })
  if (traceId !== null && spanId !== null && links.length < LINKS_MAX) links.push({ traceId, spanId })
}

function readStatus(bytes: Uint8Array): number {
  let code = 0
  eachField(bytes, (field, type, reader) => {
    if (field !== 3 || type !== Varint) return false
    code = reader.int32()
    return true
  })
  return code
}

/** Null: of another length, or all zeros, as an absent parent may be. */
function hexOf(bytes: Uint8Array, length: number): string | null {
  if (bytes.length !== length || bytes.every((byte) => byte === 0)) return null
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

function readJson(body: Uint8Array, takeOne: (span: Span | null) => void): string | null {
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return 'the body is no JSON'
  }
  const resources = listIn(json, 'resourceSpans')
  if (resources === null) return 'resourceSpans: expected a list'
  let problem: string | null = null
  for (const resource of resources) {
    const scopes = listIn(resource, 'scopeSpans')
    if (scopes === null) problem ??= 'resourceSpans[].scopeSpans: expected a list'
    for (const scope of scopes ?? []) {
      const spans = listIn(scope, 'spans')
      if (spans === null) problem ??= 'scopeSpans[].spans: expected a list'
      for (const span of spans ?? []) takeOne(spanOfJson(span, ATTRIBUTES_MAX, LINKS_MAX))
    }
  }
  return problem
}

/** Empty where the key is absent, as in the protobuf; null where it is no list, or its owner no object. */
function listIn(owner: unknown, key: string): readonly unknown[] | null {
  if (typeof owner !== 'object' || owner === null || Array.isArray(owner)) return null
  const list = (owner as Readonly<Record<string, unknown>>)[key]
  if (list === undefined || list === null) return []
  return Array.isArray(list) ? list : null
}
