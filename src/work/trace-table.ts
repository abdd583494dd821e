/** Calls sorted by trace, span and JSON-RPC id, for those who ask: most traces have one call, which then stands for itself. */
import type { CallKey } from './call-index.ts'

export interface Entry {
  readonly key: CallKey
  isSettled: boolean
  isIndexed: boolean
  /** Let go before anybody asked: it is not to be indexed any more. */
  isGone: boolean
}
/** By the id's text, `''` for an unknown one: a thousand calls may share a span, and each report wants one. */
type Bucket = Map<string, Set<Entry>>
/** So does the one call of a span … */
export type Named = Entry | Bucket
/** … and the one call of a trace: only where there are more, they are sorted by span. */
export type Traced = Entry | Map<string, Named>

export const idOf = (entry: Entry): string => idText(entry.key.requestId) ?? ''

export function namedIn(traces: ReadonlyMap<string, Traced>, traceId: string, spanId: string): Named | undefined {
  const traced = traces.get(traceId)
  if (traced === undefined || traced instanceof Map) return traced?.get(spanId)
  return traced.key.spanIds.includes(spanId) ? traced : undefined
}

export function addTo(traces: Map<string, Traced>, entry: Entry): void {
  const { traceId } = entry.key
  const traced = traces.get(traceId)
  if (traced === undefined) {
    traces.set(traceId, entry)
    return
  }
  const spans = traced instanceof Map ? traced : spread(new Map(), traced)
  spread(spans, entry)
  traces.set(traceId, spans)
}

function spread(spans: Map<string, Named>, entry: Entry): Map<string, Named> {
  for (const spanId of entry.key.spanIds) {
    const named = spans.get(spanId)
    if (named === undefined || named === entry) spans.set(spanId, entry)
    else if (named instanceof Map) put(named, entry)
    else spans.set(spanId, put(put(new Map(), named), entry))
  }
  return spans
}

export function removeFrom(traces: Map<string, Traced>, entry: Entry): void {
  const { traceId, spanIds } = entry.key
  const traced = traces.get(traceId)
  if (traced instanceof Map) for (const spanId of spanIds) removeSpan(traced, spanId, entry)
  if (traced === entry || (traced instanceof Map && traced.size === 0)) traces.delete(traceId)
}

function removeSpan(spans: Map<string, Named>, spanId: string, entry: Entry): void {
  const named = spans.get(spanId)
  if (named instanceof Map) {
    const id = idOf(entry)
    const entries = named.get(id)
    entries?.delete(entry)
    if (entries?.size === 0) named.delete(id)
  }
  if (named === entry || (named instanceof Map && named.size === 0)) spans.delete(spanId)
}

function put(bucket: Bucket, entry: Entry): Bucket {
  const id = idOf(entry)
  const entries = bucket.get(id)
  if (entries === undefined) bucket.set(id, new Set([entry]))
  else entries.add(entry)
  return bucket
}

/** An id's raw JSON text as a span tells it: without a string's quotes. */
export function idText(raw: string | null): string | null {
  if (raw === null || !raw.startsWith('"')) return raw
  try {
    return String(JSON.parse(raw))
  } catch {
    return raw
  }
}
