/** Facts → ledgers → sinks. Opens a ledger per exchange, joins what exchanges say of each other, and settles every call once. */
import { assert } from '../core/assert.ts'
import type { Clock } from '../core/clock.ts'
import type { Fact, Tell, Told, WorkReport } from '../core/fact.ts'
import { createKeyed } from '../core/keyed.ts'
import type { CallView, LedgerView, Moment } from '../core/ledger.ts'
import { judgeReport, recordsOf, settleCall, settlesAtMs, stateOf, takeFact } from '../core/ledger.ts'
import type { Conversation } from '../core/mcp/conversation.ts'
import { createConversation } from '../core/mcp/conversation.ts'
import type { CallRecord } from '../core/record.ts'
import { freeTimeline, type TimelineBudget } from '../core/timeline.ts'
import { factOf, weightOf } from '../core/unread.ts'
import type { OnSinkError } from './audience.ts'
import { createAudience } from './audience.ts'
import { createBacklog } from './backlog.ts'
import type { Entry, Waiter } from './entry.ts'
import { createSettledRing } from './settled-ring.ts'
import { recordsShown } from './shown.ts'
import type { Sink } from './sink.ts'
import { createWaiting } from './waiting.ts'

export interface JournalAsked {
  readonly clock: Clock
  readonly sinks: readonly Sink[]
  /** Work this much past the abandonment is orphan work. */
  readonly graceMs: number
  /** How long after its close a `tools/call` waits for its work report. Both are read anew each time: they may change while running. */
  readonly waitMs: number
  /** How many may wait; beyond, the one due next is settled as it stands. */
  readonly pendingMax?: number
  /** Told once per sink (and once as `journal` for a failure of the ledger's own): the exchange goes on. */
  readonly onSinkError: OnSinkError
  /** Lets facts wait until the bytes they tell of are on their way; absent: each is taken as it is told. Whoever asks is told all. */
  readonly later?: (run: () => void) => void
  /** Somebody could report at any time, e.g. a connected probe. A report taken within `waitMs` says so by itself. */
  isSourceAlive?(): boolean
}

/** `settled` calls give `duplicate` where their work's end was known, else `expired`. */
export type ReportResult = 'matched' | 'unmatched' | 'refused' | 'expired' | 'duplicate'

export interface Journal {
  /** Takes what has been told and waits: before the books are read in another way than through this journal. */
  flush(): void
  openExchange(): { readonly id: string; readonly tell: Tell }
  /** A report for this exchange; counting it is the caller's. */
  reportWork(exchangeId: string, report: WorkReport): ReportResult
  /** In order of opening. `open`: only those whose stream is (or is not) open; absent: also settled ones, the last 1,000. */
  calls(asked?: { readonly open?: boolean }): readonly CallRecord[]
  call(id: string): CallRecord | null
  /** Of an exchange that has a call which is not settled; to be read, not kept. */
  view(exchangeId: string): LedgerView | undefined
  /** The same of all, in order of opening. */
  views(): readonly LedgerView[]
  /** Exchanges whose response is not over. */
  openCount(): number
  /** Calls whose response is over and that wait for their work report. */
  pendingCount(): number
  /** How much is kept to tell what exchanges mean for each other. */
  sizes(): ReturnType<Conversation<Entry>['sizes']>
  /** Settles everything as it stands and flushes the sinks; later facts are not taken. */
  close(): Promise<void>
}

const SETTLED_MAX = { recordsMax: 1_000, entriesMax: 100_000 }
const TIMELINE_ENTRIES_MAX = 250_000

export function createJournal(asked: JournalAsked): Journal {
  const { clock, pendingMax = 50_000 } = asked
  const audience = createAudience(asked.sinks, asked.onSinkError)
  const budget: TimelineBudget = { entriesLeft: TIMELINE_ENTRIES_MAX }
  const ring = createSettledRing(SETTLED_MAX)
  const live = createKeyed<Entry>() // until all of its calls are settled
  const conversation = createConversation<Entry>(take)
  const waiting = createWaiting({ clock, pendingMax, due, crowdedOut })
  const backlog = createBacklog<Opening, Told>({
    later: asked.later,
    between: () => clock.catchUp(clock.nowMs()),
    weightOf,
    take: (opening, told) => isClosed || take(entryFor(opening), factOf(told)),
  })
  let openedCount = 0
  let openCount = 0
  let lastReportMs = -Infinity
  let isClosed = false
  let speaking: Entry | null = null // whose ledger is at work

  const say = (moment: Moment): void => {
    if (speaking === null) return
    audience.moment(speaking.view, moment)
    conversation.moment(speaking, moment)
  }

  function openExchange(): { id: string; tell: Tell } {
    openedCount += 1
    const opening: Opening = { id: `c${openedCount}`, entry: null }
    return { id: opening.id, tell: (told) => backlog.add(opening, told) }
  }

  function entryFor(opening: Opening): Entry {
    if (opening.entry !== null) return opening.entry
    const view = stateOf(opening.id, budget)
    const entry: Entry = { id: opening.id, view, graceMs: asked.graceMs, waits: null, member: null }
    opening.entry = entry
    live.set(opening.id, entry)
    openCount += 1
    return entry
  }

  function take(entry: Entry, told: Fact): void {
    if (isClosed) return
    const { view } = entry
    const wasOpen = view.closedAtMs === null
    let fact = told
    try {
      if (told.kind === 'understood') fact = conversation.completed(entry, told)
      speaking = entry
      takeFact(view, fact, say)
    } catch (error) {
      audience.failed('journal', error)
    }
    audience.fact(view, fact)
    if (fact.kind === 'moved') return
    try {
      conversation.take(entry, fact)
    } catch (error) {
      audience.failed('journal', error)
    }
    if (view.closedAtMs === null) return
    if (wasOpen) openCount -= 1
    reconsider(entry)
  }

  const isSourceAlive = (nowMs: number): boolean => nowMs - lastReportMs < asked.waitMs || asked.isSourceAlive?.() === true

  /** Settles what can be, and lets the rest wait until it can. */
  function reconsider(entry: Entry): void {
    const nowMs = clock.nowMs()
    const rules = { waitMs: asked.waitMs, isSourceAlive: isSourceAlive(nowMs) }
    const { calls: own } = entry.view
    for (let index = 0; index < own.length; index += 1) {
      const dueMs = settlesAtMs(entry.view, index, rules)
      if (dueMs === null) continue
      if (dueMs <= nowMs) settle(entry, index, nowMs)
      else waiting.put(entry, index, dueMs)
    }
  }

  function settle(entry: Entry, index: number, nowMs: number): void {
    waiting.remove(entry, index)
    const { view } = entry
    conversation.settling(entry, nowMs)
    if (view.calls[index]?.isSettled === true) return // what that told has settled it
    speaking = entry
    const settlement = settleCall(view, index, entry.graceMs, say)
    ring.add(settlement.record)
    if (view.calls.every(isSettled)) {
      live.delete(entry.id)
      conversation.forget(entry)
      freeTimeline(view.timeline)
    }
    audience.settled(settlement)
  }

  const flushed = <T>(read: () => T): T => {
    backlog.flush()
    return read()
  }

  function due({ entry, index }: Waiter): void {
    backlog.flush() // what it waits for may have been told
    if (entry.view.calls[index]?.isSettled !== true) reconsider(entry)
  }

  function crowdedOut({ entry, index }: Waiter): void {
    const nowMs = clock.nowMs()
    speaking = entry
    takeFact(entry.view, { kind: 'notice', atMs: nowMs, what: 'report-wait-limit' }, say)
    settle(entry, index, nowMs)
  }

  function reportWork(exchangeId: string, report: WorkReport): ReportResult {
    backlog.flush()
    lastReportMs = clock.nowMs()
    const entry = live.get(exchangeId)
    if (entry === undefined) return late(ring.get(exchangeId))
    const judgement = judgeReport(entry.view, report, lastReportMs)
    if (judgement === 'settled') return late(settledRecord(entry, report.requestId))
    if (judgement === 'matched') take(entry, { kind: 'work', atMs: lastReportMs, report })
    return judgement
  }

  function settledRecord({ id, view }: Entry, requestId: string | null): CallRecord | null {
    const index = view.calls.findIndex((call) => call.requestId === requestId)
    return ring.get(index > 0 ? `${id}.${index + 1}` : id)
  }

  function late(record: CallRecord | null): ReportResult {
    if (record === null) return 'unmatched'
    return record.work.outcome === 'unobserved' ? 'expired' : 'duplicate'
  }

  function calls({ open }: { readonly open?: boolean } = {}): readonly CallRecord[] {
    backlog.flush()
    return recordsShown(ring, live.values(), open, clock.nowMs())
  }

  function call(id: string): CallRecord | null {
    backlog.flush()
    const settled = ring.get(id)
    if (settled !== null) return settled
    const entry = live.get(id.replace(/\..*$/, ''))
    if (entry === undefined) return null
    return recordsOf(entry.view, entry.graceMs, clock.nowMs()).find((record) => record.id === id) ?? null
  }

  async function close(): Promise<void> {
    if (isClosed) return
    backlog.flush()
    waiting.clear()
    for (const entry of live.values()) {
      for (const [index, call] of entry.view.calls.entries()) if (!isSettled(call)) settle(entry, index, clock.nowMs())
    }
    isClosed = true
    assert(live.size() === 0, 'a closed journal holds no call')
    await audience.close()
  }

  return {
    openExchange,
    reportWork,
    calls,
    flush: backlog.flush,
    call,
    view: (id) => flushed(() => live.get(id)?.view),
    views: () => flushed(() => live.values().map(({ view }) => view)),
    openCount: () => flushed(() => openCount),
    pendingCount: () => flushed(waiting.count),
    sizes: conversation.sizes,
    close,
  }
}

/** An exchange of which something was told, or will be: its ledger is opened with the first fact taken. */
interface Opening {
  readonly id: string
  entry: Entry | null
}

const isSettled = (call: CallView): boolean => call.isSettled
