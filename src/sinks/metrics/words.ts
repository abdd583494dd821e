/** The closed sets that labels take, and which of their combinations can occur. */
import type { ExchangeKind } from '../../core/mcp/ask.ts'
import type { AnswerShape, ClosedBy, WorkOutcome } from '../../core/record.ts'
import type { CauseKind, Ending } from '../../core/signal.ts'

export const KINDS: readonly ExchangeKind[] = ['call', 'subscription', 'notification', 'get_sse', 'websocket', 'other']
export const CLOSERS: readonly ClosedBy[] = ['client', 'server', 'sidecar']
export const OUTCOMES: readonly Exclude<WorkOutcome, 'pending'>[] = ['finished', 'stopped', 'orphaned', 'unobserved', 'delegated']

const REVISIONS: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
export const REVISION_LABELS: readonly string[] = [...REVISIONS, 'unknown', 'other']
/** `unknown`: nobody said; `other`: none that is known here. */
export const revisionLabel = (revision: string | null): string =>
  revision === null ? 'unknown' : REVISIONS.includes(revision) ? revision : 'other'

const BREAKS: readonly Ending[] = ['fin', 'rst']
const ALL: readonly Ending[] = ['clean', 'fin', 'rst']
/** How each cause can end each answer. `other` is mostly an answer made here (502, 504), `none` a close without any. */
const STREAM_ENDINGS: Readonly<Record<CauseKind, Readonly<Partial<Record<AnswerShape, readonly Ending[]>>>>> = {
  complete: { sse: ['clean'], json: ['clean'], other: ['clean'], none: ['clean'] },
  client_abort: { sse: ['fin'], json: ['fin'], other: ['fin'], none: ['fin'] },
  client_reset: { sse: ['rst'], json: ['rst'], other: ['rst'], none: ['rst'] },
  server_close: { sse: ['fin', 'clean'], json: ['fin'], other: ['clean', 'fin'] },
  server_reset: { sse: BREAKS, json: BREAKS, other: ['clean', 'rst'] },
  unreachable: { other: ['clean'] },
  header_timeout: { other: ['clean'], none: ['fin'] },
  idle_timeout: { sse: ALL, json: BREAKS, other: ['clean'], none: ['fin'] },
  max_duration: { sse: ALL, json: BREAKS, other: ['clean'], none: ['fin'] },
  client_send: { sse: BREAKS, json: BREAKS, other: BREAKS },
  fault: { sse: ALL, json: BREAKS, other: ['clean'], none: BREAKS },
  limit: { sse: ['fin'], json: ['fin'], other: ['fin'] },
  operator: { sse: BREAKS, json: ['fin'], none: ['fin'] },
  shutdown: { sse: ['fin'], json: ['fin'], other: ['fin'], none: ['fin'] },
}
const ANSWERS: Readonly<Record<ExchangeKind, readonly AnswerShape[]>> = {
  call: ['sse', 'json', 'other', 'none'],
  subscription: ['sse', 'json', 'other', 'none'],
  notification: ['json', 'other', 'none'],
  get_sse: ['sse', 'json', 'other', 'none'],
  websocket: ['json', 'other', 'none'], // json: a refusal
  other: ['json', 'other', 'none'],
}
/** Kinds that are over in a moment: what takes a limit to happen is not expected of them. */
const BRIEF_CAUSES = new Set<CauseKind>([
  'complete',
  'client_abort',
  'client_reset',
  'server_close',
  'server_reset',
  'unreachable',
  'fault',
])
const isBrief = (kind: ExchangeKind): boolean => kind === 'notification' || kind === 'other'

export interface Close extends Readonly<Record<string, string>> {
  readonly kind: ExchangeKind
  readonly answer: AnswerShape
  readonly cause: CauseKind
  readonly ending: Ending
}

/** All that the given causes allow. */
export function possibleCloses(causes: readonly CauseKind[]): readonly Close[] {
  return KINDS.flatMap((kind) =>
    causes
      .filter((cause) => !isBrief(kind) || BRIEF_CAUSES.has(cause))
      .flatMap((cause) =>
        ANSWERS[kind].flatMap((answer) => endingsOf(kind, cause, answer).map((ending) => ({ kind, answer, cause, ending }))),
      ),
  )
}

/** The frames of a WebSocket session are a stream as well, though no answer of a shape. */
function endingsOf(kind: ExchangeKind, cause: CauseKind, answer: AnswerShape): readonly Ending[] {
  const endings = STREAM_ENDINGS[cause][answer] ?? []
  if (kind !== 'websocket' || answer === 'json') return endings
  return [...new Set([...endings, ...(STREAM_ENDINGS[cause].sse ?? []), ...(cause === 'limit' ? (['clean'] as const) : [])])]
}
