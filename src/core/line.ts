/**
 * Runs one exchange's seats: client · seats[0] … seats[n−1] · server; both ends sit in it too.
 * Neighbours call each other directly; what goes against the current waits until the current call is done.
 */
import { assert } from './assert.ts'
import type { Ends, Line } from './ends.ts'
import { createPressure } from './pressure.ts'
import type { Out, SeatPlan } from './seat.ts'
import type { Ask, Cause, Ending, Reply, Side } from './signal.ts'
import { clientAbort, lost } from './signal.ts'
import type { Slot } from './slot.ts'
import { createSlot } from './slot.ts'

export function createLine(plans: readonly SeatPlan[], ends: Ends, random: () => number): Line {
  let nowMs = -Infinity
  let nextMs = Infinity // never later than any seat's wake; may be earlier
  let current: Side | null = null // where the running call is heading
  const later: { from: Slot; to: Side; signal: Reply | Ask }[] = [] // what was sent against the current
  const pressure = createPressure((from, isHeld) => ends.hold(from, isHeld, nowMs))
  let isPressureStale = false

  const client = createSlot('client', { fromServer: leaveToClient })
  const server = createSlot('server', { fromClient: leaveToServer })
  let slots: readonly Slot[] = plans.map((plan) => {
    const slot = createSlot(plan.name, {})
    slot.seat = plan.sit(outOf(slot), random)
    return slot
  })
  link()

  function outOf(slot: Slot): Out {
    return {
      toClient: (signal) => sendToClient(slot, signal),
      toServer: (signal) => sendToServer(slot, signal),
      wakeAt(atMs) {
        slot.wakeAtMs = atMs ?? Infinity
        if (slot.wakeAtMs < nextMs) nextMs = slot.wakeAtMs
      },
      hold(from, isHeld) {
        slot.holds[from] = isHeld
        isPressureStale = true
      },
      note: (note) => ends.noted?.(slot.name, note, nowMs),
      mayCut: (cause) => ends.mayCut?.(cause, nowMs) ?? true,
      again: () => ends.again?.() ?? false,
      leave: () => remove(slot),
    }
  }

  // An edge takes one `end` or `lost` towards the client, one `asked` and one `lost` towards the server;
  // after a `lost` in either direction nothing crosses it, and after the response's end nobody leaves.

  function sendToClient(from: Slot, signal: Reply): void {
    if (from.client !== 'open') return
    if (signal.is === 'end' || signal.is === 'lost') {
      from.client = signal.is === 'end' ? 'ended' : 'lost'
      from.cause = signal.cause
    }
    if (current === 'server') {
      later.push({ from, to: 'client', signal })
      return
    }
    deliverToClient(from.clientward, signal)
  }

  function deliverToClient(slot: Slot, signal: Reply): void {
    if (slot.server !== 'open') return
    if (signal.is === 'end') slot.server = 'ended'
    else if (signal.is === 'lost') slot.server = 'lost'
    const before = current
    current = 'client'
    slot.seat.fromServer?.(signal, nowMs)
    current = before
  }

  function sendToServer(from: Slot, signal: Ask): void {
    if (from.server === 'lost' || (from.server === 'ended' && isLeaving(signal))) return
    if (signal.is === 'lost') from.server = 'lost'
    else if (signal.is === 'asked') {
      if (from.hasAsked) return
      from.hasAsked = true
    }
    if (current === 'client') {
      later.push({ from, to: 'server', signal })
      return
    }
    deliverToServer(from.serverward, signal)
  }

  function deliverToServer(slot: Slot, signal: Ask): void {
    if (slot.client === 'lost' || (slot.client === 'ended' && isLeaving(signal))) return
    if (signal.is === 'lost') {
      slot.client = 'lost'
      slot.cause = signal.cause
    }
    const before = current
    current = 'server'
    slot.seat.fromClient?.(signal, nowMs)
    current = before
  }

  function leaveToClient(signal: Reply): void {
    ends.toClient(signal, nowMs)
    if (signal.is === 'end') ends.closed(signal.cause, 'clean', nowMs)
    else if (signal.is === 'lost') ends.closed(signal.cause, signal.ending, nowMs)
  }

  function leaveToServer(signal: Ask): void {
    if (signal.is !== 'half') {
      ends.toServer(signal, nowMs)
      return
    }
    // Nobody minded the client's FIN, so it counts as its leaving.
    server.client = 'lost'
    closeByClient(clientAbort, 'fin')
    ends.toServer(lost('fin', clientAbort), nowMs)
  }

  function closeByClient(cause: Cause, ending: Ending): void {
    if (client.server !== 'open') return
    client.server = 'lost'
    ends.closed(cause, ending, nowMs)
  }

  /** Both ends are over: nothing is armed any more. Where a leaving is hidden, seats go on with the server. */
  function isDone(): boolean {
    return client.server !== 'open' && server.client !== 'open'
  }

  function moveTo(atMs: number): void {
    while (nextMs < atMs) wakeNext(nextMs)
    assert(atMs >= nowMs, 'time goes forward')
    nowMs = atMs
  }

  /** Wakes the seat most overdue; on a tie the one nearest the server, whose traffic the others then see. */
  function wakeNext(dueMs: number): void {
    let due: Slot | null = null
    nextMs = Infinity
    for (const slot of slots) {
      if (slot.wakeAtMs <= dueMs && (due === null || slot.wakeAtMs <= due.wakeAtMs)) due = slot
      if (slot.wakeAtMs < nextMs) nextMs = slot.wakeAtMs
    }
    if (due === null) return
    const wakeAtMs = due.wakeAtMs
    due.wakeAtMs = Infinity
    if (isDone()) return
    nowMs = Math.max(nowMs, wakeAtMs)
    due.seat.wake?.(nowMs)
    settle()
    assert(due.wakeAtMs > nowMs, `${due.name}: a wake must move forward`)
  }

  /** What went against the current, then what the seats now want held. */
  function settle(): void {
    for (let next = later.shift(); next !== undefined; next = later.shift()) {
      if (next.to === 'client') deliverToClient(next.from.clientward, next.signal as Reply)
      else deliverToServer(next.from.serverward, next.signal as Ask)
    }
    if (!isPressureStale) return
    isPressureStale = false
    pressure.carry(slots, nowMs)
    settle()
  }

  function remove(slot: Slot): void {
    slot.wakeAtMs = Infinity
    slots = slots.filter((other) => other !== slot)
    isPressureStale = true
    link()
  }

  /** Who is next on each road: only those with a verb for it. */
  function link(): void {
    let next = client
    for (const slot of [...slots, server]) {
      slot.clientward = next
      if (slot.seat.fromServer !== undefined) next = slot
    }
    next = server
    for (const slot of [client, ...slots].toReversed()) {
      slot.serverward = next
      if (slot.seat.fromClient !== undefined) next = slot
    }
  }

  return {
    open(atMs) {
      nowMs = atMs
      for (const slot of slots) slot.seat.opened?.(atMs)
      settle()
    },
    fromServer(signal, atMs) {
      moveTo(atMs)
      sendToClient(server, signal)
      if (later.length > 0 || isPressureStale) settle()
    },
    fromClient(signal, atMs) {
      moveTo(atMs)
      if (client.server !== 'open') return
      if (signal.is === 'lost') {
        closeByClient(signal.cause, signal.ending)
        deliverToServer(client.serverward, signal)
      } else sendToServer(client, signal)
      if (later.length > 0 || isPressureStale) settle()
    },
    wake(atMs) {
      while (nextMs <= atMs) wakeNext(nextMs)
    },
    pressed(side, isBlocked, atMs) {
      moveTo(atMs)
      pressure.set(side, isBlocked)
      isPressureStale = true
      settle()
    },
    release(names, atMs) {
      moveTo(atMs)
      for (const slot of slots.filter(({ name }) => names.has(name))) {
        slot.seat.release?.(atMs)
        // What it hid from the server is told now.
        if (slot.client !== 'open' && slot.server === 'open' && slot.cause !== null) sendToServer(slot, lost('fin', slot.cause))
        remove(slot)
        settle()
      }
    },
    order(ending, cause, atMs) {
      moveTo(atMs)
      if (client.server !== 'open') return
      deliverToClient(client, lost(ending, cause))
      deliverToServer(client.serverward, lost(ending, cause))
      settle()
    },
    wakeAtMs: () => (nextMs === Infinity || isDone() ? null : nextMs),
    heldBytes: () => slots.reduce((sum, { seat }) => sum + (seat.heldBytes?.() ?? 0), 0),
    isEmpty: () => slots.length === 0,
  }
}

const isLeaving = (signal: Ask): boolean => signal.is === 'lost' || signal.is === 'half'
