/** Delays chosen events, whole; what comes behind waits its turn. */
import type { Out, Seat } from '../core/seat.ts'
import type { EventMark, Reply } from '../core/signal.ts'
import { fired, shapeOf, skip, whyNoEvents } from './body-shape.ts'
import { createDelayQueue } from './delay-queue.ts'
import { eventGate } from './whole-events.ts'

export interface EventDelay {
  /** Drawn once for each delayed event. */
  waitMs(): number
  isDelayed(mark: EventMark): boolean
  /** A body without events counts as one that is delayed. */
  readonly takesPlain: boolean
}

export function delayEvents(out: Out, { waitMs, isDelayed, takesPlain }: EventDelay): Seat {
  const queue = createDelayQueue<Reply>({
    send: (signal) => out.toClient(signal),
    hold: (isHeld) => out.hold('server', isHeld),
    wakeAt: (atMs) => out.wakeAt(atMs),
  })
  let nowMs = 0
  let plainDueMs: number | null = null // null: not begun
  let isPlain = false
  const queued: Out = { ...out, toClient: (signal) => queue.push(signal, nowMs, nowMs) }
  const gate = eventGate(queued, ({ parts, mark }) => {
    const isMeant = isDelayed(mark)
    if (isMeant) fired(out)
    const dueMs = isMeant ? nowMs + waitMs() : nowMs
    for (const part of parts) queue.push(part, dueMs, nowMs)
  })
  function takePlain(signal: Reply): void {
    if (plainDueMs === null && signal.is === 'piece') {
      fired(out)
      plainDueMs = nowMs + waitMs()
    }
    queue.push(signal, plainDueMs ?? nowMs, nowMs)
  }
  return {
    fromServer(signal, atMs) {
      nowMs = atMs
      if (signal.is === 'head') {
        const shape = shapeOf(signal.rawHeaders)
        isPlain = shape === 'plain' && takesPlain
        if (shape !== 'events' && !isPlain) skip(out, whyNoEvents(shape))
        return out.toClient(signal)
      }
      if (isPlain) return takePlain(signal)
      if (signal.is === 'piece') return gate.take(signal)
      gate.flush()
      queue.push(signal, atMs, atMs)
    },
    wake: queue.passDue,
    release() {
      gate.flush()
      queue.flush()
    },
    heldBytes: () => gate.heldBytes() + queue.heldBytes(),
  }
}
