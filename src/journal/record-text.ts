/** A record as a short text: its values alone, in the order of its keys, which is half of JSON with all the names, and half its time. */
import type { CallRecord } from '../core/record.ts'

type Of<Keys extends readonly (keyof CallRecord)[]> = { readonly [At in keyof Keys]: CallRecord[Keys[At]] }
type Asked = Of<['id', 'openedAt', 'kind', 'answer', 'method', 'tool', 'requestId', 'revision', 'traceId', 'spanId', 'client']>
type Seen = readonly [
  ...Of<
    [
      'status',
      'seenStatus',
      'headersMs',
      'firstByteMs',
      'firstEventMs',
      'closedMs',
      'closedBeforeHeaders',
      'longestSilenceMs',
      'silenceAtCloseMs',
    ]
  >,
  progressSeen: number,
  progressSent: number,
  bytesRequest: number,
  bytesSeen: number,
  bytesSent: number,
]
type Ended = Of<['closedBy', 'cause', 'hop', 'fault', 'ending', 'result', 'abandonedMs', 'abandonedBy', 'toldMs', 'wouldCut']>
type Work = CallRecord['work']
type Told = readonly [
  Work['source'],
  Work['startedMs'],
  Work['endedMs'],
  Work['outcome'],
  Work['afterCloseMs'],
  ...Of<['retryOf', 'violations', 'notices', 'timeline']>,
  isTruncated: boolean,
]

const askedOf = (r: CallRecord): Asked => [
  r.id,
  r.openedAt,
  r.kind,
  r.answer,
  r.method,
  r.tool,
  r.requestId,
  r.revision,
  r.traceId,
  r.spanId,
  r.client,
]

const seenOf = (r: CallRecord): Seen => {
  const { progress, bytes } = r
  return [
    r.status,
    r.seenStatus,
    r.headersMs,
    r.firstByteMs,
    r.firstEventMs,
    r.closedMs,
    r.closedBeforeHeaders,
    r.longestSilenceMs,
    r.silenceAtCloseMs,
    progress.seen,
    progress.sent,
    bytes.request,
    bytes.seen,
    bytes.sent,
  ]
}

const endedOf = (r: CallRecord): Ended => [
  r.closedBy,
  r.cause,
  r.hop,
  r.fault,
  r.ending,
  r.result,
  r.abandonedMs,
  r.abandonedBy,
  r.toldMs,
  r.wouldCut,
]

const toldOf = (r: CallRecord): Told => {
  const { work } = r
  return [
    work.source,
    work.startedMs,
    work.endedMs,
    work.outcome,
    work.afterCloseMs,
    r.retryOf,
    r.violations,
    r.notices,
    r.timeline,
    r.truncated === true,
  ]
}

export const textOf = (r: CallRecord): string => JSON.stringify([askedOf(r), seenOf(r), endedOf(r), toldOf(r)])

export function recordIn(text: string): CallRecord {
  const [asked, seen, ended, told] = JSON.parse(text) as readonly [Asked, Seen, Ended, Told]
  const isTruncated = told[told.length - 1] === true
  return { ...askedIn(asked), ...seenIn(seen), ...endedIn(ended), ...toldIn(told), ...(isTruncated ? { truncated: true } : {}) }
}

const askedIn = ([id, openedAt, kind, answer, method, tool, requestId, revision, traceId, spanId, client]: Asked) => ({
  id,
  openedAt,
  kind,
  answer,
  method,
  tool,
  requestId,
  revision,
  traceId,
  spanId,
  client,
})

const seenIn = ([
  status,
  seenStatus,
  headersMs,
  firstByteMs,
  firstEventMs,
  closedMs,
  closedBeforeHeaders,
  longestSilenceMs,
  silenceAtCloseMs,
  progressSeen,
  progressSent,
  bytesRequest,
  bytesSeen,
  bytesSent,
]: Seen) => ({
  status,
  seenStatus,
  headersMs,
  firstByteMs,
  firstEventMs,
  closedMs,
  closedBeforeHeaders,
  longestSilenceMs,
  silenceAtCloseMs,
  progress: { seen: progressSeen, sent: progressSent },
  bytes: { request: bytesRequest, seen: bytesSeen, sent: bytesSent },
})

const endedIn = ([closedBy, cause, hop, fault, ending, result, abandonedMs, abandonedBy, toldMs, wouldCut]: Ended) => ({
  closedBy,
  cause,
  hop,
  fault,
  ending,
  result,
  abandonedMs,
  abandonedBy,
  toldMs,
  wouldCut,
})

const toldIn = ([source, startedMs, endedMs, outcome, afterCloseMs, retryOf, violations, notices, timeline]: Told) => ({
  work: { source, startedMs, endedMs, outcome, afterCloseMs },
  retryOf,
  violations,
  notices,
  timeline,
})
