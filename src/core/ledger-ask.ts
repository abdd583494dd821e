/** What the request says, into the ledger: one call per JSON-RPC request, and the spans that reports may name. */
import type { Fact } from './fact.ts'
import { breakRule } from './ledger-rules.ts'
import type { LedgerState } from './ledger-state.ts'
import { callOf } from './ledger-state.ts'
import type { Moment } from './ledger-view.ts'
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
  state.cancels = ask.notifications.flatMap(({ method, requestId }) =>
    method === 'notifications/cancelled' && requestId !== null ? [requestId] : [],
  )
  state.traceId = fact.traceId ?? state.traceId
  state.spanId = fact.spanId ?? state.spanId
  const method = ask.notifications[0]?.method ?? null
  const told = ask.requests.length > 0 ? ask.requests.map((request) => callOf(request, null)) : [callOf(null, method)]
  const [before] = state.calls
  const [now] = told
  if (isFirst || before === undefined || now === undefined || told.length > 1) state.calls = told
  else {
    before.requestId = now.requestId
    before.method = now.method
    before.tool = now.tool
    before.progressToken = now.progressToken
    before.traceparent = now.traceparent
    before.askKey = now.askKey
    before.taskId = now.taskId
  }
  const [first] = state.calls
  if (first !== undefined) {
    if (ask.mismatch !== null) breakRule(state, first, 'header-mismatch', ask.mismatch)
    if (ask.requests.length + ask.notifications.length > 1) breakRule(state, first, 'batch-not-defined')
  }
  state.spanIds = spansOf(state)
  if (isFirst) say({ is: 'began' })
}

/** Ours, and those that the server may have read from `_meta` instead. */
function spansOf({ traceId, spanId, spanIds, calls }: LedgerState): string[] {
  const spans = new Set(spanIds)
  if (spanId !== null) spans.add(spanId)
  for (const { traceparent } of calls) {
    const context = parseTraceparent(traceparent)
    if (context !== null && context.traceId === traceId) spans.add(context.spanId)
  }
  return [...spans]
}
