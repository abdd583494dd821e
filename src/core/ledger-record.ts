/** The ledger's state as the record that users read, keys in the contract's order, times in whole ms since the exchange opened. */

import { assert } from './assert.ts'
import { isoOf } from './iso-time.ts'
import { diagnosisOf } from './ledger-diagnosis.ts'
import { brokenAs } from './ledger-rules.ts'
import type { CallState, LedgerState } from './ledger-state.ts'
import { toldMsOf, violationsOf, workOf } from './ledger-verdict.ts'
import type { CallRecord } from './record.ts'
import { entriesOf } from './timeline.ts'
import { closedByOf, faultOf, hopOf } from './verdict.ts'

/** `nowMs`: up to when a silence that still lasts is counted; null: it lasts no more. */
export function recordOf(state: LedgerState, index: number, graceMs: number, nowMs: number | null): CallRecord {
  const call = state.calls[index]
  assert(call !== undefined, 'a record is of a call of its exchange')
  const { cause, timeline } = state
  const { openedAtMs } = state
  const work = workOf(state, call, graceMs)
  const record: CallRecord = {
    id: index === 0 ? state.id : `${state.id}.${index + 1}`,
    openedAt: isoOf(state.openedWallMs),
    kind: state.kind,
    answer: state.answer,
    method: call.method === '' ? null : call.method,
    tool: call.tool,
    requestId: requestIdOf(call.requestId),
    revision: state.revision,
    traceId: state.traceId,
    spanId: state.spanId,
    client: state.client,
    status: state.status,
    seenStatus: state.seenStatus,
    headersMs: since(state.headersAtMs, openedAtMs),
    firstByteMs: since(state.firstByteAtMs, openedAtMs),
    firstEventMs: since(state.firstEventAtMs, openedAtMs),
    closedMs: since(state.closedAtMs, openedAtMs),
    closedBeforeHeaders: state.closedBeforeHeaders,
    longestSilenceMs: Math.round(Math.max(state.longestSilenceMs, runningSilenceMs(state, nowMs))),
    silenceAtCloseMs: state.silenceAtCloseMs === null ? null : Math.round(state.silenceAtCloseMs),
    progress: { seen: call.progressSeen, sent: call.progressSent },
    bytes: { request: state.bytesRequest, seen: state.bytesSeen, sent: state.bytesSent },
    closedBy: cause === null ? null : closedByOf(cause),
    cause: cause?.kind ?? null,
    hop: cause === null ? null : hopOf(cause),
    fault: cause === null ? null : faultOf(cause),
    ending: state.ending,
    result: call.result,
    abandonedMs: since(call.abandonedAtMs, openedAtMs),
    abandonedBy: call.abandonedBy,
    toldMs: toldMsOf(state, call),
    wouldCut: state.wouldCut,
    work,
    retryOf: call.retryOf,
    violations: allOf(violationsOf(state, call, work, graceMs), brokenAs(call, 'violation')),
    notices: noticesOf(state, call),
    timeline: entriesOf(timeline),
  }
  return timeline.isTruncated ? { ...record, truncated: true } : record
}

const since = (atMs: number | null, openedAtMs: number): number | null => (atMs === null ? null : Math.round(atMs - openedAtMs))

const allOf = (some: readonly string[], more: readonly string[]): readonly string[] =>
  some.length === 0 ? more : more.length === 0 ? some : [...some, ...more]

/** Rules by their names, then sentences. */
function noticesOf(state: LedgerState, call: CallState): readonly string[] {
  const diagnosis = call.isSettled ? diagnosisOf(state, call) : null
  if (call.staleCount === 0 && diagnosis === null) return allOf(brokenAs(call, 'notice'), state.notices)
  const stale = call.staleCount === 0 ? [] : ['stale-message', staleRemark(call.staleCount)]
  return [...brokenAs(call, 'notice'), ...state.notices, ...stale, ...(diagnosis === null ? [] : [diagnosis])]
}

const staleRemark = (count: number): string =>
  count === 1 ? 'a message came for it after it was cancelled' : `${count} messages came for it after it was cancelled`

const runningSilenceMs = ({ isSilenceOver, silentSinceMs }: LedgerState, nowMs: number | null): number =>
  isSilenceOver || silentSinceMs === null || nowMs === null ? 0 : nowMs - silentSinceMs

/** A number where a number holds it, else its digits; a string without its quotes. */
export function requestIdOf(raw: string | null): string | number | null {
  if (raw === null || raw === '') return null
  if (raw.startsWith('"')) return JSON.parse(raw) as string
  const number = Number(raw)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? raw : number
}
