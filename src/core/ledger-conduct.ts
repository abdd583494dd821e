/** How the server conducts itself on one stream, by the rules: what it says, after what, and what it leaves out. */
import { breakRule } from './ledger-rules.ts'
import type { CallState, LedgerState } from './ledger-state.ts'
import { cancelsByClosing } from './ledger-state.ts'
import type { Moment } from './ledger-view.ts'
import type { Meaning } from './meaning.ts'
import type { RawHeaders } from './signal.ts'
import { headerOf } from './signal.ts'

/** Written before the server could learn that the client is gone. */
const IN_FLIGHT_MS = 100

/** Every message but progress of a stream in good order: that is looked at by `checkProgress`. */
export function checkSpeech(state: LedgerState, meaning: Meaning, atMs: number): void {
  if (state.toldAtMs !== null) {
    const isLate = atMs - state.toldAtMs > IN_FLIGHT_MS
    for (const call of state.calls) {
      if (isLate) call.hasMessageAfterTold = true
      else if (cancelsByClosing(state.revision)) call.staleCount += 1
    }
  }
  const [call] = state.calls
  if (call === undefined) return
  if (state.kind === 'subscription') checkListening(state, call, meaning)
  if (meaning.is === 'request') breakRule(state, call, 'server-request-on-stream')
  else if (meaning.is === 'result') {
    for (const { id } of [meaning, ...meaning.also]) countStale(state.calls.find(({ requestId }) => requestId === id))
  } else if (meaning.is === 'notification' && meaning.method === 'notifications/cancelled' && state.kind !== 'subscription') {
    breakRule(state, call, 'server-cancelled-outside-listen')
  }
}

function checkListening(state: LedgerState, call: CallState, meaning: Meaning): void {
  if (meaning.is === 'comment' || meaning.is === 'other') return
  const says = meaning.is === 'notification' ? meaning.method : ''
  if (says === 'notifications/subscriptions/acknowledged') {
    if (state.listening === 'asked') state.listening = 'acknowledged'
    return
  }
  // An error refuses the subscription: there is nothing to acknowledge.
  const isRefusal = meaning.is === 'result' && meaning.outcome === 'protocol_error'
  if (state.listening === 'asked' && !isRefusal) breakRule(state, call, 'subscription-not-acknowledged')
  if (says === 'notifications/cancelled') state.listening = 'cancelled'
}

export function checkProgress(
  state: LedgerState,
  call: CallState | null,
  token: string | null,
  value: number | null,
  say: (moment: Moment) => void,
): void {
  // Without the body nobody knows which tokens were given.
  if (call === null || call.progressToken !== token || token === null) {
    const isKnown = state.calls[0]?.requestId !== '' && state.calls[0]?.requestId !== null
    if (!isKnown || state.hasUnknownToken) return
    state.hasUnknownToken = true
    say({ is: 'unknown_token', token })
    return
  }
  countStale(call)
  if (call.result !== 'none') breakRule(state, call, 'response-after-final')
  if (value === null) return
  if (call.progressValue !== null && value <= call.progressValue) {
    breakRule(state, call, 'progress-not-increasing', `progress went from ${call.progressValue} to ${value}`)
  }
  call.progressValue = value
}

/** For a request whose cancellation the server has: its client drops the message. */
function countStale(call: CallState | undefined): void {
  if (call !== undefined && call.cancelReachedAtMs !== null) call.staleCount += 1
}

/** A GET for events is answered with events, or refused. */
export function checkHead(state: LedgerState, status: number, rawHeaders: RawHeaders): void {
  const [call] = state.calls
  if (state.kind !== 'get_sse' || call === undefined || status !== 200) return
  const type = headerOf(rawHeaders, 'content-type')
  if (/^text\/event-stream\b/i.test(type ?? '')) return
  breakRule(state, call, 'get-answered-200-without-sse', `the GET for events was answered 200 with ${type ?? 'no content type'}`)
}

/** The server ended its answer whole: whose result was not in it? */
export function checkEnd(state: LedgerState): void {
  const isSuccess = state.seenStatus !== null && state.seenStatus >= 200 && state.seenStatus < 300 && state.seenStatus !== 202
  const isRead = !state.isUnread && (state.seenAnswer === 'sse' ? state.hasEvents : state.seenAnswer === 'json' && state.hasJson)
  if (!isSuccess || !isRead || state.closedAtMs !== null || state.toldAtMs !== null) return
  if (state.kind !== 'call' && state.kind !== 'subscription') return
  // A stream whose events have ids may be left and taken up again; one that was cancelled needs no result.
  if (state.listening === 'cancelled' || (state.hasEventIds && !cancelsByClosing(state.revision))) return
  for (const call of state.calls) {
    const isOwed = call.result === 'none' && call.requestId !== null && call.requestId !== '' && call.abandonedAtMs === null
    if (isOwed) breakRule(state, call, 'stream-ended-without-result')
  }
}
