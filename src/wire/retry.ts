/** A hop that asks again (`request.retry`): while no answer has come, the request really runs once more on a fresh connection. */
import type { RawHeaders, Request } from '../core/signal.ts'
import type { UpstreamEvents, UpstreamLeg, UpstreamPort } from './upstream-port.ts'

export interface RetryPlan {
  readonly on: readonly ('timeout' | 'loss')[]
  /** Attempts in all. */
  readonly tries: number
}

/** What may have to be sent again; a longer request runs once. */
const KEPT_BYTES_MAX = 1_048_576

interface Attempts {
  readonly dial: (events: UpstreamEvents) => UpstreamLeg
  readonly plan: RetryPlan
  readonly events: UpstreamEvents
  readonly told: () => void
  leg: UpstreamLeg | null
  made: number
  kept: Uint8Array[]
  keptBytes: number
  trailers: RawHeaders | null
  hasHead: boolean
  isGivenUp: boolean
}

/** A leg like any other; `told`: the request was sent again. */
export function dialRetrying(
  port: UpstreamPort,
  plan: RetryPlan,
  { request, isChunked }: { readonly request: Request; readonly isChunked: boolean },
  events: UpstreamEvents,
  told: () => void,
): UpstreamLeg {
  const attempts: Attempts = {
    dial: (own) => port.dial(request, isChunked, own),
    plan,
    events,
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
  return {
    write(bytes) {
      keep(attempts, bytes)
      return attempts.leg?.write(bytes) ?? true
    },
    end(rawTrailers) {
      attempts.trailers = rawTrailers
      attempts.leg?.end(rawTrailers)
    },
    lose(ending) {
      attempts.isGivenUp = true
      attempts.leg?.lose(ending)
    },
    pause: () => attempts.leg?.pause(),
    resume: () => attempts.leg?.resume(),
    isConnected: () => attempts.leg?.isConnected() ?? false,
    again() {
      if (!attempts.plan.on.includes('timeout') || !canRepeat(attempts)) return false
      attempts.leg?.lose('fin')
      repeat(attempts)
      return true
    },
  }
}

function attempt(attempts: Attempts): void {
  attempts.made += 1
  const number = attempts.made
  const { events } = attempts
  const isCurrent = (): boolean => attempts.made === number
  attempts.leg = attempts.dial({
    ...events,
    head(...head) {
      attempts.hasHead = true
      attempts.kept = []
      events.head(...head)
    },
    lost(fate) {
      if (!isCurrent()) return
      if (attempts.plan.on.includes('loss') && canRepeat(attempts)) repeat(attempts)
      else events.lost(fate)
    },
  })
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
  for (const bytes of attempts.kept) attempts.leg?.write(bytes)
  attempts.leg?.end(attempts.trailers ?? [])
}
