/** Delays the request, the head, every event or the result; what comes behind keeps its place in the queue. */
import { isEvent } from '../core/meaning.ts'
import type { Out, Seat, SeatPlan } from '../core/seat.ts'
import type { Ask, Reply } from '../core/signal.ts'
import { oneOf, strict } from '../hops/shape.ts'
import { fired } from './body-shape.ts'
import { createDelayQueue } from './delay-queue.ts'
import { delayEvents } from './event-delay.ts'
import { eventPicker } from './event-picker.ts'
import { faultKind, seat } from './fault.ts'
import { durationText, msOf } from './fault-values.ts'

export type Distribution = 'uniform' | 'normal' | 'pareto'

export interface LatencyAsked {
  readonly delayMs: number
  readonly jitterMs: number
  readonly distribution?: Distribution
  readonly on: 'request' | 'headers' | 'event' | 'result'
}

export function latency(name: string, { delayMs, jitterMs, distribution = 'uniform', on }: LatencyAsked): SeatPlan {
  return {
    name,
    sit(out, random) {
      const waitMs = (): number => Math.max(0, delayMs + jitterMs * spreadOf(distribution, random))
      if (on === 'request') return delayRequest(out, waitMs)
      if (on === 'headers') return delayHead(out, waitMs)
      return delayEvents(out, { waitMs, isDelayed: on === 'event' ? isEvent : eventPicker('result', null), takesPlain: on === 'result' })
    },
  }
}

/** In units of the jitter. uniform: −1 … 1; normal: its standard deviation; pareto (shape 1.5): never less than the delay, long tail. */
function spreadOf(distribution: Distribution, random: () => number): number {
  if (distribution === 'uniform') return 2 * random() - 1
  if (distribution === 'pareto') return Math.min(100, (1 - random()) ** (-1 / 1.5) - 1)
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function delayHead(out: Out, waitMs: () => number): Seat {
  const queue = createDelayQueue<Reply>({
    send: (signal) => out.toClient(signal),
    hold: (isHeld) => out.hold('server', isHeld),
    wakeAt: (atMs) => out.wakeAt(atMs),
  })
  return {
    fromServer(signal, atMs) {
      if (signal.is === 'head') fired(out)
      queue.push(signal, signal.is === 'head' ? atMs + waitMs() : atMs, atMs)
    },
    wake: queue.passDue,
    release: queue.flush,
    heldBytes: queue.heldBytes,
  }
}

/** A client that leaves meanwhile takes its request with it. */
function delayRequest(out: Out, waitMs: () => number): Seat {
  const queue = createDelayQueue<Ask>({
    send: (signal) => out.toServer(signal),
    hold: (isHeld) => out.hold('client', isHeld),
    wakeAt: (atMs) => out.wakeAt(atMs),
  })
  return {
    fromClient(signal, atMs) {
      if (signal.is === 'lost' || signal.is === 'half') {
        queue.clear()
        return out.toServer(signal)
      }
      if (signal.is === 'request') fired(out)
      queue.push(signal, signal.is === 'request' ? atMs + waitMs() : atMs, atMs)
    },
    wake: queue.passDue,
    release: queue.flush,
    heldBytes: queue.heldBytes,
  }
}

const schema = strict({
  delay: durationText,
  jitter: durationText.optional(),
  distribution: oneOf('uniform', 'normal', 'pareto').optional(),
  on: oneOf('request', 'headers', 'event', 'result').optional(),
})

export const latencyFault = faultKind({
  key: 'latency',
  docs: 'Delays the request, the headers (unless `on` says otherwise), every event or the result; order is kept.',
  at: 'server',
  schema,
  deed: (name, { delay, jitter, distribution = 'uniform', on = 'headers' }) =>
    seat(latency(name, { delayMs: msOf(delay), jitterMs: jitter === undefined ? 0 : msOf(jitter), distribution, on })),
})
