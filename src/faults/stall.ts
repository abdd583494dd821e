/** From a point on reads neither side: both stay open, what was under way waits, a leaving goes unseen. */

import type { SeatPlan } from '../core/seat.ts'
import type { Ask, Reply } from '../core/signal.ts'

export interface StallAsked {
  readonly from: 'headers' | 'body'
  readonly forMs: number | null
}

export function stall(name: string, { from, forMs }: StallAsked): SeatPlan {
  return {
    name,
    sit(out) {
      let isStalled = false
      let replies: Reply[] = []
      let asks: Ask[] = []

      function begin(atMs: number): void {
        isStalled = true
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
          if (!isStalled && signal.is === (from === 'headers' ? 'head' : 'piece')) begin(atMs)
          if (isStalled) replies.push(signal)
          else out.toClient(signal)
        },
        fromClient(signal) {
          if (isStalled) asks.push(signal)
          else out.toServer(signal)
        },
        wake: resume,
        release: resume,
        heldBytes: () => [...replies, ...asks].reduce((sum, signal) => sum + (signal.is === 'piece' ? signal.bytes.length : 0), 0),
      }
    },
  }
}
