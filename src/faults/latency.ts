/** Delays the head, or every event; what comes behind keeps its place in the queue. */

import type { SeatPlan } from '../core/seat.ts'
import type { Reply } from '../core/signal.ts'

export interface LatencyAsked {
  readonly delayMs: number
  readonly jitterMs: number
  readonly on: 'headers' | 'event'
}

export function latency(name: string, { delayMs, jitterMs, on }: LatencyAsked): SeatPlan {
  const delayed = on === 'headers' ? 'head' : 'piece'
  return {
    name,
    sit(out, random) {
      const queue: { readonly dueMs: number; readonly signal: Reply }[] = []

      function passDue(atMs: number): void {
        while (queue[0] !== undefined && queue[0].dueMs <= atMs) {
          const first = queue.shift()
          if (first !== undefined) out.toClient(first.signal)
        }
        out.wakeAt(queue[0]?.dueMs ?? null)
      }

      return {
        fromServer(signal, atMs) {
          const waitMs = signal.is === delayed ? delayMs + jitterMs * (2 * random() - 1) : 0
          const dueMs = Math.max(atMs + Math.max(0, waitMs), queue.at(-1)?.dueMs ?? 0)
          if (queue.length === 0 && dueMs <= atMs) return out.toClient(signal)
          queue.push({ dueMs, signal })
          if (queue.length === 1) out.wakeAt(dueMs)
        },
        wake: passDue,
        release: () => passDue(Infinity),
        heldBytes: () => queue.reduce((sum, { signal }) => sum + (signal.is === 'piece' ? signal.bytes.length : 0), 0),
      }
    },
  }
}
