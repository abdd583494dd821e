/** One span of OTLP/JSON: ids as hex, 64-bit numbers as text or numbers, enums as numbers or names. */
import type { Span, SpanLink } from './span.ts'

type Json = Readonly<Record<string, unknown>>

const KINDS: Readonly<Record<string, number>> = {
  SPAN_KIND_INTERNAL: 1,
  SPAN_KIND_SERVER: 2,
  SPAN_KIND_CLIENT: 3,
  SPAN_KIND_PRODUCER: 4,
  SPAN_KIND_CONSUMER: 5,
}

/** Null: no valid ids or times, or a field of the wrong type. */
export function spanOfJson(json: unknown, attributesMax: number, linksMax: number): Span | null {
  if (!isObject(json)) return null
  const traceId = hexOf(json['traceId'], 32)
  const spanId = hexOf(json['spanId'], 16)
  const startWallMs = nanoAsMs(json['startTimeUnixNano'] ?? 0)
  const endWallMs = nanoAsMs(json['endTimeUnixNano'])
  const name = json['name'] ?? ''
  if (traceId === null || spanId === null || startWallMs === null || endWallMs === null || endWallMs === 0) return null
  if (typeof name !== 'string') return null
  const attributes = attributesOf(json['attributes'] ?? [], attributesMax)
  const links = linksOf(json['links'] ?? [], linksMax)
  if (attributes === null || links === null) return null
  const status = json['status']
  const code = isObject(status) ? status['code'] : 0
  return {
    ...{ traceId, spanId, parentSpanId: hexOf(json['parentSpanId'], 16), name, kind: kindOf(json['kind']), startWallMs, endWallMs },
    ...{ attributes, links, isError: code === 2 || code === 'STATUS_CODE_ERROR' },
  }
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

function hexOf(value: unknown, digits: number): string | null {
  if (typeof value !== 'string' || value.length !== digits || !/^[0-9a-f]+$/i.test(value) || !/[^0]/.test(value)) return null
  return value.toLowerCase()
}

function nanoAsMs(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value / 1e6 : null
  return typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) / 1e6 : null
}

const kindOf = (value: unknown): number => (typeof value === 'number' ? value : (KINDS[String(value)] ?? 0))

function attributesOf(value: unknown, max: number): Map<string, string> | null {
  if (!Array.isArray(value)) return null
  const attributes = new Map<string, string>()
  for (const item of value.slice(0, max)) {
    if (!isObject(item) || typeof item['key'] !== 'string' || !isObject(item['value'])) continue
    const { stringValue, boolValue, intValue, doubleValue } = item['value'] as Json & Record<'stringValue', unknown>
    const text = stringValue ?? boolValue ?? intValue ?? doubleValue
    if (typeof text === 'string' || typeof text === 'number' || typeof text === 'boolean') attributes.set(item['key'], String(text))
  }
  return attributes
}

function linksOf(value: unknown, max: number): SpanLink[] | null {
  if (!Array.isArray(value)) return null
  return value.slice(0, max).flatMap((link) => {
    if (!isObject(link)) return []
    const traceId = hexOf(link['traceId'], 32)
    const spanId = hexOf(link['spanId'], 16)
    return traceId === null || spanId === null ? [] : [{ traceId, spanId }]
  })
}
