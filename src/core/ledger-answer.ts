/** What the answer says, into the ledger: progress and results, at the server's edge and at the client's. */
import type { Fact } from './fact.ts'
import { sayDrained } from './ledger-close.ts'
import type { CallState, LedgerState } from './ledger-state.ts'
import { callNamed } from './ledger-state.ts'
import type { Moment } from './ledger-view.ts'
import { toolNamesIn } from './mcp/tools.ts'
import type { ResultMeaning } from './meaning.ts'
import { dataOf, meaningOf, meaningOfJson } from './meaning.ts'
import type { EventMark } from './signal.ts'

type Say = (moment: Moment) => void

const ON_WAY_MAX = 10_000
/** Written before the server could learn that the client is gone. */
const IN_FLIGHT_MS = 100

export function takeMark(state: LedgerState, { at, atMs, mark }: Extract<Fact, { readonly kind: 'event' }>, say: Say): void {
  if (at === 'server') seeEvent(state, atMs, mark, say)
  else sendEvent(state, atMs, mark, say)
}

function seeEvent(state: LedgerState, atMs: number, mark: EventMark, say: Say): void {
  const meaning = meaningOf(mark)
  if (mark.isTooLong) state.isUnread = true
  const sinceMs = atMs - state.openedAtMs
  if (meaning.is === 'comment') {
    state.timeline.addTraffic(sinceMs, 'comment', sizeOf(mark))
    return
  }
  state.timeline.addTraffic(sinceMs, 'event', sizeOf(mark), meaning.is)
  if (state.toldAtMs !== null && atMs - state.toldAtMs > IN_FLIGHT_MS) for (const call of state.calls) call.hasMessageAfterTold = true
  if (meaning.is === 'progress') {
    const call = callOfToken(state, meaning.token)
    if (call !== null) call.progressSeen += 1
    if (state.closedAtMs !== null) say({ is: 'progress', how: 'lost', count: 1 })
    else if (state.progressOnWay.length < ON_WAY_MAX) state.progressOnWay.push(atMs)
  } else if (meaning.is === 'result') seeResults(state, meaning, atMs, () => dataOf(mark), say)
}

function sendEvent(state: LedgerState, atMs: number, mark: EventMark, say: Say): void {
  const meaning = meaningOf(mark)
  if (meaning.is === 'comment') return
  if (state.firstEventAtMs === null) {
    state.firstEventAtMs = atMs
    say({ is: 'first_event' })
  }
  if (meaning.is === 'progress') {
    const call = callOfToken(state, meaning.token)
    if (call !== null) call.progressSent += 1
    const cameAtMs = state.progressOnWay.shift() ?? atMs
    say({ is: 'progress', how: atMs - cameAtMs < 1 ? 'forwarded' : 'held', count: 1 })
  } else if (meaning.is === 'result') {
    for (const answer of [meaning, ...meaning.also]) {
      const call = callAnsweredBy(state, answer)
      if (call !== null) call.result = 'sent'
    }
  }
}

/** A whole JSON answer arrived; it is sent when the response ends whole at the client's edge. */
export function takeJson(state: LedgerState, { atMs, text }: Extract<Fact, { readonly kind: 'json' }>, say: Say): void {
  if (text === null) {
    state.isUnread = true
    return
  }
  const meaning = meaningOfJson(text)
  if (meaning.is === 'result') seeResults(state, meaning, atMs, () => text, say)
}

function seeResults(state: LedgerState, first: ResultMeaning, atMs: number, textOf: () => string | null, say: Say): void {
  for (const answer of first.also.length === 0 ? [first] : [first, ...first.also]) {
    const call = callAnsweredBy(state, answer)
    if (call === null || call.result !== 'none') continue
    call.result = 'seen'
    call.resultAtMs = atMs
    call.resultOutcome = answer.outcome
    call.isTask = answer.isTask
    sayDrained(state, call, atMs, say)
    if (call.method === 'tools/list' && answer.outcome === 'ok') {
      const names = toolNamesIn(textOf() ?? '')
      if (names.length > 0) say({ is: 'tools', names })
    }
  }
}

/** By id. An error that names no request answers the only one there is: the server could not read the id. */
function callAnsweredBy(state: LedgerState, { id, outcome }: ResultMeaning): CallState | null {
  const [only] = state.calls
  if (only === undefined || only.requestId === null) return null
  if (id === null) return state.calls.length === 1 && outcome === 'protocol_error' ? only : null
  return callNamed(state, id)
}

function callOfToken(state: LedgerState, token: string | null): CallState | null {
  const [only] = state.calls
  if (state.calls.length === 1) return only ?? null
  return state.calls.find(({ progressToken }) => progressToken !== null && progressToken === token) ?? null
}

const sizeOf = ({ earlier, bytes }: EventMark): number =>
  earlier === null ? bytes.length : earlier.reduce((sum, piece) => sum + piece.length, bytes.length)
