/** What Ctrl-C prints: calls, closes by cause, orphan work, and what nobody observed. A line that would say 0 is left out. */
import { limitInWords } from '../core/cause-words.ts'
import type { Clock } from '../core/clock.ts'
import type { CallRecord } from '../core/record.ts'
import type { CauseKind } from '../core/signal.ts'
import { formatDuration } from '../core/units.ts'
import type { Sink } from '../journal/sink.ts'

export interface Summary {
  readonly sink: Sink
  lines(): readonly string[]
}

/** Calls that others cut, and whose limit that looks like; what it knows of hops is its own matter. */
export interface ForeignCloses {
  take(record: CallRecord): void
  lines(): readonly string[]
}

/** How many, how long in all, and the longest. */
interface Spans {
  count: number
  sumMs: number
  longestMs: number
}

export function createSummary(clock: Pick<Clock, 'nowMs'>, foreign: ForeignCloses | null = null): Summary {
  const closes = new Map<CauseKind, number>()
  const [orphaned, atWork, drained] = [spans(), spans(), spans()]
  const shadow = createShadowTally()
  const work = { toolCalls: 0, stopped: 0, unobserved: 0, abandoned: 0 }
  const seen = { exchanges: 0, calls: 0, undelivered: 0, violations: 0 }

  const sink: Sink = {
    name: 'summary',
    facts: ['opened', 'closed'],
    moments: ['drained'],
    fact({ closedAtMs }, fact) {
      if (fact.kind === 'opened') seen.exchanges += 1
      else if (fact.kind === 'closed' && closedAtMs === fact.atMs) closes.set(fact.cause.kind, (closes.get(fact.cause.kind) ?? 0) + 1)
    },
    moment(_, moment) {
      if (moment.is === 'drained') add(drained, moment.forMs)
    },
    settled(record, { call, isToolCall, orphanMs }) {
      foreign?.take(record)
      if (record.kind === 'call') seen.calls += 1
      seen.violations += record.violations.length
      shadow.take(record)
      if (!isToolCall) return
      work.toolCalls += 1
      if (record.result === 'seen') seen.undelivered += 1
      if (record.abandonedMs !== null) work.abandoned += 1
      if (record.work.outcome === 'stopped') work.stopped += 1
      if (isStillAtWork(record) && call.abandonedAtMs !== null) add(atWork, clock.nowMs() - call.abandonedAtMs)
      else if (record.work.outcome === 'unobserved') work.unobserved += 1
      if (orphanMs > 0) add(orphaned, orphanMs)
    },
  }

  function lines(): readonly string[] {
    const byCause = [...closes].sort((a, b) => b[1] - a[1]).map(([cause, count]) => `${cause} ${count}`)
    const { exchanges, calls, undelivered, violations } = seen
    return [
      `calls        ${calls} settled (${work.toolCalls} of tools/call) in ${plural(exchanges, 'exchange')}`,
      `closes       ${byCause.length === 0 ? 'none' : byCause.join(', ')}`,
      ...row(
        'abandoned',
        work.abandoned,
        `${work.abandoned} of tools/call without their result${work.stopped === 0 ? '' : `; ${work.stopped} ended within the grace of being told`}`,
      ),
      `orphan work  ${orphansInWords(orphaned, atWork)}`,
      ...row('unobserved', work.unobserved, `${work.unobserved} of tools/call: nobody reported their work, which is not the same as none`),
      ...row(
        'read on',
        drained.count,
        `after a cut ${plural(drained.count, 'call')} went on, ${tenths(drained.longestMs)} at most, ${tenths(drained.sumMs)} in all`,
      ),
      ...shadow.lines(),
      ...row('undelivered', undelivered, `${plural(undelivered, 'result')} came from the server and never reached the client`),
      ...row('violations', violations, `${violations} of the protocol's rules, by name in the records`),
      ...(foreign?.lines() ?? []).map((line, index) => (index === 0 ? 'cut by others' : '').padEnd(15) + line),
    ]
  }

  return { sink, lines }
}

/** Its start was reported, its end never: it is known to work, not unknown. */
const isStillAtWork = ({ abandonedMs, work: { startedMs, endedMs, outcome } }: CallRecord): boolean =>
  outcome === 'unobserved' && startedMs !== null && endedMs === null && abandonedMs !== null

function orphansInWords(orphaned: Spans, atWork: Spans): string {
  const ended = `${tenths(orphaned.sumMs)} in ${plural(orphaned.count, 'call')}, the longest ${tenths(orphaned.longestMs)}`
  const howLong = `${tenths(atWork.longestMs)} so far after ${atWork.count === 1 ? 'its close' : 'the close, the longest'}`
  const still = `${plural(atWork.count, 'call')} still at work when the sidecar stopped looking: ${howLong}`
  if (atWork.count === 0) return orphaned.count === 0 ? 'none seen' : ended
  return orphaned.count === 0 ? still : `${ended}; ${still}`
}

/** What shadow mode would have cut, by whom. */
function createShadowTally() {
  const byLimit = new Map<string, number>()
  let calls = 0
  return {
    take({ wouldCut }: CallRecord): void {
      if (wouldCut.length > 0) calls += 1
      for (const { hop, cause } of wouldCut) {
        const limit = `${hop} (${limitInWords(cause)})`
        byLimit.set(limit, (byLimit.get(limit) ?? 0) + 1)
      }
    },
    lines(): readonly string[] {
      const limits = [...byLimit].sort((a, b) => b[1] - a[1]).map(([limit, count]) => `${count} by ${limit}`)
      return row('shadow', calls, `${plural(calls, 'call')} would have been cut: ${limits.join(', ')}`)
    },
  }
}

const spans = (): Spans => ({ count: 0, sumMs: 0, longestMs: 0 })
function add(into: Spans, ms: number): void {
  into.count += 1
  into.sumMs += ms
  into.longestMs = Math.max(into.longestMs, ms)
}

const row = (label: string, count: number, text: string): readonly string[] => (count === 0 ? [] : [label.padEnd(13) + text])
const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
/** As the demo and `calls` say it; what is shorter than that exactly. */
const tenths = (ms: number): string => (ms < 100 ? formatDuration(Math.round(ms)) : `${(ms / 1_000).toFixed(1)} s`)
