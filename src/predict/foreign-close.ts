/** A call that was ended by somebody else before its result, and what its times say of the limit behind it. */
import type { CallRecord } from '../core/record.ts'

export interface ForeignClose {
  readonly side: 'client' | 'server'
  /** `close`: the connection ended; `cancel`: by a `notifications/cancelled`; a status: a hop behind us answered for the server. */
  readonly form: 'close' | 'cancel' | number
  readonly break: 'fin' | 'rst'
  /** From the server's last byte, or from the request where there was none. */
  readonly silenceMs: number
  /** From the request's last byte. */
  readonly totalMs: number
  /** From the response's head; null: none had come. */
  readonly sinceHeadMs: number | null
  /** The silence that the server's last byte ended; null: not known. */
  readonly gapMs: number | null
}

/** What answers of hops look like; a server's own 500 is not among them. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([408, 502, 503, 504, 520, 521, 522, 523, 524])
const TRAFFIC: ReadonlySet<string> = new Set(['headers', 'event', 'comment', 'bytes', 'part'])

/** Null: it was not ended by others, or it had its result. */
export function foreignCloseOf(record: CallRecord): ForeignClose | null {
  if (record.kind !== 'call' || record.result === 'sent' || record.closedMs === null) return null
  const form = formOf(record)
  if (form === null) return null
  const endMs = form === 'cancel' ? (record.abandonedMs ?? record.closedMs) : record.closedMs
  const askedMs = Number(record.timeline.find(([, what]) => what === 'asked')?.[0] ?? 0)
  const traffic = record.timeline.filter(([atMs, what]) => TRAFFIC.has(what) && atMs <= endMs).map(([atMs]) => atMs)
  // A hop's own answer is the end, not traffic before it.
  const before = typeof form === 'number' ? [] : traffic
  const lastMs = before.at(-1) ?? askedMs
  const headMs = before.length === 0 ? null : (record.timeline.find(([, what]) => what === 'headers')?.[0] ?? null)
  return {
    side: form === 'cancel' || record.closedBy === 'client' ? 'client' : 'server',
    form,
    break: record.cause === 'client_reset' || record.cause === 'server_reset' ? 'rst' : 'fin',
    silenceMs: form === 'close' && record.silenceAtCloseMs !== null ? record.silenceAtCloseMs : endMs - lastMs,
    totalMs: endMs - askedMs,
    sinceHeadMs: headMs === null ? null : endMs - headMs,
    gapMs:
      record.truncated === true || before.length === 0
        ? null
        : lastMs - (before.findLast((atMs) => atMs < lastMs - SAME_WRITE_MS) ?? askedMs),
  }
}

/** Head and first event often come in one write. */
const SAME_WRITE_MS = 5

function formOf({ closedBy, cause, seenStatus, abandonedBy, result }: CallRecord): ForeignClose['form'] | null {
  if (abandonedBy === 'notification') return 'cancel'
  if (cause === 'client_abort' || cause === 'client_reset') return 'close'
  if (result !== 'none' || closedBy !== 'server') return null
  if (cause === 'server_close' || cause === 'server_reset') return 'close'
  return seenStatus !== null && GATEWAY_STATUSES.has(seenStatus) ? seenStatus : null
}
