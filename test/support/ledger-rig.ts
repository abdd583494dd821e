/** Short words for what happens to an exchange, for ledgers and journals under test. Times are ms since the exchange opened at 1,000. */
import type { Fact, Flow, WorkReport } from '../../src/core/fact.ts'
import type { Ledger, Moment, Settlement } from '../../src/core/ledger.ts'
import { createLedger } from '../../src/core/ledger.ts'
import { readAsk } from '../../src/core/mcp/ask.ts'
import { bytesOfText } from '../../src/core/mcp/json-text.ts'
import type { CallRecord } from '../../src/core/record.ts'
import type { Cause, EventMark, RawHeaders } from '../../src/core/signal.ts'
import { clientAbort, complete } from '../../src/core/signal.ts'
import { WALL_START_MS } from './fake-clock.ts'

export const OPENED_AT_MS = 1_000
export const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
export const at = (ms: number): number => OPENED_AT_MS + ms

export const idleCut: Cause = { kind: 'idle_timeout', seat: 'path[0]:nginx', hop: 'nginx' }
export const faultCut: Cause = { kind: 'fault', seat: 'cut-search', fault: 'cut-search' }
export { clientAbort, complete }

export const SSE: RawHeaders = ['Content-Type', 'text/event-stream']
export const JSON_HEAD: RawHeaders = ['Content-Type', 'application/json']

export const toolCall = (id: number | string = 7, tool = 'render', progressToken: number | string | null = 7): string =>
  `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"${tool}"${progressToken === null ? '' : `,"_meta":{"progressToken":${progressToken}}`}},"id":${id}}`
export const mark = (text: string): EventMark => ({ earlier: null, bytes: bytesOfText(text), isTooLong: false })
export const progressEvent = (token: number | string = 7): EventMark =>
  mark(`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}\n\n`)
export const resultText = (id: number | string = 7, more = ''): string => `{"jsonrpc":"2.0","result":{"content":[]${more}},"id":${id}}`
export const resultEvent = (id: number | string = 7, more = ''): EventMark => mark(`event: message\ndata: ${resultText(id, more)}\n\n`)

export const opened = (ms = 0, rawHeaders: RawHeaders = []): Fact => ({
  kind: 'opened',
  atMs: at(ms),
  wallMs: WALL_START_MS + ms,
  method: 'POST',
  target: '/mcp',
  rawHeaders,
  traceId: TRACE_ID,
  spanId: '00f067aa0ba902b7',
  connection: 1,
})
export const understood = (ms: number, body: string | null, revision: string | null = '2026-07-28', more: RawHeaders = []): Fact => ({
  kind: 'understood',
  atMs: at(ms),
  ask: readAsk(
    {
      method: 'POST',
      target: '/mcp',
      rawHeaders: [...(revision === null ? [] : ['MCP-Protocol-Version', revision]), 'User-Agent', 'inspector/1', ...more],
    },
    body,
  ),
})
export const asked = (ms: number): Fact => ({ kind: 'asked', atMs: at(ms) })
export const head = (ms: number, side: 'client' | 'server', rawHeaders: RawHeaders = SSE, status = 200): Fact => ({
  kind: 'head',
  atMs: at(ms),
  at: side,
  status,
  rawHeaders,
  origin: 'upstream',
})
export const answered = (ms: number, status = 504): Fact => ({
  kind: 'head',
  atMs: at(ms),
  at: 'client',
  status,
  rawHeaders: ['Content-Type', 'text/html'],
  origin: 'sidecar',
})
export const moved = (ms: number, flow: Flow, bytes: number): Fact => ({ kind: 'moved', atMs: at(ms), flow, bytes })
export const event = (ms: number, side: 'client' | 'server', of: EventMark): Fact => ({ kind: 'event', atMs: at(ms), at: side, mark: of })
/** Heads at both edges. */
export const heads = (ms: number, rawHeaders: RawHeaders = SSE, status = 200): Fact[] => [
  head(ms, 'server', rawHeaders, status),
  head(ms, 'client', rawHeaders, status),
]
/** The event passes both edges. */
export const passed = (ms: number, of: EventMark): Fact[] => [
  moved(ms, 'seen', of.bytes.length),
  event(ms, 'server', of),
  moved(ms, 'sent', of.bytes.length),
  event(ms, 'client', of),
]
export const json = (ms: number, text: string | null): Fact => ({
  kind: 'json',
  atMs: at(ms),
  bytes: text === null ? null : bytesOfText(text),
})
export const closed = (ms: number, cause: Cause, ending: 'clean' | 'fin' | 'rst' = 'fin'): Fact => ({
  kind: 'closed',
  atMs: at(ms),
  cause,
  ending,
})
export const told = (ms: number): Fact => ({ kind: 'told', atMs: at(ms), ending: 'fin' })
export const serverOver = (ms: number, how: 'clean' | 'fin' | 'rst' = 'clean'): Fact => ({ kind: 'server_over', atMs: at(ms), how })
export const finished = (ms: number): Fact => ({ kind: 'finished', atMs: at(ms) })
export const done = (ms: number): Fact[] => [serverOver(ms), closed(ms, complete, 'clean'), finished(ms)]
/** Cut, and the server told of it. */
export const cutAt = (ms: number, cause: Cause = idleCut): Fact[] => [closed(ms, cause), told(ms), finished(ms)]
export const report = (
  event: WorkReport['event'],
  ms: number,
  requestId: string | null = null,
  source: WorkReport['source'] = 'otlp',
): WorkReport => ({
  source,
  event,
  workAtMs: at(ms),
  outcome: null,
  requestId,
})
export const work = (toldMs: number, of: WorkReport): Fact => ({ kind: 'work', atMs: at(toldMs), report: of })
/** The beginning of a `tools/call` over SSE. */
export const call = (revision: string | null = '2026-07-28', body = toolCall()): Fact[] => [
  opened(),
  understood(1, body, revision),
  asked(1),
  ...heads(4),
]

export interface LedgerRig {
  readonly ledger: Ledger
  readonly moments: Moment[]
  take(...facts: Fact[]): LedgerRig
  record(index?: number): CallRecord
  settle(index?: number): Settlement
}

export function ledgerRig({ graceMs = 500 } = {}): LedgerRig {
  const moments: Moment[] = []
  const ledger = createLedger({ id: 'c42', graceMs, say: (moment) => moments.push(moment) })
  const rig: LedgerRig = {
    ledger,
    moments,
    take(...facts) {
      for (const fact of facts) ledger.take(fact)
      return rig
    },
    record(index = 0) {
      const record = ledger.records(at(0))[index]
      if (record === undefined) throw new Error(`no record ${index}`)
      return record
    },
    settle: (index = 0) => ledger.settle(index),
  }
  return rig
}
