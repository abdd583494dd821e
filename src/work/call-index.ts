/** The calls a report may belong to, found by trace and span, told apart by JSON-RPC id, method, tool and session. Pure. */
import { assert } from '../core/assert.ts'
import { createFifo } from '../core/fifo.ts'
import { createKeyed } from '../core/keyed.ts'
import { createFrozenKeys } from './frozen-keys.ts'
import type { Entry, Named, Traced } from './trace-table.ts'
import { addTo, idOf, namedIn, removeFrom } from './trace-table.ts'

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
  /** The latest end that a report of it told: whoever takes reports keeps it here, for a WeakMap would keep the key too. */
  latestEndWallMs?: number
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

/** Most exchanges have one call, which then stands for itself; else they are in the order they came. */
type Calls = Entry | Entry[]

const SETTLED_MAX = 10_000
/** So many that are gone, and as many as are not, may wait to be left out. */
const FRESH_SPARE = 250

export function createCallIndex({ callsMax }: { callsMax: number }): CallIndex {
  assert(callsMax > 0, 'callsMax is positive')
  const traces = new Map<string, Traced>()
  const fresh = createFifo<Entry>() // not indexed yet: where nobody reports, nobody asks, and no call need be sorted in and out
  const live = createKeyed<Calls>() // by exchange
  const settled = createFifo<Calls>() // so that a late report is told as late, not as a stranger
  const frozen = createFrozenKeys(SETTLED_MAX) // the same, of those that nobody has asked about since
  let liveCount = 0
  let evictedCount = 0

  function register(key: CallKey): void {
    const entry: Entry = { key, isSettled: false, isIndexed: false, isGone: false }
    const calls = live.get(key.exchangeId)
    if (calls === undefined) live.set(key.exchangeId, entry)
    else join(calls, entry)
    fresh.push(entry)
    if (fresh.size() > FRESH_SPARE + 2 * (liveCount + settled.size())) leaveOutGone()
    liveCount += 1
    while (liveCount > callsMax) evictOldest()
  }

  /** Before anybody is found: all that came since the last time. */
  function index(): void {
    for (const key of frozen.takeAll()) {
      const entry: Entry = { key, isSettled: true, isIndexed: true, isGone: false }
      addTo(traces, entry)
      settled.push(entry)
    }
    for (let entry = fresh.shift(); entry !== undefined; entry = fresh.shift()) {
      if (entry.isGone) continue
      entry.isIndexed = true
      addTo(traces, entry)
    }
  }

  /** One that stays open for hours keeps those behind it. */
  function leaveOutGone(): void {
    for (let left = fresh.size(); left > 0; left -= 1) {
      const entry = fresh.shift()
      if (entry !== undefined && !entry.isGone) fresh.push(entry)
    }
  }

  function letGo(entry: Entry): void {
    entry.isGone = true
    if (entry.isIndexed) removeFrom(traces, entry)
    while (fresh.first()?.isGone === true) fresh.shift()
  }

  /** A call becomes known bit by bit, first by its headers and without its id: the last word counts. */
  function join(calls: Calls, entry: Entry): void {
    const { exchangeId, requestId } = entry.key
    const siblings = Array.isArray(calls) ? calls : [calls]
    const earlier = siblings.find((other) => isUnknown(other.key.requestId) || other.key.requestId === requestId)
    if (earlier !== undefined) {
      letGo(earlier)
      liveCount -= 1
    }
    const left = siblings.filter((other) => other !== earlier)
    live.set(exchangeId, left.length === 0 ? entry : [...left, entry])
  }

  function evictOldest(): void {
    const oldest = live.oldest()
    if (oldest === undefined) return
    const [exchangeId, calls] = oldest
    evictedCount += Array.isArray(calls) ? calls.length : 1
    forget(exchangeId)
  }

  function forget(exchangeId: string): void {
    const calls = live.get(exchangeId)
    if (calls === undefined) return
    live.delete(exchangeId)
    if (Array.isArray(calls)) for (const entry of calls) entry.isSettled = true
    else calls.isSettled = true
    liveCount -= Array.isArray(calls) ? calls.length : 1
    if (!Array.isArray(calls) && !calls.isIndexed && frozen.put(calls.key)) letGo(calls)
    else settled.push(calls)
    while (settled.size() + frozen.size() > SETTLED_MAX) dropSettled()
  }

  function dropSettled(): void {
    const gone = settled.shift()
    if (gone === undefined) frozen.dropOldest()
    else if (Array.isArray(gone)) for (const entry of gone) letGo(entry)
    else letGo(gone)
  }

  function isOpen(call: CallKey): boolean {
    const calls = live.get(call.exchangeId)
    if (calls === undefined) return false
    return Array.isArray(calls) ? calls.some(({ key }) => key === call) : calls.key === call
  }

  return {
    register,
    forget,
    isKnown(traceId, spanId) {
      index()
      return namedIn(traces, traceId, spanId) !== undefined
    },
    find(traceId, spanId, claim) {
      index()
      const named = namedBy(claim, namedIn(traces, traceId, spanId))
      const open = narrow(
        named.filter(({ isSettled }) => !isSettled),
        claim,
      )
      return open.is === 'none' ? narrow(named, claim) : open
    },
    isOpen,
    liveCount: () => liveCount,
    evictedCount: () => evictedCount,
  }
}

const isUnknown = (requestId: string | null): boolean => requestId === null || requestId === ''

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
