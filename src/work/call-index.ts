/** The calls a report may belong to, found by trace and span, told apart by JSON-RPC id, method, tool and session. Pure. */
import { assert } from '../core/assert.ts'
import { createFifo } from '../core/fifo.ts'

/** One JSON-RPC request of an exchange, as reports may name it. A batch has several, an exchange without meaning one of nulls. */
export interface CallKey {
  readonly exchangeId: string
  readonly traceId: string
  /** Ours, the incoming header's, `_meta`'s. */
  readonly spanIds: readonly string[]
  /** Raw JSON text: `7`, `"a"`; null or empty: not known (yet). */
  readonly requestId: string | null
  readonly method: string | null
  readonly tool: string | null
  readonly session: string | null
  /** When the exchange opened, by the clock's `nowMs`: nothing of its work can be older. */
  readonly openedAtMs: number
}

/** What a report says of the request it is for; null: it does not say. */
export interface Claim {
  /** Text without quotes: `7`, `a`. */
  readonly requestId: string | null
  readonly method: string | null
  readonly tool: string | null
  readonly session: string | null
}

export type Found =
  | { readonly is: 'one'; readonly call: CallKey; readonly isSettled: boolean }
  | { readonly is: 'several' }
  | { readonly is: 'none' }

export interface CallIndex {
  register(key: CallKey): void
  /** The exchange's calls are settled: what still comes for them is late. */
  forget(exchangeId: string): void
  isKnown(traceId: string, spanId: string): boolean
  /** Which call of this span the claim means; settled ones only where no open one fits. */
  find(traceId: string, spanId: string, claim: Claim): Found
  /** Whether it still takes reports. */
  isOpen(call: CallKey): boolean
  liveCount(): number
  /** Calls let go because there were more than `callsMax`. */
  evictedCount(): number
}

interface Entry {
  readonly key: CallKey
  isSettled: boolean
}
/** By the id's text, `''` for an unknown one: a thousand calls may share a span, and each report wants one. */
type Bucket = Map<string, Set<Entry>>
/** Most spans have one call, which then stands for itself. */
type Named = Entry | Bucket

const SETTLED_MAX = 10_000
const nodeKey = (traceId: string, spanId: string): string => `${traceId}${spanId}`

export function createCallIndex({ callsMax }: { callsMax: number }): CallIndex {
  assert(callsMax > 0, 'callsMax is positive')
  const buckets = new Map<string, Named>()
  const live = new Map<string, Entry[]>() // by exchange, oldest first
  const settled = createFifo<readonly Entry[]>() // so that a late report is told as late, not as a stranger
  let liveCount = 0
  let evictedCount = 0

  function register(key: CallKey): void {
    const entry: Entry = { key, isSettled: false }
    // A call becomes known bit by bit, first by its headers and without its id: the last word counts.
    const earlier = live.get(key.exchangeId)?.find((other) => isUnknown(other.key.requestId) || other.key.requestId === key.requestId)
    if (earlier !== undefined) drop(earlier)
    for (const spanId of key.spanIds) name(nodeKey(key.traceId, spanId), entry)
    const siblings = live.get(key.exchangeId)
    if (siblings === undefined) live.set(key.exchangeId, [entry])
    else siblings.push(entry)
    liveCount += 1
    while (liveCount > callsMax) {
      const [oldest] = live.keys()
      if (oldest === undefined) break
      evictedCount += live.get(oldest)?.length ?? 0
      forget(oldest)
    }
  }

  function name(node: string, entry: Entry): void {
    const named = buckets.get(node)
    if (named === undefined || named === entry) {
      buckets.set(node, entry)
      return
    }
    const bucket: Bucket = named instanceof Map ? named : new Map()
    if (!(named instanceof Map)) put(bucket, named)
    put(bucket, entry)
    buckets.set(node, bucket)
  }

  function forget(exchangeId: string): void {
    const entries = live.get(exchangeId)
    if (entries === undefined) return
    live.delete(exchangeId)
    liveCount -= entries.length
    for (const entry of entries) entry.isSettled = true
    settled.push(entries)
    if (settled.size() > SETTLED_MAX) for (const entry of settled.shift() ?? []) remove(entry)
  }

  function drop(entry: Entry): void {
    remove(entry)
    liveCount -= 1
    const siblings = (live.get(entry.key.exchangeId) ?? []).filter((other) => other !== entry)
    live.set(entry.key.exchangeId, siblings)
  }

  function remove(entry: Entry): void {
    for (const spanId of entry.key.spanIds) {
      const node = nodeKey(entry.key.traceId, spanId)
      const named = buckets.get(node)
      if (named instanceof Map) {
        const id = idOf(entry)
        const entries = named.get(id)
        entries?.delete(entry)
        if (entries?.size === 0) named.delete(id)
      }
      if (named === entry || (named instanceof Map && named.size === 0)) buckets.delete(node)
    }
  }

  return {
    register,
    forget,
    isKnown: (traceId, spanId) => buckets.has(nodeKey(traceId, spanId)),
    find(traceId, spanId, claim) {
      const named = namedBy(claim, buckets.get(nodeKey(traceId, spanId)))
      const open = narrow(
        named.filter(({ isSettled }) => !isSettled),
        claim,
      )
      return open.is === 'none' ? narrow(named, claim) : open
    },
    isOpen: (call) => live.get(call.exchangeId)?.some(({ key }) => key === call) ?? false,
    liveCount: () => liveCount,
    evictedCount: () => evictedCount,
  }
}

const isUnknown = (requestId: string | null): boolean => requestId === null || requestId === ''

const idOf = (entry: Entry): string => idText(entry.key.requestId) ?? ''

function put(bucket: Bucket, entry: Entry): void {
  const id = idOf(entry)
  const entries = bucket.get(id)
  if (entries === undefined) bucket.set(id, new Set([entry]))
  else entries.add(entry)
}

/** Those of the claim's id; where nobody has it, those whose id is unknown; without a claim, all. */
function namedBy({ requestId }: Claim, named: Named | undefined): readonly Entry[] {
  if (named === undefined) return []
  if (!(named instanceof Map)) return requestId === null || idOf(named) === requestId || idOf(named) === '' ? [named] : []
  if (requestId === null) return [...named.values()].flatMap((entries) => [...entries])
  return [...(named.get(requestId) ?? named.get('') ?? [])]
}

/** A method that contradicts rules out; tool and session only break ties, for a server may rename its tools. */
function narrow(entries: readonly Entry[], claim: Claim): Found {
  let left = entries
  if (claim.method !== null) {
    const same = left.filter(({ key }) => key.method === claim.method)
    left = same.length > 0 ? same : left.filter(({ key }) => key.method === null)
  }
  left = preferring(left, ({ key }) => claim.tool !== null && key.tool === claim.tool)
  left = preferring(left, ({ key }) => claim.session !== null && key.session === claim.session)
  const [only] = left
  if (only === undefined) return { is: 'none' }
  return left.length > 1 ? { is: 'several' } : { is: 'one', call: only.key, isSettled: only.isSettled }
}

function preferring(entries: readonly Entry[], fits: (entry: Entry) => boolean): readonly Entry[] {
  if (entries.length < 2) return entries
  const fitting = entries.filter(fits)
  return fitting.length > 0 ? fitting : entries
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
