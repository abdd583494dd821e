/**
 * The rules of the protocol that are watched, as data: a broken MUST is a violation, a surprise that harms nobody a notice.
 * What a rule says where it is no MUST (or where nobody knows the revision) is a notice.
 */
import type { Revision } from './revision.ts'
import { CLOSING_REVISIONS, knownRevision, REVISIONS, SESSION_REVISIONS } from './revision.ts'

export interface Rule {
  readonly brokenBy: 'client' | 'server'
  /** One line: what happened, and why it matters. */
  readonly why: string
  /** Where it can be broken. */
  readonly appliesIn: readonly Revision[]
  /** Where it is a MUST. */
  readonly mustIn: readonly Revision[]
  /** Whether it is watched where nobody said the revision, and what it is then. */
  readonly ifUnknown: Severity | null
  /** The page and heading, in the session revisions and from 2026-07-28. */
  readonly sections: { readonly session?: string; readonly closing?: string }
}

export type Severity = 'violation' | 'notice'

const STREAMS = 'basic/transports#sending-messages-to-the-server'
const STREAMS_2026 = 'basic/transports/streamable-http#receiving-messages'
const LISTENING = 'basic/transports#listening-for-messages-from-the-server'
const REQUESTS = { session: 'basic#requests', closing: 'basic#requests' }
const RESPONSES = { session: 'basic#responses', closing: 'basic#responses' }
const PROGRESS = { session: 'basic/utilities/progress#behavior-requirements', closing: 'basic/patterns/progress#behavior-requirements' }
const CANCEL_2026 = 'basic/transports/streamable-http#cancellation'
const STREAMABLE: readonly Revision[] = ['2025-03-26', '2025-06-18', '2025-11-25']
const SINCE_2025: readonly Revision[] = [...STREAMABLE, '2026-07-28']
const NONE: readonly Revision[] = []

export const RULES = {
  'work-after-cancel': {
    brokenBy: 'server',
    why: 'The client closed the stream, which cancels the request, and the server worked on past the grace.',
    ...{ appliesIn: CLOSING_REVISIONS, mustIn: CLOSING_REVISIONS, ifUnknown: null, sections: { closing: CANCEL_2026 } },
  },
  'message-after-cancel': {
    brokenBy: 'server',
    why: 'The client closed the stream, and the server still wrote messages for the request.',
    ...{ appliesIn: CLOSING_REVISIONS, mustIn: CLOSING_REVISIONS, ifUnknown: null, sections: { closing: CANCEL_2026 } },
  },
  'cancel-ignored': {
    brokenBy: 'server',
    why: 'The client sent notifications/cancelled, the server had it, and worked on past the grace.',
    ...{ appliesIn: SESSION_REVISIONS, mustIn: SESSION_REVISIONS, ifUnknown: 'violation' },
    sections: { session: 'basic/utilities/cancellation#behavior-requirements' },
  },
  'stale-message': {
    brokenBy: 'server',
    why: 'A message came for a request that was cancelled, perhaps on its way already: it is counted and passed on, for dropping it is the client’s.',
    ...{ appliesIn: REVISIONS, mustIn: NONE, ifUnknown: 'notice' },
    sections: {
      session: 'basic/utilities/cancellation#timing-considerations',
      closing: 'basic/patterns/cancellation#timing-considerations',
    },
  },
  'cancelled-notification-over-http': {
    brokenBy: 'client',
    why: 'Over HTTP only closing the stream cancels; a client that sends notifications/cancelled and keeps its stream believes in vain that it stopped the work.',
    ...{ appliesIn: CLOSING_REVISIONS, mustIn: CLOSING_REVISIONS, ifUnknown: null, sections: { closing: CANCEL_2026 } },
  },
  'request-id-reused': {
    brokenBy: 'client',
    why: 'A request came with the id of an earlier one: the two answers cannot be told apart.',
    ...{ appliesIn: REVISIONS, mustIn: REVISIONS, ifUnknown: 'notice', sections: REQUESTS },
  },
  'duplicate-id-in-flight': {
    brokenBy: 'client',
    why: 'Two requests of one session are open under the same id: answers, progress and cancellations may go to the wrong one.',
    ...{ appliesIn: REVISIONS, mustIn: REVISIONS, ifUnknown: 'notice', sections: REQUESTS },
  },
  'server-cancelled-outside-listen': {
    brokenBy: 'server',
    why: 'The server sent notifications/cancelled on a stream that is no subscriptions/listen.',
    ...{ appliesIn: CLOSING_REVISIONS, mustIn: CLOSING_REVISIONS, ifUnknown: null, sections: { closing: 'basic/patterns/cancellation' } },
  },
  'subscription-not-acknowledged': {
    brokenBy: 'server',
    why: 'The first message on a subscriptions/listen stream was not its acknowledgement.',
    appliesIn: CLOSING_REVISIONS,
    mustIn: CLOSING_REVISIONS,
    ifUnknown: null,
    sections: { closing: 'basic/patterns/subscriptions#acknowledgment' },
  },
  'server-request-on-stream': {
    brokenBy: 'server',
    why: 'The server sent a request of its own on a stream: from 2026-07-28 it asks by an input_required result.',
    ...{ appliesIn: CLOSING_REVISIONS, mustIn: CLOSING_REVISIONS, ifUnknown: null, sections: { closing: STREAMS_2026 } },
  },
  'response-after-final': {
    brokenBy: 'server',
    why: 'A request was answered, and then something more came for it: a second answer, or progress.',
    ...{ appliesIn: REVISIONS, mustIn: REVISIONS, ifUnknown: 'notice', sections: RESPONSES },
  },
  'progress-not-increasing': {
    brokenBy: 'server',
    why: 'A progress value was not above the one before it.',
    ...{ appliesIn: REVISIONS, mustIn: SINCE_2025, ifUnknown: 'notice' },
    sections: { session: 'basic/utilities/progress#progress-flow', closing: 'basic/patterns/progress#progress-flow' },
  },
  'progress-unknown-token': {
    brokenBy: 'server',
    why: 'Progress came under a token that no open request gave.',
    ...{ appliesIn: REVISIONS, mustIn: REVISIONS, ifUnknown: 'notice', sections: PROGRESS },
  },
  'header-mismatch': {
    brokenBy: 'client',
    why: 'A header and the body say different things: what routes by the header and what reads the body disagree.',
    appliesIn: CLOSING_REVISIONS,
    mustIn: CLOSING_REVISIONS,
    ifUnknown: null,
    sections: { closing: 'basic/transports/streamable-http#server-validation' },
  },
  'stream-ended-without-result': {
    brokenBy: 'server',
    why: 'The server ended its answer in good order, and the result was not in it: SDK clients wait on, up to their own timeout.',
    ...{ appliesIn: REVISIONS, mustIn: CLOSING_REVISIONS, ifUnknown: 'notice', sections: { session: STREAMS, closing: STREAMS_2026 } },
  },
  'request-answered-202': {
    brokenBy: 'server',
    why: 'A request was answered 202 without a body, and no 2024-11-05 stream is open on which its answer could come.',
    ...{ appliesIn: REVISIONS, mustIn: SINCE_2025, ifUnknown: 'notice' },
    sections: { session: STREAMS, closing: 'basic/transports/streamable-http#sending-messages' },
  },
  'result-to-wrong-id': {
    brokenBy: 'server',
    why: 'An answer came under an id that no request of this stream has.',
    ...{ appliesIn: REVISIONS, mustIn: REVISIONS, ifUnknown: 'notice', sections: RESPONSES },
  },
  'get-answered-200-without-sse': {
    brokenBy: 'server',
    why: 'A GET for an event stream was answered 200 with something else: SDK clients take it for a stream that ended, and come again without end.',
    ...{ appliesIn: REVISIONS, mustIn: STREAMABLE, ifUnknown: 'notice', sections: { session: LISTENING } },
  },
  'batch-not-defined': {
    brokenBy: 'client',
    why: 'Several messages came in one body; batches exist up to 2025-03-26 only.',
    ...{ appliesIn: ['2025-06-18', '2025-11-25', '2026-07-28'], mustIn: NONE, ifUnknown: null },
    sections: { session: STREAMS, closing: 'basic/transports/streamable-http#sending-messages' },
  },
  'resumption-not-defined': {
    brokenBy: 'client',
    why: 'The client tried to resume a stream by Last-Event-ID, which its revision does not have: the request is lost.',
    ...{ appliesIn: CLOSING_REVISIONS, mustIn: NONE, ifUnknown: null, sections: { closing: STREAMS_2026 } },
  },
  'duplicate-work': {
    brokenBy: 'client',
    why: 'The call was issued again while the server still worked on the first: the same work ran twice at once.',
    ...{ appliesIn: REVISIONS, mustIn: NONE, ifUnknown: 'notice', sections: {} },
  },
  'retry-storm': {
    brokenBy: 'client',
    why: 'The same call is issued again and again in short order; each retry adds its work to that of the ones before.',
    ...{ appliesIn: REVISIONS, mustIn: NONE, ifUnknown: 'notice', sections: {} },
  },
  'endless-reconnect': {
    brokenBy: 'client',
    why: 'The client opens its GET stream again and again; each ends in short order.',
    ...{ appliesIn: REVISIONS, mustIn: NONE, ifUnknown: 'notice', sections: { session: LISTENING } },
  },
  'task-survives-cut': {
    brokenBy: 'client',
    why: 'The wait for a task ended without its result; the task itself lives on and can be asked for again.',
    ...{ appliesIn: ['2025-11-25', '2026-07-28'], mustIn: NONE, ifUnknown: 'notice' },
    sections: { session: 'basic/utilities/tasks' },
  },
} as const satisfies Readonly<Record<string, Rule>>

export type RuleId = keyof typeof RULES
export const RULE_IDS = Object.keys(RULES) as readonly RuleId[]
export const ruleOf = (id: RuleId): Rule => RULES[id]
export const isRuleId = (text: string): text is RuleId => Object.hasOwn(RULES, text)

/** Null: the rule says nothing there. */
export function severityOf(id: RuleId, revision: string | null): Severity | null {
  const { appliesIn, mustIn, ifUnknown } = ruleOf(id)
  const known = knownRevision(revision)
  if (known === null) return ifUnknown
  if (mustIn.includes(known)) return 'violation'
  return appliesIn.includes(known) ? 'notice' : null
}

/** The address of the section that says so; null where the specification says nothing. */
export function sectionOf(id: RuleId, revision: string | null): string | null {
  const known = knownRevision(revision) ?? '2025-11-25'
  const { session, closing } = ruleOf(id).sections
  const section = CLOSING_REVISIONS.includes(known) ? closing : session
  return section === undefined ? null : `https://modelcontextprotocol.io/specification/${known}/${section}`
}
