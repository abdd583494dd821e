/** A hop that asks again (`request.retry`): while no answer has come, the request really runs once more on a fresh connection. */
import type { RawHeaders, Request } from '../core/signal.ts'
import type { Fate } from './upstream-fate.ts'
import type { AnswerFraming, LegVerbs, UpstreamEvents, UpstreamLeg, UpstreamPort } from './upstream-port.ts'

export interface RetryPlan {
  readonly on: readonly ('timeout' | 'loss')[]
  /** Attempts in all. */
  readonly tries: number
}

/** What may have to be sent again; a longer request runs once. */
const KEPT_BYTES_MAX = 1_048_576

interface Attempts {
  readonly dial: (attempt: Attempt) => UpstreamLeg
  readonly plan: RetryPlan
  readonly events: UpstreamEvents<unknown>
  readonly owner: unknown
  readonly told: () => void
  leg: UpstreamLeg | null
  made: number
  kept: Uint8Array[]
  keptBytes: number
  trailers: RawHeaders | null
  hasHead: boolean
  isGivenUp: boolean
}

/** The n-th of them: what an earlier one still tells is not heard. */
interface Attempt {
  readonly of: Attempts
  readonly number: number
}

/** A leg like any other; `told`: the request was sent again. */
export function dialRetrying<Owner>(
  port: UpstreamPort,
  plan: RetryPlan,
  { request, isChunked }: { readonly request: Request; readonly isChunked: boolean },
  { events, owner, told }: { readonly events: UpstreamEvents<Owner>; readonly owner: Owner; readonly told: () => void },
): UpstreamLeg {
  const attempts: Attempts = {
    dial: (one) => port.dial(request, isChunked, ATTEMPT_EVENTS, one),
    plan,
    events,
    owner,
    told,
    leg: null,
    made: 0,
    kept: [],
    keptBytes: 0,
    trailers: null,
    hasHead: false,
    isGivenUp: false,
  }
  attempt(attempts)
  return { verbs: verbsOf(attempts) }
}

function verbsOf(attempts: Attempts): LegVerbs {
  const write = (bytes: Uint8Array): boolean => attempts.leg?.verbs.write(attempts.leg, bytes) ?? true
  return {
    write(_, bytes) {
      keep(attempts, bytes)
      return write(bytes)
    },
    end(_, rawTrailers) {
      attempts.trailers = rawTrailers
      attempts.leg?.verbs.end(attempts.leg, rawTrailers)
    },
    lose(_, ending) {
      attempts.isGivenUp = true
      attempts.leg?.verbs.lose(attempts.leg, ending)
    },
    pause: () => attempts.leg?.verbs.pause(attempts.leg),
    resume: () => attempts.leg?.verbs.resume(attempts.leg),
    isConnected: () => attempts.leg?.verbs.isConnected(attempts.leg) ?? false,
    again() {
      if (!attempts.plan.on.includes('timeout') || !canRepeat(attempts)) return false
      attempts.leg?.verbs.lose(attempts.leg, 'fin')
      repeat(attempts)
      return true
    },
  }
}

const ATTEMPT_EVENTS: UpstreamEvents<Attempt> = {
  head({ of }, status: number, reason: string, rawHeaders: RawHeaders, framing: AnswerFraming) {
    of.hasHead = true
    of.kept = []
    of.events.head(of.owner, status, reason, rawHeaders, framing)
  },
  interim: ({ of }, status, reason, rawHeaders) => of.events.interim(of.owner, status, reason, rawHeaders),
  bytes: ({ of }, chunk) => of.events.bytes(of.owner, chunk),
  lent: ({ of }, chunk) => of.events.lent(of.owner, chunk),
  end: ({ of }, rawTrailers) => of.events.end(of.owner, rawTrailers),
  lost({ of, number }, fate: Fate) {
    if (of.made !== number) return
    if (of.plan.on.includes('loss') && canRepeat(of)) repeat(of)
    else of.events.lost(of.owner, fate)
  },
  drained: ({ of }) => of.events.drained(of.owner),
}

function attempt(attempts: Attempts): void {
  attempts.made += 1
  attempts.leg = attempts.dial({ of: attempts, number: attempts.made })
}

function keep(attempts: Attempts, bytes: Uint8Array): void {
  if (attempts.hasHead) return
  attempts.keptBytes += bytes.length
  if (attempts.keptBytes > KEPT_BYTES_MAX) attempts.kept = []
  else attempts.kept.push(bytes)
}

/** Only a whole request can be sent again, and only while nothing of an answer has come. */
const canRepeat = ({ made, plan, hasHead, isGivenUp, trailers, keptBytes }: Attempts): boolean =>
  made < plan.tries && !hasHead && !isGivenUp && trailers !== null && keptBytes <= KEPT_BYTES_MAX

function repeat(attempts: Attempts): void {
  attempts.told()
  attempt(attempts)
  const { leg } = attempts
  if (leg === null) return
  for (const bytes of attempts.kept) leg.verbs.write(leg, bytes)
  leg.verbs.end(leg, attempts.trailers ?? [])
}
