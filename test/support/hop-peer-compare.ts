/** A real proxy's scenario beside ours: what differs, aspect by aspect, with both values. */
import type { Scenario } from './hop-peer-scenarios.ts'
import type { Seen } from './hop-peer-seen.ts'
import type { ProxyPeer } from './proxy-list.ts'

export type Aspect =
  | 'status'
  | 'reason'
  | 'content-type'
  | 'framing'
  | 'body'
  | 'accel-header'
  | 'terminator'
  | 'head-time'
  | 'whole-time'
  | 'events'
  | 'event-times'
  | 'client-ending'
  | 'client-end-time'
  | 'asked'
  | 'server-ending'
  | 'server-end-time'

export interface Difference {
  readonly aspect: Aspect
  readonly real: string
  readonly ours: string
}

const WITHIN_MS = 100
/** An answer made by the proxy itself is compared by its length only, that far. */
const LENGTH_RATIO = 1.25

/** `stoodStillMs`: how long this very process did nothing meanwhile, which no side is to be blamed for. */
export function compare(real: Seen, ours: Seen, peer: ProxyPeer, scenario: Scenario, stoodStillMs = 0): readonly Difference[] {
  const found: Difference[] = []
  const note = (aspect: Aspect, a: unknown, b: unknown): void => void found.push({ aspect, real: show(a), ours: show(b) })
  const same = (aspect: Aspect, a: unknown, b: unknown): void => {
    if (a !== b) note(aspect, a, b)
  }
  const withinMs = WITHIN_MS + stoodStillMs
  const cutWithinMs = scenario.isCut === true && peer.cutWithinMs !== undefined ? peer.cutWithinMs + stoodStillMs : withinMs
  /** What happened on one side only is another aspect's. */
  const near = (aspect: Aspect, a: number | null, b: number | null): void => {
    if (a !== null && b !== null && Math.abs(a - b) > cutWithinMs) note(aspect, a, b)
  }

  same('status', real.answer?.status ?? 'no answer', ours.answer?.status ?? 'no answer')
  if (real.answer !== null && ours.answer !== null) {
    same('reason', real.answer.reason, ours.answer.reason)
    same('content-type', real.answer.contentType, ours.answer.contentType)
    same('framing', real.answer.framing, ours.answer.framing)
    if (!isSameBody(real.answer, ours.answer)) note('body', `${real.answer.body.length} bytes`, `${ours.answer.body.length} bytes`)
    same('accel-header', real.answer.passesAccel, ours.answer.passesAccel)
    same('terminator', real.answer.isWhole, ours.answer.isWhole)
  }
  near('head-time', real.headMs, ours.headMs)
  near('whole-time', real.wholeMs, ours.wholeMs)
  same('events', numbers(real), numbers(ours))
  const apart = [...real.events].some(([n, ms]) => Math.abs((ours.events.get(n) ?? ms) - ms) > withinMs)
  if (apart) note('event-times', times(real), times(ours))
  same('client-ending', real.ending, ours.ending)
  near('client-end-time', real.endedMs, ours.endedMs)
  same('asked', real.asked, ours.asked)
  same('server-ending', real.serverEnding, ours.serverEnding)
  near('server-end-time', real.serverEndedMs, ours.serverEndedMs)
  return found
}

/** The server's own bytes are to be the same; a proxy's words only of a like length. */
function isSameBody(real: NonNullable<Seen['answer']>, ours: NonNullable<Seen['answer']>): boolean {
  if (real.status === 200 || ours.status === 200) return real.body === ours.body
  const [least, most] = [real.body.length, ours.body.length].sort((a, b) => a - b)
  return (most ?? 0) <= (least ?? 0) * LENGTH_RATIO
}

const show = (value: unknown): string => String(typeof value === 'number' ? Math.round(value) : value)
const times = ({ events }: Seen): string => [...events].map(([n, ms]) => `${n}@${Math.round(ms)}`).join(' ')
const numbers = ({ events }: Seen): string => [...events.keys()].sort((a, b) => a - b).join()
