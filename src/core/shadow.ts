/**
 * A line that only tells: fed what the real line is fed, it acts on nothing and says once when it would have ended the exchange.
 * One for each hop and each fault, so that none hides what another would do.
 */
import { createLine } from './line.ts'
import type { Out, Seat, SeatPlan } from './seat.ts'
import type { Ask, Cause, Reply, Side } from './signal.ts'

export interface Shadow {
  /** The hop's or the fault's. */
  readonly name: string
  fromClient(ask: Ask, atMs: number): void
  fromServer(reply: Reply, atMs: number): void
  pressed(side: Side, isBlocked: boolean, atMs: number): void
  wake(atMs: number): void
  /** No later than its earliest wake; null: nothing more will come of it by itself. */
  wakeAtMs(): number | null
}

/** What one shadow holds in the place of a hop that buffers; beyond, it lets go: nobody reads it, and a buffer alone ends nothing. */
const HELD_BYTES_MAX = 65_536

/**
 * `wouldCut` is told at most once, with the due time of a late timer, and only where a hop or fault among `plans` is the author
 * of the ending: whoever else ends the exchange ends the shadow with it. It opens with the first signal it is told.
 */
export function createShadow(name: string, plans: readonly SeatPlan[], wouldCut: (cause: Cause, atMs: number) => void): Shadow {
  let isOpen = false
  let isOver = plans.length === 0
  const others = new Set<Cause>() // causes that came with what it was fed

  const line = createLine(
    plans.map(bounded),
    {
      toClient: () => undefined,
      toServer: () => undefined,
      hold: () => undefined,
      closed(cause, _ending, atMs) {
        isOver = true
        const isOwn = !others.has(cause) && (cause.hop !== undefined || cause.fault !== undefined)
        if (isOwn) wouldCut(cause, atMs)
      },
    },
    () => 0.5, // chance was drawn where the seats were planned
  )

  function take(atMs: number, tell: () => void): void {
    if (isOver) return
    if (!isOpen) line.open(atMs)
    isOpen = true
    tell()
  }

  return {
    name,
    fromClient(ask, atMs) {
      if (ask.is === 'lost') others.add(ask.cause)
      take(atMs, () => line.fromClient(ask, atMs))
    },
    fromServer(reply, atMs) {
      if (reply.is === 'lost' || reply.is === 'end') others.add(reply.cause)
      take(atMs, () => line.fromServer(reply, atMs))
    },
    pressed: (side, isBlocked, atMs) => take(atMs, () => line.pressed(side, isBlocked, atMs)),
    wake: (atMs) => take(atMs, () => line.wake(atMs)),
    wakeAtMs: () => (isOver ? null : line.wakeAtMs()),
  }
}

/** The same seat, holding little: what is over goes on as if its time had come. */
function bounded(plan: SeatPlan): SeatPlan {
  return {
    name: plan.name,
    sit(out: Out, random: () => number): Seat {
      const seat = plan.sit(out, random)
      const { fromClient, fromServer, heldBytes, release } = seat
      if (heldBytes === undefined || release === undefined) return seat
      const letGo = (atMs: number): void => {
        if (heldBytes() > HELD_BYTES_MAX) release(atMs)
      }
      return {
        ...seat,
        ...(fromClient === undefined
          ? {}
          : {
              fromClient(signal: Ask, atMs: number) {
                fromClient(signal, atMs)
                letGo(atMs)
              },
            }),
        ...(fromServer === undefined
          ? {}
          : {
              fromServer(signal: Reply, atMs: number) {
                fromServer(signal, atMs)
                letGo(atMs)
              },
            }),
      }
    },
  }
}
