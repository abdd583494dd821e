/** What the answer says, into the ledger: progress and results, at the server's edge and at the client's. */
import type { Fact } from './fact.ts'
import { sayDrained } from './ledger-close.ts'
import { checkProgress, checkSpeech } from './ledger-conduct.ts'
import { breakRule } from './ledger-rules.ts'
import type { CallState, LedgerState } from './ledger-state.ts'
import { callNamed, sinceOpened } from './ledger-state.ts'
import type { Moment } from './ledger-view.ts'
import { textOfBytes } from './mcp/json-text.ts'
import { toolsIn } from './mcp/tools.ts'
import type { Meaning, ResultMeaning } from './meaning.ts'
import { dataOf, meaningOf, meaningOfJson } from './meaning.ts'
import type { EventMark } from './signal.ts'
import { addEntry, addMessage } from './timeline.ts'

type Say = (moment: Moment) => void

const ON_WAY_MAX = 10_000
const EVENT_IDS_MAX = 128

export function takeMark(state: LedgerState, { at, atMs, mark }: Extract<Fact, { readonly kind: 'event' }>, say: Say): void {
  if (at === 'server') seeEvent(state, atMs, mark, say)
  else sendEvent(state, atMs, mark, say)
}

function seeEvent(state: LedgerState, atMs: number, mark: EventMark, say: Say): void {
  const meaning = meaningOf(mark)
  if (mark.isTooLong) state.isUnread = true
  if (meaning.eventId !== undefined) state.hasEventIds = true
  const sinceMs = sinceOpened(state, atMs)
  if (meaning.is === 'comment') {
    addMessage(state.timeline, sinceMs, 'comment', sizeOf(mark))
    return
  }
  addMessage(state.timeline, sinceMs, meaning.is, sizeOf(mark))
  if (state.toldAtMs !== null || meaning.is !== 'progress') checkSpeech(state, meaning, atMs)
  if (meaning.is === 'progress') {
    const call = callOfToken(state, meaning.token)
    if (call !== null) call.progressSeen += 1
    checkProgress(state, call, meaning.token, meaning.value, say)
    if (state.closedAtMs !== null) say({ is: 'progress', how: 'lost', count: 1 })
    else putOnWay(state, atMs)
  } else if (meaning.is === 'result') seeResults(state, meaning, atMs, () => dataOf(mark), say)
}

function sendEvent(state: LedgerState, atMs: number, mark: EventMark, say: Say): void {
  const meaning = meaningOf(mark)
  if (meaning.eventId !== undefined) keepEventId(state, meaning.eventId)
  if (meaning.is === 'comment') return
  if (state.firstEventAtMs === null) {
    state.firstEventAtMs = atMs
    say({ is: 'first_event' })
  }
  if (meaning.is === 'progress') {
    const call = callOfToken(state, meaning.token)
    if (call !== null) call.progressSent += 1
    const cameAtMs = state.progressOnWay?.shift() ?? atMs
    say({ is: 'progress', how: atMs - cameAtMs < 1 ? 'forwarded' : 'held', count: 1 })
  } else if (meaning.is === 'result') {
    for (const answer of [meaning, ...meaning.also]) {
      const call = callAnsweredBy(state, answer)
      if (call !== null) call.result = 'sent'
    }
  }
}

function putOnWay(state: LedgerState, atMs: number): void {
  state.progressOnWay ??= []
  if (state.progressOnWay.length < ON_WAY_MAX) state.progressOnWay.push(atMs)
}

/** A client resumes after the last event it got, which may be older than the last that left. */
function keepEventId(state: LedgerState, eventId: string): void {
  if (state.eventIds.length === 0) state.eventIds = []
  const { eventIds } = state
  eventIds.push(eventId)
  if (eventIds.length > 2 * EVENT_IDS_MAX) eventIds.splice(0, EVENT_IDS_MAX)
}

/** A whole JSON answer arrived; it is sent when the response ends whole at the client's edge. */
export function takeJson(state: LedgerState, { atMs, bytes }: Extract<Fact, { readonly kind: 'json' }>, say: Say): void {
  if (bytes === null) {
    state.isUnread = true
    return
  }
  state.hasJson = true
  const meaning = meaningOfJson(bytes)
  if (meaning.is === 'result') seeResults(state, meaning, atMs, () => textOfBytes(bytes), say)
}

function seeResults(state: LedgerState, first: ResultMeaning, atMs: number, textOf: () => string | null, say: Say): void {
  for (const answer of first.also.length === 0 ? [first] : [first, ...first.also]) {
    const call = callAnsweredBy(state, answer)
    if (call === null) missAnswer(state, answer)
    else if (call.result === 'none') takeResult(state, call, answer, atMs, textOf, say)
    else breakRule(state, call, 'response-after-final')
  }
}

/** Answers on a stream opened by a GET are for calls elsewhere: whose, only all exchanges together tell. */
function missAnswer(state: LedgerState, { id, outcome }: ResultMeaning): void {
  const [call] = state.calls
  if (call === undefined || call.requestId === null || call.requestId === '') return
  if (id === null && outcome === 'protocol_error') return // it could not tell which it answers
  breakRule(state, call, 'result-to-wrong-id', `an answer came under the id ${id ?? 'null'}`)
}

export function takeResult(
  state: LedgerState,
  call: CallState,
  answer: ResultMeaning,
  atMs: number,
  textOf: () => string | null,
  say: Say,
): void {
  call.result = 'seen'
  call.resultAtMs = atMs
  call.resultOutcome = answer.outcome
  call.isTask = answer.isTask
  sayDrained(state, call, atMs, say)
  if (answer.mismatch !== null) takeMismatch(state, call, answer.mismatch)
  if (state.kind === 'subscription' && state.listening !== 'cancelled') state.listening = 'ended'
  const taskId = answer.isTask ? answer.taskId : call.taskId
  if (taskId !== null && answer.outcome === 'ok') {
    addEntry(state.timeline, [sinceOpened(state, atMs), 'task', taskId, answer.status ?? ''])
    say({ is: 'task', call, taskId, status: answer.status })
  }
  if (call.method === 'initialize' && answer.revision !== null) say({ is: 'revision', revision: answer.revision })
  if (call.method !== 'tools/list' || answer.outcome !== 'ok') return
  const listed = toolsIn(textOf() ?? '')
  if (listed.length > 0) say({ is: 'tools', names: listed.map(({ name }) => name), listed })
}

/** The server compared header and body: where it names no header, its word alone is no proof. */
function takeMismatch(state: LedgerState, call: CallState, header: string): void {
  if (header === '') breakRule(state, call, 'header-mismatch', 'the server says that a header and the body differ, not which', 'notice')
  else breakRule(state, call, 'header-mismatch', `the server found that the body and this header differ: ${header}`)
}

/**
 * By id. An error that names no request answers the only one there is: the server could not read the id;
 * so does an error under a foreign id where HTTP refused the request (a Python server says `"server-error"`).
 */
function callAnsweredBy(state: LedgerState, { id, outcome }: ResultMeaning): CallState | null {
  const [only] = state.calls
  if (only === undefined || only.requestId === null) return null
  const isNameless = id === null || (outcome === 'protocol_error' && (state.seenStatus ?? 0) >= 400)
  const named = id === null ? null : callNamed(state, id)
  return named ?? (isNameless && state.calls.length === 1 && outcome === 'protocol_error' ? only : null)
}

function callOfToken(state: LedgerState, token: string | null): CallState | null {
  const [only] = state.calls
  if (state.calls.length === 1) return only ?? null
  return state.calls.find(({ progressToken }) => progressToken !== null && progressToken === token) ?? null
}

/** A message for a call of this exchange at the edge of another: a resumed stream, or the stream of 2024-11-05. */
export function takeElsewhere(
  state: LedgerState,
  call: CallState,
  { at, on, mark }: { readonly at: 'client' | 'server'; readonly on: string; readonly mark: EventMark },
  atMs: number,
  say: Say,
): void {
  const meaning: Meaning = meaningOf(mark)
  if (meaning.is === 'progress') {
    if (at === 'client') call.progressSent += 1
    else {
      call.progressSeen += 1
      if (!isReplay(call, meaning.value)) checkProgress(state, call, meaning.token, meaning.value, say)
    }
    return
  }
  if (meaning.is !== 'result') return
  const answer = [meaning, ...meaning.also].find(({ id }) => id === call.requestId)
  if (answer === undefined) return
  if (call.result === 'none') takeResult(state, call, answer, atMs, () => dataOf(mark), say)
  if (at === 'server') return
  call.result = 'sent'
  call.isAnsweredElsewhere = true
  addEntry(state.timeline, [sinceOpened(state, atMs), 'result-on', on])
}

/** What the server had said here, and the client had not got when its stream was cut. Once it says more, nothing is a replay. */
function isReplay(call: CallState, value: number | null): boolean {
  if (value === null || call.replayedTo === null) return false
  if (value > call.replayedTo) call.replayedTo = null
  return call.replayedTo !== null
}

const sizeOf = ({ earlier, bytes }: EventMark): number =>
  earlier === null ? bytes.length : earlier.reduce((sum, piece) => sum + piece.length, bytes.length)
