/** From a point on reads neither side: both stay open, what was under way waits, a leaving goes unseen. */

import type { SeatPlan } from '../core/seat.ts'
import type { Ask, Reply } from '../core/signal.ts'
import { oneOf, strict } from '../hops/shape.ts'
import { fired } from './body-shape.ts'
import { faultKind, seat } from './fault.ts'
import { durationText, msOf } from './fault-values.ts'
import { kept } from './fifo.ts'

export interface StallAsked {
  readonly from: 'request' | 'headers' | 'body'
  /** `null`: for good. */
  readonly forMs: number | null
}

export function stall(name: string, { from, forMs }: StallAsked): SeatPlan {
  const begins = { request: 'request', headers: 'head', body: 'piece' }[from]
  return {
    name,
    sit(out) {
      let isStalled = false
      let replies: Reply[] = []
      let asks: Ask[] = []

      function begin(atMs: number): void {
        isStalled = true
        fired(out)
        out.hold('client', true)
        out.hold('server', true)
        if (forMs !== null) out.wakeAt(atMs + forMs)
      }
      function resume(): void {
        for (const signal of replies) out.toClient(signal)
        for (const signal of asks) out.toServer(signal)
        replies = []
        asks = []
        out.leave()
      }

      return {
        fromServer(signal, atMs) {
          if (!isStalled && from !== 'request' && signal.is === begins) begin(atMs)
          if (isStalled) replies.push(kept(signal))
          else out.toClient(signal)
        },
        fromClient(signal, atMs) {
          if (!isStalled && from === 'request' && signal.is === begins) begin(atMs)
          if (isStalled) asks.push(kept(signal))
          else out.toServer(signal)
        },
        wake: resume,
        release: resume,
        heldBytes: () => [...replies, ...asks].reduce((sum, signal) => sum + (signal.is === 'piece' ? signal.bytes.length : 0), 0),
      }
    },
  }
}

export const stallFault = faultKind({
  key: 'stall',
  docs: 'Stops reading both sides, which stay open: from the accepted connection, the headers, the body, or the next request on the connection.',
  at: 'client',
  schema: strict({ from: oneOf('accept', 'headers', 'body', 'next-request'), for: durationText.optional() }),
  deed(name, asked) {
    const forMs = asked.for === undefined ? null : msOf(asked.for)
    if (asked.from === 'accept') return { is: 'accept', what: { is: 'stall', forMs } }
    if (asked.from === 'next-request') return { is: 'next', plan: stall(name, { from: 'request', forMs }) }
    return seat(stall(name, { from: asked.from, forMs }))
  },
})
