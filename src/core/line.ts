/**
 * Runs one exchange's seats: client · seats[0] … seats[n−1] · server; both ends sit in it too.
 * Neighbours call each other directly; what goes against the current waits until the current call is done.
 */
import type { Ends, Line } from './ends.ts'
import type { LineState } from './line-run.ts'
import {
  closeByClient,
  createLineState,
  deliverToClient,
  deliverToServer,
  isDone,
  moveTo,
  remove,
  sendToClient,
  sendToServer,
  settle,
  wakeNext,
} from './line-run.ts'
import { createPressure } from './pressure.ts'
import type { SeatPlan } from './seat.ts'
import type { Ask, Cause, Reply, Side } from './signal.ts'
import { lost } from './signal.ts'

interface SeatedLine extends Line {
  readonly state: LineState
}

export function createLine(plans: readonly SeatPlan[], ends: Ends, random: () => number): Line {
  const line: SeatedLine = {
    state: createLineState(plans, ends, random),
    open,
    fromServer,
    fromClient,
    wake,
    pressed,
    release,
    order,
    wakeAtMs,
    heldBytes,
    isEmpty,
  }
  return line
}

function open(this: SeatedLine, atMs: number): void {
  const { state } = this
  state.nowMs = atMs
  for (const { seat } of state.slots) seat.opened?.(atMs)
  settle(state)
}

function fromServer(this: SeatedLine, signal: Reply, atMs: number): void {
  const { state } = this
  moveTo(state, atMs)
  sendToClient(state, state.server, signal)
  if (state.later.length > 0 || state.isPressureStale) settle(state)
}

function fromClient(this: SeatedLine, signal: Ask, atMs: number): void {
  const { state } = this
  const { client } = state
  moveTo(state, atMs)
  if (client.server !== 'open') return
  if (signal.is === 'lost') {
    closeByClient(state, signal.cause, signal.ending)
    deliverToServer(state, client.serverward, signal)
  } else sendToServer(state, client, signal)
  if (state.later.length > 0 || state.isPressureStale) settle(state)
}

function wake(this: SeatedLine, atMs: number): void {
  const { state } = this
  while (state.nextMs <= atMs) wakeNext(state, state.nextMs)
}

function pressed(this: SeatedLine, side: Side, isBlocked: boolean, atMs: number): void {
  const { state } = this
  moveTo(state, atMs)
  state.pressure ??= createPressure()
  state.pressure.blocked = { ...state.pressure.blocked, [side]: isBlocked }
  state.isPressureStale = true
  settle(state)
}

function release(this: SeatedLine, names: ReadonlySet<string>, atMs: number): void {
  const { state } = this
  moveTo(state, atMs)
  for (const slot of state.slots.filter(({ name }) => names.has(name))) {
    slot.seat.release?.(atMs)
    // What it hid from the server is told now.
    if (slot.client !== 'open' && slot.server === 'open' && slot.cause !== null) sendToServer(state, slot, lost('fin', slot.cause))
    remove(state, slot)
    settle(state)
  }
}

function order(this: SeatedLine, ending: 'fin' | 'rst', cause: Cause, atMs: number): void {
  const { state } = this
  const { client } = state
  moveTo(state, atMs)
  if (client.server !== 'open') return
  deliverToClient(state, client, lost(ending, cause))
  deliverToServer(state, client.serverward, lost(ending, cause))
  settle(state)
}

function wakeAtMs(this: SeatedLine): number | null {
  const { state } = this
  return state.nextMs === Infinity || isDone(state) ? null : state.nextMs
}

function heldBytes(this: SeatedLine): number {
  let bytes = 0
  for (const { seat } of this.state.holders) bytes += seat.heldBytes?.() ?? 0
  return bytes
}

function isEmpty(this: SeatedLine): boolean {
  return this.state.slots.length === 0
}
