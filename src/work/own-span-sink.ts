/** Journal → the sidecar's own span of each exchange: without it, a server's spans would have a parent nobody knows. */
import type { LedgerView } from '../core/ledger-view.ts'
import type { Sink } from '../journal/sink.ts'
import type { OwnSpan, OwnSpanExporter } from './own-span.ts'

/** For an app with `otlp.forwardTo`. An exchange without a span of ours (`inject: none`) has none to tell. */
export function ownSpanSink(exporter: OwnSpanExporter): Sink {
  return {
    name: 'own spans',
    skipsTraffic: true,
    fact(view, fact) {
      const span = fact.kind === 'finished' ? ownSpanOf(view, fact.atMs) : null
      if (span !== null) exporter.take(span)
    },
    async close() {
      exporter.flush()
    },
  }
}

/** From the opening to the close as the client saw it. */
export function ownSpanOf(view: LedgerView, finishedAtMs: number): OwnSpan | null {
  const { traceId, spanId, spanIds, cause, calls } = view
  if (traceId === null || spanId === null) return null
  const [call] = calls
  const wallMsOf = (atMs: number): number => view.openedWallMs + (atMs - view.openedAtMs)
  const name = call?.method ?? view.kind
  const attributes: Record<string, string | number | boolean> = { 'impatient.exchange': view.id, 'impatient.kind': view.kind }
  const say = (key: string, value: string | number | null | undefined): void => {
    if (value !== null && value !== undefined) attributes[key] = value
  }
  say('mcp.method.name', call?.method)
  say('gen_ai.tool.name', call?.tool)
  say('jsonrpc.request.id', calls.length === 1 ? call?.requestId?.replace(/^"(.*)"$/, '$1') : null)
  say('mcp.session.id', view.session)
  say('http.response.status_code', view.status)
  say('impatient.cause', cause?.kind)
  say('impatient.hop', cause?.hop)
  say('impatient.fault', cause?.fault)
  say('impatient.ending', view.ending)
  return {
    ...{ traceId, spanId, parentSpanId: spanIds.find((id) => id !== spanId) ?? null },
    name: call?.tool === null || call?.tool === undefined ? name : `${name} ${call.tool}`,
    startWallMs: wallMsOf(view.openedAtMs),
    endWallMs: wallMsOf(view.closedAtMs ?? finishedAtMs),
    attributes,
    isError: cause !== null && cause.kind !== 'complete',
  }
}
