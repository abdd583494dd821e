/**
 * Inside a line: how signals go from seat to seat, who is woken, and what leaves at its ends. Functions on one state, shared by all
 * lines: a set of closures for every seat of every exchange cost many times what the seats do.
 */
import { assert } from './assert.ts'
import type { Ends } from './ends.ts'
import type { Pressure } from './pressure.ts'
import { carryPressure, createPressure } from './pressure.ts'
import type { Note, Out, Seat, SeatPlan } from './seat.ts'
import type { Ask, Cause, Ending, Reply, Side } from './signal.ts'
import { clientAbort, lost } from './signal.ts'
import type { Slot } from './slot.ts'
import { createSlot } from './slot.ts'

export interface LineState {
  readonly ends: Ends
  nowMs: number
  nextMs: number // never later than any seat's wake; may be earlier
  current: Side | null // where the running call is heading
  readonly later: { readonly from: Slot; readonly to: Side; readonly signal: Reply | Ask }[] // what was sent against the current
  pressure: Pressure | null
  isPressureStale: boolean
  client: Slot
  server: Slot
  slots: readonly Slot[]
  /** Those that may hold bytes. */
  holders: readonly Slot[]
}

interface EndSeat extends Seat {
  readonly line: LineState
}

interface SlotOut extends Out {
  readonly line: LineState
  readonly slot: Slot
}

export function createLineState(plans: readonly SeatPlan[], ends: Ends, random: () => number): LineState {
  const line = {
    ends,
    nowMs: -Infinity,
    nextMs: Infinity,
    current: null,
    later: [],
    pressure: null,
    isPressureStale: false,
    client: null,
    server: null,
    slots: NO_SLOTS,
    holders: NO_SLOTS,
  } as unknown as LineState
  const clientEnd: EndSeat = { line, fromServer: leaveToClient as NonNullable<Seat['fromServer']> }
  const serverEnd: EndSeat = { line, fromClient: leaveToServer as NonNullable<Seat['fromClient']> }
  line.client = createSlot('client', clientEnd)
  line.server = createSlot('server', serverEnd)
  line.slots = plans.map((plan) => {
    const slot = createSlot(plan.name, NOBODY)
    slot.seat = plan.sit(outOf(line, slot), random)
    return slot
  })
  link(line)
  return line
}

const NOBODY: Seat = {}
const NO_SLOTS: readonly Slot[] = []

// A copy of it with some verbs replaced still speaks for the same seat.
const outOf = (line: LineState, slot: Slot): SlotOut => ({
  line,
  slot,
  toClient,
  toServer,
  wakeAt,
  hold,
  note,
  mayCut,
  again,
  leave,
})

function toClient(this: SlotOut, signal: Reply): void {
  sendToClient(this.line, this.slot, signal)
}
function toServer(this: SlotOut, signal: Ask): void {
  sendToServer(this.line, this.slot, signal)
}
function wakeAt(this: SlotOut, atMs: number | null): void {
  this.slot.wakeAtMs = atMs ?? Infinity
  if (this.slot.wakeAtMs < this.line.nextMs) this.line.nextMs = this.slot.wakeAtMs
}
function hold(this: SlotOut, from: Side, isHeld: boolean): void {
  this.slot.holds = { ...this.slot.holds, [from]: isHeld }
  this.line.isPressureStale = true
}
function note(this: SlotOut, said: Note): void {
  this.line.ends.noted?.(this.slot.name, said, this.line.nowMs)
}
function mayCut(this: SlotOut, cause: Cause): boolean {
  return this.line.ends.mayCut?.(cause, this.line.nowMs) ?? true
}
function again(this: SlotOut): boolean {
  return this.line.ends.again?.() ?? false
}
function leave(this: SlotOut): void {
  remove(this.line, this.slot)
}

// An edge takes one `end` or `lost` towards the client, one `asked` and one `lost` towards the server;
// after a `lost` in either direction nothing crosses it, and after the response's end nobody leaves.

export function sendToClient(line: LineState, from: Slot, signal: Reply): void {
  if (from.client !== 'open') return
  if (signal.is === 'end' || signal.is === 'lost') {
    from.client = signal.is === 'end' ? 'ended' : 'lost'
    from.cause = signal.cause
  }
  if (line.current === 'server') line.later.push({ from, to: 'client', signal })
  else deliverToClient(line, from.clientward, signal)
}

export function deliverToClient(line: LineState, slot: Slot, signal: Reply): void {
  if (slot.server !== 'open') return
  if (signal.is === 'end') slot.server = 'ended'
  else if (signal.is === 'lost') slot.server = 'lost'
  const before = line.current
  line.current = 'client'
  slot.seat.fromServer?.(signal, line.nowMs)
  line.current = before
}

export function sendToServer(line: LineState, from: Slot, signal: Ask): void {
  if (from.server === 'lost' || (from.server === 'ended' && isLeaving(signal))) return
  if (signal.is === 'lost') from.server = 'lost'
  else if (signal.is === 'asked') {
    if (from.hasAsked) return
    from.hasAsked = true
  }
  if (line.current === 'client') line.later.push({ from, to: 'server', signal })
  else deliverToServer(line, from.serverward, signal)
}

export function deliverToServer(line: LineState, slot: Slot, signal: Ask): void {
  if (slot.client === 'lost' || (slot.client === 'ended' && isLeaving(signal))) return
  if (signal.is === 'lost') {
    slot.client = 'lost'
    slot.cause = signal.cause
  }
  const before = line.current
  line.current = 'server'
  slot.seat.fromClient?.(signal, line.nowMs)
  line.current = before
}

const isLeaving = (signal: Ask): boolean => signal.is === 'lost' || signal.is === 'half'

function leaveToClient(this: EndSeat, signal: Reply): void {
  const { ends, nowMs } = this.line
  ends.toClient(signal, nowMs)
  if (signal.is === 'end') ends.closed(signal.cause, 'clean', nowMs)
  else if (signal.is === 'lost') ends.closed(signal.cause, signal.ending, nowMs)
}

function leaveToServer(this: EndSeat, signal: Ask): void {
  const { line } = this
  if (signal.is !== 'half') return line.ends.toServer(signal, line.nowMs)
  // Nobody minded the client's FIN, so it counts as its leaving.
  line.server.client = 'lost'
  closeByClient(line, clientAbort, 'fin')
  line.ends.toServer(lost('fin', clientAbort), line.nowMs)
}

export function closeByClient({ client, ends, nowMs }: LineState, cause: Cause, ending: Ending): void {
  if (client.server !== 'open') return
  client.server = 'lost'
  ends.closed(cause, ending, nowMs)
}

/** Both ends are over: nothing is armed any more. Where a leaving is hidden, seats go on with the server. */
export const isDone = ({ client, server }: LineState): boolean => client.server !== 'open' && server.client !== 'open'

export function moveTo(line: LineState, atMs: number): void {
  while (line.nextMs < atMs) wakeNext(line, line.nextMs)
  assert(atMs >= line.nowMs, 'time goes forward')
  line.nowMs = atMs
}

/** Wakes the seat most overdue; on a tie the one nearest the server, whose traffic the others then see. */
export function wakeNext(line: LineState, dueMs: number): void {
  let due: Slot | null = null
  line.nextMs = Infinity
  for (const slot of line.slots) {
    if (slot.wakeAtMs <= dueMs && (due === null || slot.wakeAtMs <= due.wakeAtMs)) due = slot
    if (slot.wakeAtMs < line.nextMs) line.nextMs = slot.wakeAtMs
  }
  if (due === null) return
  const { wakeAtMs: dueAtMs } = due
  due.wakeAtMs = Infinity
  if (isDone(line)) return
  line.nowMs = Math.max(line.nowMs, dueAtMs)
  due.seat.wake?.(line.nowMs)
  settle(line)
  assert(due.wakeAtMs > line.nowMs, `${due.name}: a wake must move forward`)
}

/** What went against the current, then what the seats now want held. */
export function settle(line: LineState): void {
  for (let next = line.later.shift(); next !== undefined; next = line.later.shift()) {
    if (next.to === 'client') deliverToClient(line, next.from.clientward, next.signal as Reply)
    else deliverToServer(line, next.from.serverward, next.signal as Ask)
  }
  if (!line.isPressureStale) return
  line.isPressureStale = false
  line.pressure ??= createPressure()
  carryPressure(line.pressure, line.slots, line.nowMs, (from, isHeld) => line.ends.hold(from, isHeld, line.nowMs))
  settle(line)
}

export function remove(line: LineState, slot: Slot): void {
  slot.wakeAtMs = Infinity
  line.slots = line.slots.filter((other) => other !== slot)
  line.isPressureStale = true
  link(line)
}

const holds = ({ seat }: Slot): boolean => seat.heldBytes !== undefined

/** Who is next on each road: only those with a verb for it; and who is asked what it holds. */
function link(line: LineState): void {
  const { client, server, slots } = line
  line.holders = slots.some(holds) ? slots.filter(holds) : NO_SLOTS
  let next = client
  for (const slot of slots) {
    slot.clientward = next
    if (slot.seat.fromServer !== undefined) next = slot
  }
  server.clientward = next
  next = server
  for (let at = slots.length - 1; at >= 0; at -= 1) {
    const slot = slots[at] as Slot
    slot.serverward = next
    if (slot.seat.fromClient !== undefined) next = slot
  }
  client.serverward = next
}
