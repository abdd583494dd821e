/** The two ends of a line with seats, and what its seats ask of the exchange: one set of functions for all exchanges. */
import type { EndsOf } from '../core/empty-line.ts'
import type { Ends } from '../core/ends.ts'
import type { Note } from '../core/seat.ts'
import type { Ask, Cause, Ending, Reply, Side } from '../core/signal.ts'
import type { Exchange } from './exchange.ts'
import type { Seating } from './line-planner.ts'

interface SeatedEnds extends Ends {
  readonly ends: EndsOf<Exchange>
  readonly x: Exchange
  readonly seating: Seating
}

export function createSeatedEnds(ends: EndsOf<Exchange>, x: Exchange, seating: Seating): Ends {
  const seated: SeatedEnds = { ends, x, seating, toClient, toServer, hold, closed, noted, mayCut, again }
  return seated
}

function toClient(this: SeatedEnds, signal: Reply, atMs: number): void {
  this.ends.toClient(this.x, signal, atMs)
}
function toServer(this: SeatedEnds, signal: Ask, atMs: number): void {
  this.ends.toServer(this.x, signal, atMs)
}
function hold(this: SeatedEnds, from: Side, isHeld: boolean): void {
  this.ends.hold(this.x, from, isHeld)
}
function closed(this: SeatedEnds, cause: Cause, ending: Ending, atMs: number): void {
  this.ends.closed(this.x, cause, ending, atMs)
}
function noted(this: SeatedEnds, seat: string, note: Note): void {
  const { x } = this
  x.tell({ kind: 'noted', atMs: x.turnMs, seat, note })
}
function mayCut(this: SeatedEnds, cause: Cause): boolean {
  return this.seating.mayCut(cause, this.x.turnMs)
}
function again(this: SeatedEnds): boolean {
  const { leg } = this.x
  return leg?.verbs.again?.(leg) ?? false
}
