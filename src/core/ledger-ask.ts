/** What the request says, into the ledger: one call per JSON-RPC request, and the spans that reports may name. */
import type { Fact } from './fact.ts'
import { breakRule } from './ledger-rules.ts'
import type { LedgerState } from './ledger-state.ts'
import { callOf, nameCall } from './ledger-state.ts'
import type { Moment } from './ledger-view.ts'
import type { RpcNotification } from './mcp/ask.ts'
import { parseTraceparent } from './trace-context.ts'

/** Told once by the body, or by the headers and then by the body, whose ids complete what is there. */
export function readAskInto(state: LedgerState, fact: Extract<Fact, { readonly kind: 'understood' }>, say: (moment: Moment) => void): void {
  const { ask } = fact
  const isFirst = !state.isUnderstood
  state.isUnderstood = true
  state.kind = ask.kind
  state.revision = ask.revision
  state.client = ask.client
  state.session = ask.session
  if (ask.notifications.length > 0) state.cancels = cancelsOf(ask.notifications)
  else if (!isFirst) state.cancels = []
  state.traceId = fact.traceId ?? state.traceId
  state.spanId = fact.spanId ?? state.spanId
  const method = ask.notifications[0]?.method ?? null
  const [before] = state.calls
  const isNew = isFirst && !state.isFresh
  if (isNew || before === undefined || ask.requests.length > 1) {
    state.calls = ask.requests.length > 0 ? ask.requests.map((request) => callOf(request, null)) : [callOf(null, method)]
  } else nameCall(before, ask.requests[0] ?? null, method)
  state.isFresh = false
  const [first] = state.calls
  if (first !== undefined) {
    if (ask.mismatch !== null) breakRule(state, first, 'header-mismatch', ask.mismatch)
    if (ask.requests.length + ask.notifications.length > 1) breakRule(state, first, 'batch-not-defined')
  }
  state.spanIds = spansOf(state)
  if (isFirst) say({ is: 'began' })
}

const cancelsOf = (notifications: readonly RpcNotification[]): readonly string[] =>
  notifications.flatMap(({ method, requestId }) => (method === 'notifications/cancelled' && requestId !== null ? [requestId] : []))

/** Ours, and those that the server may have read from `_meta` instead. */
function spansOf({ traceId, spanId, spanIds, calls }: LedgerState): readonly string[] {
  const [call] = calls
  if (spanIds.length === 0 && spanId !== null && calls.length === 1 && call?.traceparent === null) return [spanId] // most
  const spans = [...spanIds]
  if (spanId !== null && !spans.includes(spanId)) spans.push(spanId)
  for (const { traceparent } of calls) {
    const context = traceparent === null ? null : parseTraceparent(traceparent)
    if (context !== null && context.traceId === traceId && !spans.includes(context.spanId)) spans.push(context.spanId)
  }
  return spans
}
