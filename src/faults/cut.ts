/** Cuts the response: after a time, so many bytes or events; before its result; or before the server is asked. */

import { isEvent, meaningOf } from '../core/meaning.ts'
import type { Out, Seat, SeatPlan } from '../core/seat.ts'
import type { Break, Cause, Ending, Head, Piece } from '../core/signal.ts'
import { cutting, lost } from '../core/signal.ts'
import { bodyHasEvents } from '../core/sse-scanner.ts'
import { eventGate } from './whole-events.ts'

export interface CutAsked {
  readonly when:
    | { readonly afterMs: number }
    | { readonly afterBytes: number }
    | { readonly afterEvents: number }
    | { readonly before: 'result' | 'request' }
  readonly ending: Ending
  readonly upstream: Break | 'none'
}

export function cut(name: string, { when, ending, upstream }: CutAsked): SeatPlan {
  const cause: Cause = { kind: 'fault', seat: name }
  return {
    name,
    sit(out) {
      const strike = (head: Head | null): void => {
        out.toClient(cutting(ending, head, cause))
        if (upstream !== 'none') out.toServer(lost(upstream, cause))
      }
      if ('afterMs' in when) return afterTime(out, when.afterMs, ending, strike)
      if ('afterBytes' in when) return onPieces(out, afterBytes(out, when.afterBytes), strike)
      if ('afterEvents' in when) return onPieces(out, afterEvents(out, when.afterEvents), strike)
      if (when.before === 'result') return beforeResult(out, strike)
      return { fromClient: () => strike(null) }
    },
  }
}

type Strike = (head: Head | null) => void

function afterTime(out: Out, afterMs: number, ending: Ending, strike: Strike): Seat {
  let head: Head | null = null
  const timer: Seat = { opened: (atMs) => out.wakeAt(atMs + afterMs), wake: () => strike(head) }
  if (ending !== 'clean') return timer // only a clean ending needs to know the head
  return {
    ...timer,
    fromServer(signal) {
      if (signal.is === 'head') head = signal
      out.toClient(signal)
    },
  }
}

/** `pass` lets a piece go on, whole or in part, and answers whether the cut comes now. */
function onPieces(out: Out, pass: (piece: Piece) => boolean, strike: Strike): Seat {
  let head: Head | null = null
  return {
    fromServer(signal) {
      if (signal.is === 'head') head = signal
      if (signal.is !== 'piece') out.toClient(signal)
      else if (pass(signal)) strike(head)
    },
  }
}

function afterBytes(out: Out, bytes: number): (piece: Piece) => boolean {
  let left = bytes
  return (piece) => {
    const passes = Math.min(left, piece.bytes.length)
    left -= passes
    if (passes === piece.bytes.length) out.toClient(piece)
    else if (passes > 0) out.toClient({ is: 'piece', bytes: piece.bytes.subarray(0, passes), mark: null })
    return left === 0
  }
}

function afterEvents(out: Out, events: number): (piece: Piece) => boolean {
  let left = events
  return (piece) => {
    out.toClient(piece)
    if (piece.mark !== null && isEvent(piece.mark)) left -= 1
    return left === 0
  }
}

/** Of a body without events, all of it is the result. */
function beforeResult(out: Out, strike: Strike): Seat {
  let head: Head | null = null
  let hasEvents = false
  const gate = eventGate(out, ({ mark }) => {
    if (mark === null || meaningOf(mark).is !== 'result') return true
    strike(head)
    return false
  })
  return {
    fromServer(signal) {
      if (signal.is === 'piece') return hasEvents ? gate.take(signal) : strike(head)
      if (signal.is === 'head') {
        head = signal
        hasEvents = bodyHasEvents(signal.rawHeaders)
      } else if (signal.is !== 'interim') gate.flush()
      out.toClient(signal)
    },
    release: gate.flush,
    heldBytes: gate.heldBytes,
  }
}
