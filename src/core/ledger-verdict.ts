/** What became of a call's work, and whether that breaks a rule of its revision. */

import type { CallState, LedgerState } from './ledger-state.ts'
import { cancelsByClosing } from './ledger-state.ts'
import { knownWork } from './ledger-work.ts'
import type { WorkOutcome, WorkRecord } from './record.ts'
import { closedByOf } from './verdict.ts'

const NONE: readonly never[] = []

/** Times of one call in whole ms since its exchange opened, as its record tells them. */
interface Times {
  readonly abandonedMs: number | null
  readonly toldMs: number | null
  readonly endedMs: number | null
}

const sinceOpened = (state: LedgerState, atMs: number | null): number | null =>
  atMs === null ? null : Math.max(0, Math.round(atMs - state.openedAtMs))

/** The first of all that told the server: its connection closed, by whomever, or the notification. */
export function toldMsOf(state: LedgerState, call: CallState): number | null {
  const isServersOwn = state.cause !== null && closedByOf(state.cause) === 'server' && call.abandonedAtMs !== null && call.result === 'none'
  const firstAtMs = Math.min(
    state.toldAtMs ?? Infinity,
    call.cancelReachedAtMs ?? Infinity,
    (isServersOwn ? state.serverOverAtMs : null) ?? Infinity,
  )
  return firstAtMs === Infinity ? null : sinceOpened(state, firstAtMs)
}

export function workOf(state: LedgerState, call: CallState, graceMs: number): WorkRecord {
  const { source, startedAtMs, endedAtMs } = knownWork(state, call)
  const times: Times = {
    abandonedMs: sinceOpened(state, call.abandonedAtMs),
    toldMs: toldMsOf(state, call),
    endedMs: sinceOpened(state, endedAtMs),
  }
  return {
    source,
    startedMs: sinceOpened(state, startedAtMs),
    endedMs: times.endedMs,
    outcome: outcomeOf(state, call, times, graceMs),
    afterCloseMs: times.endedMs === null ? null : Math.max(0, pastAbandonment(times) ?? 0),
  }
}

/** Negative where the work ended before; null where nothing was abandoned or no end is known. */
export const pastAbandonment = ({ abandonedMs, endedMs }: Pick<Times, 'abandonedMs' | 'endedMs'>): number | null =>
  abandonedMs === null || endedMs === null ? null : endedMs - abandonedMs

function outcomeOf({ kind }: LedgerState, { isSettled, isTask }: CallState, times: Times, graceMs: number): WorkOutcome {
  if (!isSettled) return 'pending'
  if (isTask) return 'delegated'
  const { toldMs, endedMs } = times
  // A subscription is no work: it ends, or nobody knows.
  if (kind === 'subscription') return endedMs === null ? 'unobserved' : 'finished'
  if (endedMs === null) return 'unobserved'
  const pastMs = pastAbandonment(times)
  if (pastMs === null || pastMs <= 0) return 'finished'
  if (toldMs !== null && toldMs <= endedMs) return endedMs - toldMs < graceMs ? 'stopped' : 'orphaned'
  if (pastMs >= graceMs) return 'orphaned'
  return toldMs === null ? 'finished' : 'stopped'
}

export function violationsOf(state: LedgerState, call: CallState, work: WorkRecord, graceMs: number): readonly string[] {
  const toldMs = toldMsOf(state, call)
  if (toldMs === null || call.abandonedAtMs === null || state.cause === null) return NONE
  const ranOn = work.outcome === 'orphaned' && work.endedMs !== null && work.endedMs - toldMs >= graceMs
  if (cancelsByClosing(state.revision)) {
    if (closedByOf(state.cause) === 'server') return NONE
    return [...(ranOn ? ['work-after-cancel'] : []), ...(call.hasMessageAfterTold ? ['message-after-cancel'] : [])]
  }
  return ranOn && call.cancelReachedAtMs !== null ? ['cancel-ignored'] : []
}
