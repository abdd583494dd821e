/** Backpressure along a line: which side takes no more, carried from seat to seat to whoever is to stop sending. */
import type { Side } from './signal.ts'
import type { Slot } from './slot.ts'

export interface Pressure {
  set(side: Side, isBlocked: boolean): void
  /** Walks both ways; a seat that answers for itself (`pressed`) stops it, and may hold the other side by its own will. */
  carry(slots: readonly Slot[], atMs: number): void
}

/** `hold` is told only what changes. */
export function createPressure(hold: (from: Side, isHeld: boolean) => void): Pressure {
  const blocked = { client: false, server: false }
  const held = { client: false, server: false }

  function carryFrom(from: Side, slots: readonly Slot[], atMs: number): void {
    const to = from === 'client' ? 'server' : 'client'
    let isBlocked = blocked[from]
    for (const slot of from === 'client' ? slots : slots.toReversed()) {
      const answers = slot.seat.pressed !== undefined
      if (answers && slot.knowsBlocked[from] !== isBlocked) {
        slot.knowsBlocked[from] = isBlocked
        slot.seat.pressed?.(from, isBlocked, atMs)
      }
      isBlocked = slot.holds[to] || (isBlocked && !answers)
    }
    if (isBlocked === held[to]) return
    held[to] = isBlocked
    hold(to, isBlocked)
  }

  return {
    set(side, isBlocked) {
      blocked[side] = isBlocked
    },
    carry(slots, atMs) {
      carryFrom('client', slots, atMs)
      carryFrom('server', slots, atMs)
    },
  }
}
