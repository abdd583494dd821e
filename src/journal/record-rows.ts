/** A settled record as a row: its numbers, its words, its texts, each in one order for the writer and the reader. */
import type { CallRecord, TimelineEntry } from '../core/record.ts'
import type { Rows } from './rows.ts'
import { beginRow, createRows, endRow, getNumber, getText, getWord, putNumber, putText, putWord, readRow } from './rows.ts'

const ENTRIES_MAX = 48
/** Of the record, and of each entry of its timeline. */
const NUMBERS = 22 + ENTRIES_MAX * 4
const WORDS = 9 + ENTRIES_MAX
const TEXT_BYTES = 768

export const createRecordRows = (count: number): Rows => createRows({ rows: count, numbers: NUMBERS, words: WORDS, textBytes: TEXT_BYTES })

/** False: it does not fit. */
export function putRecord(rows: Rows, row: number, r: CallRecord): boolean {
  if (r.timeline.length > ENTRIES_MAX) return false
  beginRow(rows, row)
  putNumbers(rows, r)
  putWords(rows, r)
  putTexts(rows, r)
  for (const entry of r.timeline) putEntry(rows, entry)
  return endRow(rows)
}

export function recordIn(rows: Rows, row: number): CallRecord {
  readRow(rows, row)
  const { requestId: requestNumber, times, entries, isTruncated, ...n } = numbersIn(rows)
  const { source, outcome, ...w } = wordsIn(rows)
  const { requestId: requestText, ...t } = textsIn(rows)
  const record: CallRecord = {
    ...{ id: t.id, openedAt: t.openedAt, kind: w.kind, answer: w.answer, method: t.method, tool: t.tool },
    requestId: requestText ?? requestNumber,
    ...{ revision: t.revision, traceId: t.traceId, spanId: t.spanId, client: t.client },
    ...{ status: n.status, seenStatus: n.seenStatus, headersMs: n.headersMs, firstByteMs: n.firstByteMs, firstEventMs: n.firstEventMs },
    ...{ closedMs: n.closedMs, closedBeforeHeaders: n.closedBeforeHeaders },
    ...{ longestSilenceMs: n.longestSilenceMs, silenceAtCloseMs: n.silenceAtCloseMs, progress: n.progress, bytes: n.bytes },
    ...{ closedBy: w.closedBy, cause: w.cause, hop: t.hop, fault: t.fault, ending: w.ending, result: w.result },
    ...{ abandonedMs: n.abandonedMs, abandonedBy: w.abandonedBy, toldMs: n.toldMs, wouldCut: t.wouldCut },
    work: { source, startedMs: times.startedMs, endedMs: times.endedMs, outcome, afterCloseMs: times.afterCloseMs },
    ...{ retryOf: t.retryOf, violations: t.violations, notices: t.notices },
    timeline: Array.from({ length: entries }, () => entryIn(rows)),
  }
  return isTruncated ? { ...record, truncated: true } : record
}

function putNumbers(rows: Rows, r: CallRecord): void {
  putNumber(rows, typeof r.requestId === 'number' ? r.requestId : null)
  putNumber(rows, r.status)
  putNumber(rows, r.seenStatus)
  putNumber(rows, r.headersMs)
  putNumber(rows, r.firstByteMs)
  putNumber(rows, r.firstEventMs)
  putNumber(rows, r.closedMs)
  putNumber(rows, r.closedBeforeHeaders ? 1 : 0)
  putNumber(rows, r.longestSilenceMs)
  putNumber(rows, r.silenceAtCloseMs)
  putNumber(rows, r.progress.seen)
  putNumber(rows, r.progress.sent)
  putNumber(rows, r.bytes.request)
  putNumber(rows, r.bytes.seen)
  putNumber(rows, r.bytes.sent)
  putNumber(rows, r.abandonedMs)
  putNumber(rows, r.toldMs)
  putNumber(rows, r.work.startedMs)
  putNumber(rows, r.work.endedMs)
  putNumber(rows, r.work.afterCloseMs)
  putNumber(rows, r.timeline.length)
  putNumber(rows, r.truncated === true ? 1 : 0)
}

/** Properties are read in the order written. */
const numbersIn = (rows: Rows) => ({
  requestId: getNumber(rows),
  status: getNumber(rows),
  seenStatus: getNumber(rows),
  headersMs: getNumber(rows),
  firstByteMs: getNumber(rows),
  firstEventMs: getNumber(rows),
  closedMs: getNumber(rows),
  closedBeforeHeaders: getNumber(rows) === 1,
  longestSilenceMs: getNumber(rows) ?? 0,
  silenceAtCloseMs: getNumber(rows),
  progress: { seen: getNumber(rows) ?? 0, sent: getNumber(rows) ?? 0 },
  bytes: { request: getNumber(rows) ?? 0, seen: getNumber(rows) ?? 0, sent: getNumber(rows) ?? 0 },
  abandonedMs: getNumber(rows),
  toldMs: getNumber(rows),
  times: { startedMs: getNumber(rows), endedMs: getNumber(rows), afterCloseMs: getNumber(rows) },
  entries: getNumber(rows) ?? 0,
  isTruncated: getNumber(rows) === 1,
})

function putWords(rows: Rows, r: CallRecord): void {
  putWord(rows, r.kind)
  putWord(rows, r.answer)
  putWord(rows, r.closedBy)
  putWord(rows, r.cause)
  putWord(rows, r.ending)
  putWord(rows, r.result)
  putWord(rows, r.abandonedBy)
  putWord(rows, r.work.source)
  putWord(rows, r.work.outcome)
}

const wordsIn = (rows: Rows) => ({
  kind: getWord(rows) as CallRecord['kind'],
  answer: getWord(rows) as CallRecord['answer'],
  closedBy: getWord(rows) as CallRecord['closedBy'],
  cause: getWord(rows) as CallRecord['cause'],
  ending: getWord(rows) as CallRecord['ending'],
  result: getWord(rows) as CallRecord['result'],
  abandonedBy: getWord(rows) as CallRecord['abandonedBy'],
  source: getWord(rows) as CallRecord['work']['source'],
  outcome: getWord(rows) as CallRecord['work']['outcome'],
})

function putTexts(rows: Rows, r: CallRecord): void {
  putText(rows, r.id)
  putText(rows, r.openedAt)
  putText(rows, r.method)
  putText(rows, r.tool)
  putText(rows, typeof r.requestId === 'string' ? r.requestId : null)
  putText(rows, r.revision)
  putText(rows, r.traceId)
  putText(rows, r.spanId)
  putText(rows, r.client)
  putText(rows, r.hop)
  putText(rows, r.fault)
  putText(rows, r.retryOf)
  putList(rows, r.wouldCut)
  putList(rows, r.violations)
  putList(rows, r.notices)
}

const textsIn = (rows: Rows) => ({
  id: getText(rows) ?? '',
  openedAt: getText(rows) ?? '',
  method: getText(rows) ?? null,
  tool: getText(rows) ?? null,
  requestId: getText(rows) ?? null,
  revision: getText(rows) ?? null,
  traceId: getText(rows) ?? null,
  spanId: getText(rows) ?? null,
  client: getText(rows) ?? null,
  hop: getText(rows) ?? null,
  fault: getText(rows) ?? null,
  retryOf: getText(rows) ?? null,
  wouldCut: listIn<CallRecord['wouldCut'][number]>(rows),
  violations: listIn<string>(rows),
  notices: listIn<string>(rows),
})

const putList = (rows: Rows, list: readonly unknown[]): void => putText(rows, list.length === 0 ? null : JSON.stringify(list))
const listIn = <T>(rows: Rows): readonly T[] => JSON.parse(getText(rows) ?? '[]') as readonly T[]

/** What happened is one of a few words, and its values are any: a length, a task, another exchange. A value that is no number is a text. */
function putEntry(rows: Rows, entry: TimelineEntry): void {
  const { length, 0: atMs, 1: what } = entry
  putNumber(rows, atMs)
  putWord(rows, what)
  putNumber(rows, length - 2)
  for (let at = 2; at < length; at += 1) {
    const value = entry[at]
    putNumber(rows, typeof value === 'number' ? value : null)
    if (typeof value === 'string') putText(rows, value)
  }
}

function entryIn(rows: Rows): TimelineEntry {
  const atMs = getNumber(rows) ?? 0
  const what = getWord(rows) ?? ''
  const values = Array.from({ length: getNumber(rows) ?? 0 }, () => getNumber(rows) ?? getText(rows) ?? '')
  return [atMs, what, ...values]
}
