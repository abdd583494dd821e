/** What the server went on doing, into the ledger: reports of its work, and when to stop waiting for them. */
import type { Fact, WorkReport } from './fact.ts'
import { breakRule } from './ledger-rules.ts'
import type { CallState, LedgerState } from './ledger-state.ts'
import { callNamed, cancelsByClosing, isDraining, isToolCall } from './ledger-state.ts'
import type { Moment, WorkPhase } from './ledger-view.ts'
import type { RecordedSource } from './record.ts'
import { addEntry } from './timeline.ts'

type Say = (moment: Moment) => void

/** Work ends with the latest end that is told within this of the first. */
export const ENDS_WITHIN_MS = 2_000

export interface SettleRules {
  /** How long after its close a call waits for its report. */
  readonly waitMs: number
  /** Somebody may still report: only then is a call with its result worth waiting for. */
  readonly isSourceAlive: boolean
}

/** Reports of `drain` and `response` are not taken: the ledger sees those itself. */
export function takeReport(state: LedgerState, { atMs, report }: Extract<Fact, { readonly kind: 'work' }>, say: Say): void {
  const call = callNamed(state, report.requestId)
  const { source, workAtMs } = report
  if (call === null || call.isSettled || source === 'drain' || source === 'response') return
  const { work } = call
  const name = state.calls.length > 1 && call.requestId !== null ? [call.requestId] : []
  const atWorkMs = Math.round(Math.max(0, workAtMs - state.openedAtMs))
  if (report.event === 'start') {
    if (work.startedAtMs === null) addEntry(state.timeline, [atWorkMs, 'work-started', ...name])
    work.startedAtMs = Math.min(work.startedAtMs ?? Infinity, workAtMs)
    work.source ??= source
    work.startedBy ??= source
    if (work.phase === 'none') turnPhase(call, call.abandonedAtMs === null ? 'running' : 'orphaning', say)
  } else {
    if (!isInTime(call, atMs)) return
    work.firstEndToldAtMs ??= atMs
    if (workAtMs > (work.endedAtMs ?? -Infinity)) {
      work.endedAtMs = workAtMs
      work.source = source
      addEntry(state.timeline, [atWorkMs, 'work-ended', ...name])
    }
    tellDuplicate(state, call, say)
    turnPhase(call, 'over', say)
  }
  // A report is an answer of the server's: it has this tool.
  if (call.tool !== null) say({ is: 'tools', names: [call.tool] })
}

/** A start before this is of another call, an end after that comes from a clock that is wrong. */
const EARLY_MAX_MS = 250
const AHEAD_MAX_MS = 5_000

export type ReportJudgement = 'matched' | 'refused' | 'duplicate' | 'settled' | 'unmatched'

/** What a report told now would be, before it is taken; only `matched` changes anything. */
export function judgeReport(state: LedgerState, { event, workAtMs, requestId }: WorkReport, atMs: number): ReportJudgement {
  if (!(workAtMs >= state.openedAtMs - EARLY_MAX_MS && workAtMs <= atMs + AHEAD_MAX_MS)) return 'refused'
  const call = callNamed(state, requestId)
  if (call === null) return 'unmatched'
  if (call.isSettled) return 'settled'
  return event === 'start' || isInTime(call, atMs) ? 'matched' : 'duplicate'
}

/** Whether an end told now still belongs to the first. */
const isInTime = ({ work }: CallState, atMs: number): boolean =>
  work.firstEndToldAtMs === null || atMs <= work.firstEndToldAtMs + ENDS_WITHIN_MS

export function turnPhase(call: CallState, to: WorkPhase, say: Say): void {
  const from = call.work.phase
  if (from === to) return
  call.work.phase = to
  say({ is: 'work', call, source: call.work.source ?? 'response', startedBy: call.work.startedBy, from, to })
}

/** A client comes back for a stream with event ids within this, if at all: SDKs do within seconds. */
export const RESUMED_WITHIN_MS = 10_000
/** What became of the open requests that a notification names is looked at after this. */
export const NAMES_WITHIN_MS = 250

/** When the call may be settled, by what is known now; null: not before another fact. */
export function settlesAtMs(state: LedgerState, index: number, rules: SettleRules): number | null {
  const call = state.calls[index]
  const { closedAtMs } = state
  if (call === undefined || call.isSettled || closedAtMs === null) return null
  if (state.continuedOn !== null && call.result !== 'sent' && call.abandonedBy !== 'notification') return null
  const dueMs = dueAtMs(state, call, overAtMs(call, closedAtMs), rules)
  if (dueMs === null) return null
  const mayResume = state.hasEventIds && call.abandonedBy === 'close' && call.result !== 'sent' && !cancelsByClosing(state.revision)
  return mayResume ? Math.max(dueMs, closedAtMs + Math.min(RESUMED_WITHIN_MS, rules.waitMs)) : dueMs
}

/** When nothing more of its answer will come, wherever that was awaited. */
function overAtMs({ resultAtMs, isAnsweredElsewhere, abandonedAtMs }: CallState, closedAtMs: number): number {
  return Math.max(closedAtMs, abandonedAtMs ?? 0, isAnsweredElsewhere ? (resultAtMs ?? 0) : 0)
}

function dueAtMs(state: LedgerState, call: CallState, overMs: number, { waitMs, isSourceAlive }: SettleRules): number | null {
  const isFinished = state.finishedAtMs !== null
  if (!isToolCall(call)) return isFinished ? overMs + (state.namesOpen ? NAMES_WITHIN_MS : 0) : null
  const latestMs = overMs + waitMs
  const { firstEndToldAtMs, phase } = call.work
  if (firstEndToldAtMs !== null) {
    const endsToldMs = Math.max(firstEndToldAtMs + ENDS_WITHIN_MS, overMs)
    return isFinished ? endsToldMs : Math.max(endsToldMs, latestMs)
  }
  const nobodyReports = phase === 'none' && !isSourceAlive
  const isKnown = call.isTask || state.cause?.kind === 'unreachable' || (nobodyReports && responseEndMs(state, call) !== null)
  return isFinished && isKnown ? overMs : latestMs
}

export function settleWork(state: LedgerState, index: number, say: Say): void {
  const call = state.calls[index]
  if (call === undefined || call.isSettled) return
  call.isSettled = true
  if (call.work.phase !== 'none') turnPhase(call, 'over', say)
  tellDuplicate(state, call, say)
}

/** The call was issued again while the server still worked on it: told as soon as that is known, once. */
export function tellDuplicate(state: LedgerState, call: CallState, say: Say): void {
  const { reissuedAtMs, reissueHints, work } = call
  if (reissuedAtMs === null || call.hasDuplicate || !isToolCall(call)) return
  const { endedAtMs } = knownWork(state, call)
  const isRunning = work.phase === 'orphaning' || work.phase === 'running'
  if (endedAtMs === null ? !isRunning : endedAtMs <= reissuedAtMs) return
  call.hasDuplicate = true
  const harm =
    reissueHints === null
      ? 'its tool is in no list seen here'
      : reissueHints.isReadOnly
        ? 'the tool is read-only: only its effort is spent twice'
        : reissueHints.isIdempotent
          ? 'the tool is idempotent: only its effort is spent twice'
          : 'the tool is not said to be idempotent: its effects may happen twice'
  breakRule(state, call, 'duplicate-work', `issued again while the server still worked on it; ${harm}`)
  say({ is: 'duplicate_work', call })
}

export interface KnownWork {
  readonly source: RecordedSource | null
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
}

/** The reported work; without a reported end, what the response shows: work from the request's last byte to the result's arrival. */
export function knownWork(state: LedgerState, call: CallState): KnownWork {
  const { source, startedAtMs, endedAtMs } = call.work
  if (endedAtMs !== null) return { source, startedAtMs, endedAtMs }
  const responseMs = responseEndMs(state, call)
  if (responseMs === null || !call.isSettled) return { source, startedAtMs, endedAtMs: null }
  return { source: 'response', startedAtMs: startedAtMs ?? state.askedAtMs ?? state.openedAtMs, endedAtMs: responseMs }
}

/** When the result arrived, unless only draining showed it: that is what would have been, not what was. */
function responseEndMs(state: LedgerState, { resultAtMs, isAnsweredElsewhere }: CallState): number | null {
  if (isAnsweredElsewhere) return resultAtMs
  const isAfterClose = resultAtMs !== null && state.closedAtMs !== null && resultAtMs > state.closedAtMs
  return isAfterClose && isDraining(state) ? null : resultAtMs
}
