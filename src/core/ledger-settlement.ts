/** A settled call as sinks get it: its record, and the figures that follow from it. */
import { assert } from './assert.ts'
import { recordOf } from './ledger-record.ts'
import type { LedgerState } from './ledger-state.ts'
import { isToolCall } from './ledger-state.ts'
import { pastAbandonment } from './ledger-verdict.ts'
import type { Settlement } from './ledger-view.ts'
import { causeClassOf } from './verdict.ts'

export function settlementOf(state: LedgerState, index: number, graceMs: number): Settlement {
  const record = recordOf(state, index, graceMs, null)
  const { abandonedMs, toldMs, work } = record
  const call = state.calls[index]
  assert(call !== undefined, 'a settlement is of a call of its exchange')
  const wasPending = call.isPending
  call.isPending = false
  const pastMs = pastAbandonment({ abandonedMs, endedMs: work.endedMs })
  const stopFromMs = toldMs !== null && work.endedMs !== null && toldMs <= work.endedMs ? toldMs : abandonedMs
  return {
    record,
    exchangeId: state.id,
    call,
    isToolCall: isToolCall(call),
    wasPending,
    causeClass: state.cause === null ? 'other' : causeClassOf(state.cause),
    orphanMs: pastMs !== null && pastMs > 0 && pastMs >= graceMs ? pastMs : 0,
    beforeCloseMs: pastMs !== null && pastMs <= 0 ? -pastMs : null,
    cancelToStopMs: work.outcome === 'stopped' && work.endedMs !== null && stopFromMs !== null ? work.endedMs - stopFromMs : null,
    toolResult: call.resultOutcome ?? 'none',
    isDuplicate: call.hasDuplicate,
  }
}
