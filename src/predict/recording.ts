/** A call's record → what its server did, as signals with times, and up to when that is known. */

import type { CallRecord, TimelineEntry } from '../core/record.ts'
import { headersOfWords } from '../core/recorded-head.ts'
import type { EventMark, Piece, RawHeaders, Reply } from '../core/signal.ts'
import { complete, end, lost } from '../core/signal.ts'

export interface Step {
  readonly atMs: number
  readonly signal: Reply
}

/** Times are ms since the exchange opened. */
export interface Recording {
  readonly record: CallRecord
  readonly requestBytes: number
  /** When the request's last byte arrived. */
  readonly askedMs: number
  readonly steps: readonly Step[]
  /** Beyond, nobody knows what the server would have sent; Infinity: it said all it had to say. */
  readonly knownUntilMs: number
  /** What else is known of an unfinished recording: the call was still worked on at this time. */
  readonly laterMs: number | null
  /** … and that is when its answer would have come; else later still. */
  readonly isLaterItsEnd: boolean
}

export function recordingOf(record: CallRecord): Recording {
  const entries = record.timeline
  const askedMs = Number(entries.find(([, what]) => what === 'asked')?.[0] ?? 0)
  const steps = stepsOf(record)
  const over = steps.at(-1)
  const isOver = over !== undefined && (over.signal.is === 'end' || over.signal.is === 'lost')
  const lastTrafficMs = steps.findLast(({ signal }) => signal.is === 'head' || signal.is === 'piece')?.atMs ?? 0
  const base = { record, requestBytes: record.bytes.request, askedMs }
  if (record.truncated === true && isOver) {
    // Traffic is missing between the last that is told and the end.
    const known = steps.filter(({ atMs, signal }) => atMs <= lastTrafficMs && signal.is !== 'end' && signal.is !== 'lost')
    return { ...base, steps: known, knownUntilMs: lastTrafficMs, laterMs: over.atMs, isLaterItsEnd: true }
  }
  if (isOver) return { ...base, steps, knownUntilMs: Infinity, laterMs: null, isLaterItsEnd: true }
  const knownUntilMs = record.truncated === true ? lastTrafficMs : Math.max(record.closedMs ?? 0, lastTrafficMs)
  return { ...base, steps, knownUntilMs, ...workAfter(record, knownUntilMs) }
}

/** Work that was seen to go on after the recording's end. One that stopped because it was told to would have gone on longer. */
function workAfter({ work }: CallRecord, knownUntilMs: number): Pick<Recording, 'laterMs' | 'isLaterItsEnd'> {
  const isLater = work.endedMs !== null && work.endedMs > knownUntilMs
  return { laterMs: isLater ? work.endedMs : null, isLaterItsEnd: isLater && work.outcome !== 'stopped' }
}

function stepsOf(record: CallRecord): readonly Step[] {
  const steps: Step[] = []
  let partBytes = 0
  for (const entry of record.timeline) {
    const [atMs, what] = entry
    const bytes = Number(entry[2] ?? 0)
    if (what === 'headers') steps.push({ atMs, signal: headOf(record, entry) })
    else if (what === 'part') {
      partBytes += bytes
      steps.push({ atMs, signal: pieceOf(bytes, null) })
    } else if (what === 'bytes') steps.push({ atMs, signal: pieceOf(bytes, null) })
    else if (what === 'event' || what === 'comment') {
      const meaning = what === 'comment' ? 'comment' : String(entry[3] ?? 'other')
      steps.push({ atMs, signal: pieceOf(Math.max(0, bytes - partBytes), MARKS[meaning] ?? OTHER) })
      partBytes = 0
    } else if (what === 'server-over') {
      steps.push({ atMs, signal: overOf(record, String(entry[2] ?? 'clean')) })
      return steps
    }
  }
  return steps
}

function headOf(record: CallRecord, [, , status, ...words]: TimelineEntry): Reply {
  const told = headersOfWords(words)
  const hasEvents = record.answer === 'sse' || record.timeline.some(([, what]) => what === 'event' || what === 'comment')
  const isSized = told.some((word) => word === 'content-length')
  // Records of other makers may not say how a JSON answer was framed: it has a length, as a rule.
  const length: RawHeaders =
    hasEvents || isSized || record.answer !== 'json' || words.length > 0 ? [] : ['content-length', String(record.bytes.seen)]
  const rawHeaders = ['content-type', hasEvents ? 'text/event-stream' : 'application/json', ...told, ...length]
  return { is: 'head', status: Number(status ?? record.seenStatus ?? 200), reason: '', rawHeaders }
}

function overOf({ cause }: CallRecord, how: string): Reply {
  if (how !== 'fin' && how !== 'rst') return end(complete)
  if (cause === 'unreachable') return lost(how, { kind: 'unreachable', seat: null })
  return lost(how, { kind: how === 'fin' ? 'server_close' : 'server_reset', seat: null })
}

/** What was in them is gone; how many there were is what buffers ask. */
const BLANK = new Uint8Array(65_536)
const small: Uint8Array[] = [] // of each length one: what is held must not be copied each time
function blank(bytes: number): Uint8Array {
  if (bytes > BLANK.length) return new Uint8Array(bytes)
  if (bytes >= SMALL_BYTES) return BLANK.subarray(0, bytes)
  const found = small[bytes] ?? new Uint8Array(bytes)
  small[bytes] = found
  return found
}
const SMALL_BYTES = 1_024
export const pieceOf = (bytes: number, mark: EventMark | null): Piece => ({ is: 'piece', bytes: blank(bytes), mark })

/** Events that mean what the recorded ones meant. */
function markOf(data: string): EventMark {
  return { earlier: null, bytes: new TextEncoder().encode(data), isTooLong: false }
}
const OTHER = markOf('data: {}\n\n')
const MARKS: Readonly<Record<string, EventMark>> = {
  comment: markOf(': \n\n'),
  progress: markOf('data: {"method":"notifications/progress"}\n\n'),
  result: markOf('data: {"id":1,"result":{}}\n\n'),
  request: markOf('data: {"id":1,"method":"ping"}\n\n'),
  notification: markOf('data: {"method":"notifications/message"}\n\n'),
}
const EVENT_BYTES = 150
export const progressPiece = (): Piece => pieceOf(EVENT_BYTES, MARKS['progress'] ?? OTHER)
export const resultPiece = (): Piece => pieceOf(EVENT_BYTES, MARKS['result'] ?? OTHER)
