/** A seat's place in a line: its neighbours, its two edges, its wake. */
import type { Seat } from './seat.ts'
import type { Cause, Side } from './signal.ts'

/** `ended`: the response passed whole. `lost`: nothing crosses any more, either way. */
export type Edge = 'open' | 'ended' | 'lost'

/** Something that may be so towards either side. */
export type Sides = Readonly<Record<Side, boolean>>
export const NEITHER: Sides = { client: false, server: false }

export interface Slot {
  readonly name: string
  seat: Seat
  client: Edge // this seat's edge towards the client …
  server: Edge // … and towards the server
  cause: Cause | null // why the edge towards the client is over
  hasAsked: boolean
  wakeAtMs: number
  holds: Sides
  knowsBlocked: Sides
  clientward: Slot // the next with a `fromServer`: at last the client
  serverward: Slot // the next with a `fromClient`: at last the server
}

export function createSlot(name: string, seat: Seat): Slot {
  const slot = {
    name,
    seat,
    client: 'open',
    server: 'open',
    cause: null,
    hasAsked: false,
    wakeAtMs: Infinity,
    holds: NEITHER,
    knowsBlocked: NEITHER,
    clientward: null,
    serverward: null,
  } as unknown as Slot
  slot.clientward = slot.serverward = slot // until the line links it
  return slot
}
