/** Reduces what was seen of one exchange to what is told of it: facts in, records out. Pure; one per exchange. */
import { assertNever } from './assert.ts'
import type { Fact, Flow, WorkReport } from './fact.ts'
import { takeJson, takeMark } from './ledger-answer.ts'
import { readAskInto } from './ledger-ask.ts'
import { sayPending, takeCancelled, takeClosed, takeServerOver } from './ledger-close.ts'
import { sawServer, takeClientsHead, takeServersHead } from './ledger-head.ts'
import { takeJoin } from './ledger-join.ts'
import { recordOf } from './ledger-record.ts'
import { remark } from './ledger-rules.ts'
import { settlementOf } from './ledger-settlement.ts'
import type { LedgerState } from './ledger-state.ts'
import { callNamed, sinceOpened, stateOf } from './ledger-state.ts'
import type { LedgerView, Moment, Settlement } from './ledger-view.ts'
import type { ReportJudgement, SettleRules } from './ledger-work.ts'
import { judgeReport, settlesAtMs, settleWork, takeReport } from './ledger-work.ts'
import type { CallRecord } from './record.ts'
import { headerOf } from './signal.ts'
import type { TimelineBudget } from './timeline.ts'
import { addBytes, addEntry, addTraffic, freeTimeline } from './timeline.ts'
import { parseTraceparent } from './trace-context.ts'
import { hopOf } from './verdict.ts'

export type { LedgerState } from './ledger-state.ts'
export { stateOf } from './ledger-state.ts'
export type { CallView, CauseClass, LedgerView, Moment, Settlement, WorkPhase } from './ledger-view.ts'
export type { ReportJudgement, SettleRules } from './ledger-work.ts'
export { judgeReport, settlesAtMs } from './ledger-work.ts'

export interface LedgerPlan {
  readonly id: string
  /** Work this much past the abandonment is orphan work. */
  readonly graceMs: number
  /** Shared by all ledgers of a process; absent: its own. */
  readonly budget?: TimelineBudget
  /** Told what follows from a fact, inside `take`. */
  say?(moment: Moment): void
}

export interface Ledger {
  /** Changes with every fact; what it gives is to be read, not kept. */
  readonly view: LedgerView
  take(fact: Fact): void
  /** One per JSON-RPC request (`c42`, `c42.2`, …), one for an exchange without. Work not settled is `pending`. */
  records(nowMs: number): readonly CallRecord[]
  /** What a report told now would be; the fact `work` is for those that match. */
  judge(report: WorkReport, atMs: number): ReportJudgement
  /** When the call may be settled, by what is known now; null: not before another fact. */
  settlesAtMs(index: number, rules: SettleRules): number | null
  /** Nothing more will be waited for: what is unknown now stays so. Once per call. */
  settle(index: number): Settlement
  /** Gives the timeline's room back: call it when all is settled and read. */
  free(): void
}

/** One that stands alone; who keeps thousands spares their closures, and calls what is behind them. */
export function createLedger({ id, graceMs, budget = { entriesLeft: 2_000 }, say = () => undefined }: LedgerPlan): Ledger {
  const state = stateOf(id, budget)
  return {
    view: state,
    take: (fact) => takeFact(state, fact, say),
    records: (nowMs) => recordsOf(state, graceMs, nowMs),
    judge: (report, atMs) => judgeReport(state, report, atMs),
    settlesAtMs: (index, rules) => settlesAtMs(state, index, rules),
    settle: (index) => settleCall(state, index, graceMs, say),
    free: () => freeTimeline(state.timeline),
  }
}

export const recordsOf = (state: LedgerState, graceMs: number, nowMs: number): readonly CallRecord[] =>
  state.calls.map((_, index) => recordOf(state, index, graceMs, nowMs))

export function settleCall(state: LedgerState, index: number, graceMs: number, say: (moment: Moment) => void): Settlement {
  settleWork(state, index, say)
  return settlementOf(state, index, graceMs)
}

export function takeFact(state: LedgerState, fact: Fact, say: (moment: Moment) => void): void {
  if (state.isFresh && !isBeginning(fact.kind)) state.isFresh = false
  switch (fact.kind) {
    case 'moved':
      return takeMoved(state, fact.atMs, fact.flow, fact.bytes)
    case 'event':
      if (fact.at === 'server') state.partSeenAtMs = null
      return takeMark(state, fact, say)
    case 'opened':
      return takeOpened(state, fact)
    case 'understood':
      return readAskInto(state, fact, say)
    case 'asked':
      return takeAsked(state, fact.atMs)
    case 'head':
      return fact.at === 'server' ? takeServersHead(state, fact, say) : takeClientsHead(state, fact)
    case 'json':
      return takeJson(state, fact, say)
    case 'noted':
      return takeNote(state, fact, say)
    case 'would_cut':
      return takeWouldCut(state, fact)
    case 'notice':
      return remark(state, fact.what)
    case 'joined':
      return takeJoin(state, fact, say)
    case 'closed':
      tellPart(state)
      takeClosed(state, fact, say)
      return sayPending(state, say)
    case 'told':
      state.toldAtMs ??= fact.atMs
      addEntry(state.timeline, [sinceOpened(state, fact.atMs), 'told', fact.ending])
      return
    case 'server_over':
      return takeServerOver(state, fact, say)
    case 'work':
      return takeReport(state, fact, say)
    case 'cancelled':
      return takeCancelled(state, fact, say)
    case 'cancel_told':
      return takeCancelTold(state, fact)
    case 'finished':
      state.finishedAtMs = fact.atMs
      return
    default:
      return assertNever(fact)
  }
}

/** What comes before anybody knows what is asked. */
const isBeginning = (kind: Fact['kind']): boolean => kind === 'opened' || kind === 'moved' || kind === 'understood'

function takeCancelTold(state: LedgerState, { requestId, reachedAtMs }: FactOf<'cancel_told'>): void {
  const call = callNamed(state, requestId)
  if (call !== null) call.cancelReachedAtMs ??= reachedAtMs
}

function takeWouldCut(state: LedgerState, { atMs, cause }: FactOf<'would_cut'>): void {
  const hop = hopOf(cause) ?? cause.fault ?? ''
  state.wouldCut = [...state.wouldCut, { hop, cause: cause.kind, atMs: sinceOpened(state, atMs) }]
}

function takeAsked(state: LedgerState, atMs: number): void {
  state.askedAtMs = atMs
  state.silentSinceMs ??= atMs
  if (atMs - state.openedAtMs >= 1) addEntry(state.timeline, [sinceOpened(state, atMs), 'asked'])
}

type FactOf<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>

function takeMoved(state: LedgerState, atMs: number, flow: Flow, bytes: number): void {
  if (flow === 'request') {
    state.bytesRequest += bytes
    state.spokeLast = 'client'
    return
  }
  if (flow !== 'sent') {
    state.bytesSeen += bytes
    state.spokeLast = 'server'
    sawServer(state, atMs)
    if (!state.hasEvents) addBytes(state.timeline, atMs - state.openedAtMs, bytes)
    else takePart(state, atMs, bytes)
  }
  if (flow === 'seen') return
  state.bytesSent += bytes
  state.firstByteAtMs ??= atMs
  state.lastSentAtMs = atMs
  if (state.answer === 'none') state.answer = 'other'
}

/** An event that takes its time to come whole is no silence: its parts are told where they are this far apart. */
const PARTS_APART_MS = 100

function takePart(state: LedgerState, atMs: number, bytes: number): void {
  if (state.partSeenAtMs === null) state.partBytes = 0
  else if (atMs - state.partSeenAtMs >= PARTS_APART_MS) tellPart(state)
  state.partSeenAtMs = atMs
  state.partBytes += bytes
}

function tellPart(state: LedgerState): void {
  if (state.partSeenAtMs === null) return
  addTraffic(state.timeline, [sinceOpened(state, state.partSeenAtMs), 'part', state.partBytes])
  state.partSeenAtMs = null
  state.partBytes = 0
}

function takeOpened(state: LedgerState, fact: FactOf<'opened'>): void {
  state.openedAtMs = fact.atMs
  state.openedWallMs = fact.wallMs
  state.connection = fact.connection
  state.httpMethod = fact.method
  state.target = fact.target
  state.remote = headerOf(fact.rawHeaders, 'x-forwarded-for')?.split(',')[0]?.trim() ?? fact.remote ?? null
  state.lastEventId = headerOf(fact.rawHeaders, 'last-event-id')
  state.traceId = fact.traceId
  state.spanId = fact.spanId
  const traceparent = headerOf(fact.rawHeaders, 'traceparent')
  const incoming = traceparent === null ? null : parseTraceparent(traceparent)
  if (incoming !== null && incoming.traceId === fact.traceId) state.spanIds = [incoming.spanId]
}

function takeNote(state: LedgerState, { atMs, seat, note }: FactOf<'noted'>, say: (moment: Moment) => void): void {
  switch (note.is) {
    case 'held':
      return
    case 'decided':
      return addEntry(state.timeline, [sinceOpened(state, atMs), note.what, seat])
    case 'dropped':
      if (note.what !== 'progress') return
      state.progressOnWay?.shift()
      return say({ is: 'progress', how: 'dropped', count: 1 })
    default:
      return assertNever(note)
  }
}
