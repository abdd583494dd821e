/** What other exchanges of the same session or client mean for this one, into the ledger. */
import { assertNever } from './assert.ts'
import type { Fact, Join } from './fact.ts'
import { takeElsewhere } from './ledger-answer.ts'
import { abandon } from './ledger-close.ts'
import { breakRule, remark } from './ledger-rules.ts'
import type { CallState, LedgerState } from './ledger-state.ts'
import { callNamed, sinceOpened } from './ledger-state.ts'
import type { Moment } from './ledger-view.ts'
import { tellDuplicate, turnPhase } from './ledger-work.ts'
import { addEntry } from './timeline.ts'

type Say = (moment: Moment) => void

export function takeJoin(state: LedgerState, { atMs, join }: Extract<Fact, { readonly kind: 'joined' }>, say: Say): void {
  const sinceMs = sinceOpened(state, atMs)
  const [first] = state.calls
  switch (join.is) {
    case 'retry':
      return takeRetry(state, join, sinceMs, say)
    case 'reissued':
      return takeReissued(state, join, atMs, say)
    case 'continued':
      state.continuedOn = join.on
      addEntry(state.timeline, [sinceMs, 'continued-on', join.on])
      for (const call of state.calls) if (isAwaited(call)) takeBack(state, call, say)
      return
    case 'message': {
      const call = callNamed(state, join.requestId)
      if (call !== null) takeElsewhere(state, call, join, atMs, say)
      return
    }
    case 'discontinued':
      if (state.continuedOn !== join.on) return
      state.continuedOn = null
      addEntry(state.timeline, [sinceMs, 'discontinued', join.on])
      for (const call of state.calls) if (isAwaited(call)) abandon(call, 'close', atMs, say)
      return
    case 'told':
      state.toldAtMs ??= atMs
      return
    case 'broke': {
      const call = callNamed(state, join.requestId) ?? first
      if (call !== undefined) breakRule(state, call, join.rule, join.detail, ...(join.severity === undefined ? [] : [join.severity]))
      return
    }
    case 'names-open':
      state.namesOpen = true
      return
    case 'task':
      return addEntry(state.timeline, [sinceMs, 'task-of', join.of, join.taskId])
    case 'remark':
      return remark(state, join.text)
    default:
      return assertNever(join)
  }
}

function takeRetry(state: LedgerState, { requestId, of, how }: Extract<Join, { readonly is: 'retry' }>, sinceMs: number, say: Say): void {
  const call = callNamed(state, requestId)
  if (call === null) return
  call.retryOf = of
  addEntry(state.timeline, of === null ? [sinceMs, how] : [sinceMs, how, of])
  say({ is: 'retry', how })
}

function takeReissued(
  state: LedgerState,
  { requestId, by, hints }: Extract<Join, { readonly is: 'reissued' }>,
  atMs: number,
  say: Say,
): void {
  const call = callNamed(state, requestId)
  if (call === null || call.isSettled || call.reissuedAtMs !== null) return
  call.reissuedAtMs = atMs
  call.reissueHints = hints
  addEntry(state.timeline, [sinceOpened(state, atMs), 'reissued-as', by])
  tellDuplicate(state, call, say)
}

/** The client still wants it, and does not have it. */
const isAwaited = ({ requestId, result, abandonedBy }: CallState): boolean =>
  requestId !== null && result !== 'sent' && abandonedBy !== 'notification'

/** A client that resumes has not given up: the close before was no abandonment. */
function takeBack(state: LedgerState, call: CallState, say: Say): void {
  call.replayedTo = call.progressValue
  state.toldAtMs = null
  call.abandonedAtMs = null
  call.abandonedBy = null
  if (call.work.phase === 'orphaning') turnPhase(call, 'running', say)
}
