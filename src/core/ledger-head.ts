/** The heads of an answer, at the server's edge and at the client's, into the ledger. */
import type { Fact } from './fact.ts'
import { checkHead } from './ledger-conduct.ts'
import type { LedgerState } from './ledger-state.ts'
import { sinceOpened } from './ledger-state.ts'
import type { Moment } from './ledger-view.ts'
import { headWords } from './recorded-head.ts'
import type { RawHeaders } from './signal.ts'
import { headerOf } from './signal.ts'
import { bodyHasEvents } from './sse-scanner.ts'
import { addEntry, addTraffic } from './timeline.ts'

type FactOf<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>

const NONE: readonly never[] = []

/** The server's silence ends here, and begins anew. */
export function sawServer(state: LedgerState, atMs: number): void {
  if (state.isSilenceOver) return
  if (state.silentSinceMs !== null && atMs - state.silentSinceMs > state.longestSilenceMs) {
    state.longestSilenceMs = atMs - state.silentSinceMs
  }
  state.silentSinceMs = atMs
}

export function takeServersHead(state: LedgerState, fact: FactOf<'head'>, say: (moment: Moment) => void): void {
  state.seenStatus = fact.status
  state.hasEvents = bodyHasEvents(fact.rawHeaders)
  state.seenAnswer = answerOf(fact.rawHeaders)
  // The session begins with the answer that names it.
  state.session ??= headerOf(fact.rawHeaders, 'mcp-session-id')
  checkHead(state, fact.status, fact.rawHeaders)
  sawServer(state, fact.atMs)
  const words = headWords(fact.rawHeaders)
  const [word] = words
  const sinceMs = sinceOpened(state, fact.atMs)
  if (words.length === 0) addTraffic(state.timeline, [sinceMs, 'headers', fact.status])
  else if (words.length === 1 && word !== undefined) addTraffic(state.timeline, [sinceMs, 'headers', fact.status, word])
  else addTraffic(state.timeline, [sinceMs, 'headers', fact.status, ...words])
  if (fact.status < 200 || fact.status > 299) return
  const names = toolsOf(state)
  if (names.length > 0) say({ is: 'tools', names })
}

function toolsOf({ calls }: LedgerState): readonly string[] {
  const [first] = calls
  if (calls.length === 1 && first !== undefined) return first.tool === null ? NONE : [first.tool]
  return calls.flatMap(({ tool }) => (tool === null ? [] : [tool]))
}

export function takeClientsHead(state: LedgerState, { atMs, status, rawHeaders, origin }: FactOf<'head'>): void {
  state.status = status
  state.headersAtMs = atMs
  state.lastSentAtMs = atMs
  state.hasServersHead = origin === 'upstream'
  state.answer = answerOf(rawHeaders)
  // An encoded stream shows no events: whether its result passed, nobody can say.
  if (state.answer === 'sse' && headerOf(rawHeaders, 'content-encoding') !== null) state.isUnread = true
  if (origin === 'sidecar') addEntry(state.timeline, [sinceOpened(state, atMs), 'answered', status])
}

/** `none` until a byte shows that there is a body. */
function answerOf(rawHeaders: RawHeaders): LedgerState['answer'] {
  const type = headerOf(rawHeaders, 'content-type') ?? ''
  if (type === 'application/json') return headerOf(rawHeaders, 'content-length') === '0' ? 'none' : 'json'
  if (/^text\/event-stream\b/i.test(type)) return 'sse'
  return /^application\/(.+\+)?json\b/i.test(type) && headerOf(rawHeaders, 'content-length') !== '0' ? 'json' : 'none'
}
