/** What Ctrl-C prints: calls, closes by cause, orphan work, and what nobody observed. */
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

export function createSummary(foreign: ForeignCloses | null = null): Summary {
  const closes = new Map<CauseKind, number>()
  const work = { toolCalls: 0, orphaned: 0, orphanMs: 0, longestMs: 0, stopped: 0, unobserved: 0, abandoned: 0 }
  let exchanges = 0
  let calls = 0
  let undelivered = 0
  let violations = 0

  const sink: Sink = {
    name: 'summary',
    skipsTraffic: true,
    fact({ closedAtMs }, fact) {
      if (fact.kind === 'opened') exchanges += 1
      else if (fact.kind === 'closed' && closedAtMs === fact.atMs) closes.set(fact.cause.kind, (closes.get(fact.cause.kind) ?? 0) + 1)
    },
    settled(record, { isToolCall, orphanMs }) {
      foreign?.take(record)
      if (record.kind === 'call') calls += 1
      violations += record.violations.length
      if (!isToolCall) return
      work.toolCalls += 1
      if (record.result === 'seen') undelivered += 1
      if (record.abandonedMs !== null) work.abandoned += 1
      if (record.work.outcome === 'stopped') work.stopped += 1
      if (record.work.outcome === 'unobserved') work.unobserved += 1
      if (orphanMs === 0) return
      work.orphaned += 1
      work.orphanMs += orphanMs
      work.longestMs = Math.max(work.longestMs, orphanMs)
    },
  }

  function lines(): readonly string[] {
    const byCause = [...closes].sort((a, b) => b[1] - a[1]).map(([cause, count]) => `${cause} ${count}`)
    const told = [
      `calls        ${calls} settled (${work.toolCalls} of tools/call) in ${exchanges} exchanges`,
      `closes       ${byCause.length === 0 ? 'none' : byCause.join(', ')}`,
      `abandoned    ${work.abandoned} of tools/call without their result; ${work.stopped} stopped when told`,
      work.orphaned === 0
        ? 'orphan work  none seen'
        : `orphan work  ${seconds(work.orphanMs)} in ${plural(work.orphaned, 'call')}, the longest ${seconds(work.longestMs)}`,
      `unobserved   ${work.unobserved} of tools/call: nobody reported their work, which is not the same as none`,
    ]
    if (undelivered > 0) told.push(`undelivered  ${plural(undelivered, 'result')} came from the server and never reached the client`)
    if (violations > 0) told.push(`violations   ${violations} of the protocol's rules on cancellation`)
    for (const [index, line] of (foreign?.lines() ?? []).entries()) told.push(`${index === 0 ? 'cut by others' : ''}`.padEnd(15) + line)
    return told
  }

  return { sink, lines }
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
const seconds = (ms: number): string => formatDuration(Math.round(ms / 10) * 10)
