/** The line from outside: what it is told, and what it asks of the wire (or of a test). */
import type { Note } from './seat.ts'
import type { Ask, Cause, Ending, Reply, Side } from './signal.ts'

/** The two ends of the line, as the wire (or a test) provides them. */
export interface Ends {
  toClient(signal: Reply, atMs: number): void
  toServer(signal: Ask, atMs: number): void
  hold(from: Side, isHeld: boolean, atMs: number): void
  /** The client's response is over. Told once, with the first cause. */
  closed(cause: Cause, ending: Ending, atMs: number): void
  /** A seat says what it did. */
  noted?(seat: string, note: Note, atMs: number): void
  /** Sends the request once more; absent: never. */
  again?(): boolean
  /** May a seat cut now? Absent: always. */
  mayCut?(cause: Cause, atMs: number): boolean
}

export interface Line {
  open(atMs: number): void
  fromClient(signal: Ask, atMs: number): void
  fromServer(signal: Reply, atMs: number): void
  wake(atMs: number): void
  pressed(side: Side, isBlocked: boolean, atMs: number): void
  /** Takes away the seats of these names. */
  release(names: ReadonlySet<string>, atMs: number): void
  /** Cuts at the client's edge, now. */
  order(ending: 'fin' | 'rst', cause: Cause, atMs: number): void
  /** No later than the earliest wake anybody wants; a wake too early does no harm. */
  wakeAtMs(): number | null
  heldBytes(): number
  /** Nobody sits here: the wire may pass chunks by. */
  isEmpty(): boolean
}
