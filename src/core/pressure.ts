/** Backpressure along a line: which side takes no more, carried from seat to seat to whoever is to stop sending. */
import type { Side } from './signal.ts'
import type { Sides, Slot } from './slot.ts'
import { NEITHER } from './slot.ts'

export interface Pressure {
  /** Which ends take no more … */
  blocked: Sides
  /** … and which are asked to send no more. */
  held: Sides
}

export const createPressure = (): Pressure => ({ blocked: NEITHER, held: NEITHER })

/**
 * Walks both ways; a seat that answers for itself (`pressed`) stops it, and may hold the other side by its own will.
 * `hold` is told only what changes.
 */
export function carryPressure(pressure: Pressure, slots: readonly Slot[], atMs: number, hold: (from: Side, isHeld: boolean) => void): void {
  carryFrom('client', pressure, slots, atMs, hold)
  carryFrom('server', pressure, slots, atMs, hold)
}

function carryFrom(
  from: Side,
  pressure: Pressure,
  slots: readonly Slot[],
  atMs: number,
  hold: (from: Side, isHeld: boolean) => void,
): void {
  const to = from === 'client' ? 'server' : 'client'
  let isBlocked = pressure.blocked[from]
  for (const slot of from === 'client' ? slots : slots.toReversed()) {
    const answers = slot.seat.pressed !== undefined
    if (answers && slot.knowsBlocked[from] !== isBlocked) {
      slot.knowsBlocked = { ...slot.knowsBlocked, [from]: isBlocked }
      slot.seat.pressed?.(from, isBlocked, atMs)
    }
    isBlocked = slot.holds[to] || (isBlocked && !answers)
  }
  if (isBlocked === pressure.held[to]) return
  pressure.held = { ...pressure.held, [to]: isBlocked }
  hold(to, isBlocked)
}
