/** How an exchange ends, into the ledger: the close, what it abandons, and what the server still had to say. */
import type { Fact } from './fact.ts'
import { checkEnd } from './ledger-conduct.ts'
import type { CallState, LedgerState } from './ledger-state.ts'
import { callNamed, cancelsByClosing, isDraining, isToolCall, sinceOpened } from './ledger-state.ts'
import type { Moment } from './ledger-view.ts'
import { turnPhase } from './ledger-work.ts'
import type { Cause } from './signal.ts'
import { addEntry } from './timeline.ts'
import { closedByOf } from './verdict.ts'

type Say = (moment: Moment) => void
type FactOf<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>

export function takeClosed(state: LedgerState, { atMs, cause, ending }: FactOf<'closed'>, say: Say): void {
  if (state.closedAtMs !== null) return
  state.closedAtMs = atMs
  state.cause = cause
  state.ending = ending
  state.closedBeforeHeaders = !state.hasServersHead
  addEntry(state.timeline, [sinceOpened(state, atMs), 'closed', cause.kind])
  endSilence(state, atMs)
  seeSilence(state, atMs, cause)
  // The server's own answer, passed on to its last byte.
  const isWhole = cause.kind === 'complete' && ending === 'clean' && state.hasServersHead
  for (const call of state.calls) {
    if (call.requestId === null) continue
    if (isWhole) sendWhole(state, call, atMs)
    // In 2024-11-05 the answer to a 202 comes on the session's own stream; a subscription called off has none to come.
    const isExpectedElsewhere = (isWhole && state.status === 202) || state.continuedOn !== null
    if (call.result !== 'sent' && !isExpectedElsewhere && state.listening !== 'cancelled') abandon(call, 'close', atMs, say)
  }
  if (state.kind === 'subscription') addEntry(state.timeline, [sinceOpened(state, atMs), 'subscription', listeningEnd(state)])
  const lost = state.progressOnWay?.length ?? 0
  state.progressOnWay = null
  if (lost > 0) say({ is: 'progress', how: 'lost', count: lost })
}

export function sayPending({ calls }: LedgerState, say: Say): void {
  for (const call of calls) {
    if (call.isPending || call.isSettled || !isToolCall(call)) continue
    call.isPending = true
    say({ is: 'pending', call })
  }
}

/** A listen stream is long by nature; only one that nobody meant to end was lost. */
function listeningEnd({ listening, cause }: LedgerState): string {
  if (listening === 'ended' || listening === 'cancelled') return listening
  return cause !== null && closedByOf(cause) === 'client' ? 'left' : 'lost'
}

function sendWhole(state: LedgerState, call: CallState, atMs: number): void {
  if (call.result === 'seen' && state.answer === 'json') call.result = 'sent'
  if (call.result !== 'none' || !state.isUnread || state.status === null || state.status < 200 || state.status > 299) return
  call.result = 'sent'
  call.resultAtMs = state.serverOverAtMs ?? atMs
  if (!state.notices.includes('answer-not-read')) state.notices = [...state.notices, 'answer-not-read']
}

export function takeServerOver(state: LedgerState, { atMs, how }: FactOf<'server_over'>, say: Say): void {
  if (state.serverOverAtMs !== null) return
  state.serverOverAtMs = atMs
  if (how === 'clean') checkEnd(state)
  addEntry(state.timeline, [sinceOpened(state, atMs), 'server-over', how])
  endSilence(state, atMs)
  for (const call of state.calls) if (call.result === 'none') sayDrained(state, call, atMs, say)
}

/** The last silence counts until the close, or until the server was done. */
function endSilence(state: LedgerState, atMs: number): void {
  if (state.isSilenceOver) return
  state.isSilenceOver = true
  if (state.silentSinceMs === null) return
  state.silenceAtCloseMs = atMs - state.silentSinceMs
  state.longestSilenceMs = Math.max(state.longestSilenceMs, state.silenceAtCloseMs)
}

/**
 * The silence at the close is the one that whoever closed has met: a client that of the bytes sent, a hop of ours that of its
 * limit. Where nothing is held on the way they are the server's own.
 */
function seeSilence(state: LedgerState, atMs: number, { kind, silenceMs }: Cause): void {
  if (kind === 'idle_timeout' && silenceMs !== undefined) state.silenceAtCloseMs = Math.max(state.silenceAtCloseMs ?? 0, silenceMs)
  else if (state.serverOverAtMs === null && (kind === 'client_abort' || kind === 'client_reset')) {
    const sinceMs = state.lastSentAtMs ?? state.askedAtMs
    if (sinceMs !== null) state.silenceAtCloseMs = atMs - sinceMs
  }
  state.longestSilenceMs = Math.max(state.longestSilenceMs, state.silenceAtCloseMs ?? 0)
}

/** A cut by us that the server was not told of: this long it still had to say something. Never taken for work. */
export function sayDrained(state: LedgerState, call: CallState, atMs: number, say: Say): void {
  if (!isDraining(state) || state.closedAtMs === null || call.hasDrained || !isToolCall(call)) return
  call.hasDrained = true
  say({ is: 'drained', call, forMs: atMs - state.closedAtMs })
}

export function takeCancelled(state: LedgerState, { atMs, requestId }: FactOf<'cancelled'>, say: Say): void {
  const call = callNamed(state, requestId)
  if (call === null || call.result === 'sent' || cancelsByClosing(state.revision)) return
  addEntry(state.timeline, [sinceOpened(state, atMs), 'cancelled'])
  abandon(call, 'notification', atMs, say)
}

export function abandon(call: CallState, by: 'close' | 'notification', atMs: number, say: Say): void {
  if (call.abandonedAtMs !== null) return
  call.abandonedAtMs = atMs
  call.abandonedBy = by
  if (call.work.phase === 'running') turnPhase(call, 'orphaning', say)
  say({ is: 'abandoned', call, by })
}
