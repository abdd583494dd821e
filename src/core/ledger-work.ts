/** What the server went on doing, into the ledger: reports of its work, and when to stop waiting for them. */
import type { Fact, WorkReport } from './fact.ts'
import type { CallState, LedgerState } from './ledger-state.ts'
import { callNamed, isDraining, isToolCall } from './ledger-state.ts'
import type { Moment, WorkPhase } from './ledger-view.ts'
import type { RecordedSource } from './record.ts'

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
  const atWorkMs = Math.max(0, workAtMs - state.openedAtMs)
  if (report.event === 'start') {
    if (work.startedAtMs === null) state.timeline.add(atWorkMs, 'work-started', ...name)
    work.startedAtMs = Math.min(work.startedAtMs ?? Infinity, workAtMs)
    work.source ??= source
    if (work.phase === 'none') turnPhase(call, call.abandonedAtMs === null ? 'running' : 'orphaning', say)
  } else {
    if (!isInTime(call, atMs)) return
    work.firstEndToldAtMs ??= atMs
    if (workAtMs > (work.endedAtMs ?? -Infinity)) {
      work.endedAtMs = workAtMs
      work.source = source
      state.timeline.add(atWorkMs, 'work-ended', ...name)
    }
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
  say({ is: 'work', call, source: call.work.source ?? 'response', from, to })
}

/** When the call may be settled, by what is known now; null: not before another fact. */
export function settlesAtMs(state: LedgerState, index: number, { waitMs, isSourceAlive }: SettleRules): number | null {
  const call = state.calls[index]
  const { closedAtMs } = state
  if (call === undefined || call.isSettled || closedAtMs === null) return null
  const isFinished = state.finishedAtMs !== null
  if (!isToolCall(call)) return isFinished ? closedAtMs : null
  const latestMs = closedAtMs + waitMs
  const { firstEndToldAtMs, phase } = call.work
  if (firstEndToldAtMs !== null) {
    const endsToldMs = Math.max(firstEndToldAtMs + ENDS_WITHIN_MS, closedAtMs)
    return isFinished ? endsToldMs : Math.max(endsToldMs, latestMs)
  }
  const nobodyReports = phase === 'none' && !isSourceAlive
  const isKnown = call.isTask || state.cause?.kind === 'unreachable' || (nobodyReports && responseEndMs(state, call) !== null)
  return isFinished && isKnown ? closedAtMs : latestMs
}

export function settleWork(state: LedgerState, index: number, say: Say): void {
  const call = state.calls[index]
  if (call === undefined || call.isSettled) return
  call.isSettled = true
  if (call.work.phase !== 'none') turnPhase(call, 'over', say)
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
function responseEndMs(state: LedgerState, { resultAtMs }: CallState): number | null {
  const isAfterClose = resultAtMs !== null && state.closedAtMs !== null && resultAtMs > state.closedAtMs
  return isAfterClose && isDraining(state) ? null : resultAtMs
}
