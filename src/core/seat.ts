/**
 * A seat decides about one exchange: told what happened and when, it says what travels on.
 * It touches nothing but its `out`; the same calls at the same times give the same effects.
 */
import type { Ask, Cause, Reply, Side } from './signal.ts'

/** Drawn up once from configuration; takes its place anew in each line. */
export interface SeatPlan {
  readonly name: string
  sit(out: Out, random: () => number): Seat
}

/** Every verb is optional. A road whose verb is absent passes the seat by, and costs nothing. */
export interface Seat {
  opened?(atMs: number): void
  fromClient?(signal: Ask, atMs: number): void
  fromServer?(signal: Reply, atMs: number): void
  /** The time asked for has come. Late calls carry the due time, not the late one. */
  wake?(atMs: number): void
  /** That side takes no more for now, or does again. A seat with this verb answers for the other side itself. */
  pressed?(side: Side, isBlocked: boolean, atMs: number): void
  /** It is taken away: let go of all that is held, in order. It leaves the line right after. */
  release?(atMs: number): void
  heldBytes?(): number
}

/** What a seat says of its own doing. `held`: bytes let go after so long; the rest are decisions of a fault or limit. */
export type Note =
  | { readonly is: 'held'; readonly forMs: number; readonly bytes: number }
  /** `fired`: it acted, said once per exchange; `skipped`: it cannot act on this body, and `why`. */
  | { readonly is: 'decided'; readonly what: 'fired' | 'skipped' | 'exempt' | 'capped' | 'shadow'; readonly why?: string }
  | { readonly is: 'dropped'; readonly what: 'progress' | 'comment' | 'result' | 'event' | 'bytes' }

/** What a seat can do. */
export interface Out {
  toClient(signal: Reply): void
  toServer(signal: Ask): void
  /** When to be woken; each call replaces the last, `null` for never. */
  wakeAt(atMs: number | null): void
  /** Asks that side to stop sending, or to go on. */
  hold(from: Side, isHeld: boolean): void
  /** Says what this seat did, for the record and the metrics; changes nothing. */
  note(note: Note): void
  /** Whether a cut of this cause may be made now (`cutsPerMinuteMax`); a seat that hears no lets it be, for good. */
  mayCut(cause: Cause): boolean
  /** Gives the attempt under way up and sends the request once more (`request.retry`); false: that cannot be. */
  again(): boolean
  /** Nothing more to decide: the line closes ranks. */
  leave(): void
}

/** The same as data: what a recording `out` writes down. */
export type Effect =
  | { readonly do: 'toClient'; readonly signal: Reply; readonly atMs: number }
  | { readonly do: 'toServer'; readonly signal: Ask; readonly atMs: number }
  | { readonly do: 'hold'; readonly from: Side; readonly isHeld: boolean; readonly atMs: number }
