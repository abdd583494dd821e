/** Where in an exchange a cut falls; each place is a small seat that strikes once. */
import { isEvent, meaningOf } from '../core/meaning.ts'
import type { Out, Seat } from '../core/seat.ts'
import type { Head, Piece } from '../core/signal.ts'
import { shapeOf, skip, whyNoEvents } from './body-shape.ts'
import { afterCharacter, insideEvent } from './cut-inside.ts'
import type { Strike } from './cut-strike.ts'
import { eventGate, passWhole } from './whole-events.ts'

export type CutPlace =
  | { readonly afterMs: number }
  | { readonly afterBytes: number }
  | { readonly afterEvents: number }
  | { readonly before: 'result' | 'request' }
  | { readonly inside: 'event' | 'character'; readonly nth: number }

export function sitCutting(out: Out, place: CutPlace, strike: Strike): Seat {
  if ('afterMs' in place) return afterTime(out, place.afterMs, strike)
  if ('afterBytes' in place) return onPieces(out, strike, afterBytes(out, place.afterBytes, strike))
  if ('afterEvents' in place) return afterEvents(out, place.afterEvents, strike)
  if ('inside' in place) {
    return place.inside === 'event' ? insideEvent(out, place.nth, strike) : onPlain(out, strike, afterCharacter(out, place.nth, strike))
  }
  return place.before === 'result' ? beforeResult(out, strike) : beforeRequest(out, strike)
}

/** No chunk passes through it; the head does where a clean end is wanted, which depends on it. */
function afterTime(out: Out, afterMs: number, strike: Strike): Seat {
  let head: Head | null = null
  const timer: Seat = {
    opened: (atMs) => out.wakeAt(atMs + afterMs),
    wake() {
      if (strike.isLet()) strike.now(head)
    },
  }
  if (!strike.needsHead) return timer
  return {
    ...timer,
    fromServer(signal) {
      if (signal.is === 'head') head = signal
      out.toClient(signal)
    },
  }
}

/** `pass` lets a piece go on, whole or in part, and answers whether the cut comes now. */
type PassPiece = (piece: Piece) => boolean

function onPieces(out: Out, strike: Strike, pass: PassPiece): Seat {
  let head: Head | null = null
  return {
    fromServer(signal) {
      if (signal.is === 'head') head = signal
      if (signal.is !== 'piece') out.toClient(signal)
      else if (pass(signal)) strike.now(head)
    },
  }
}

/** The same, of bodies that can be read. */
function onPlain(out: Out, strike: Strike, pass: PassPiece): Seat {
  const seat = onPieces(out, strike, pass)
  return {
    fromServer(signal, atMs) {
      if (signal.is === 'head' && shapeOf(signal.rawHeaders) === 'encoded') skip(out, 'the body is encoded: its characters cannot be seen')
      seat.fromServer?.(signal, atMs)
    },
  }
}

function afterBytes(out: Out, bytes: number, strike: Strike): PassPiece {
  let left = bytes
  return (piece) => {
    const passes = Math.min(left, piece.bytes.length)
    left -= passes
    const isDue = left === 0 && strike.isLet()
    if (!isDue || passes === piece.bytes.length) out.toClient(piece)
    else out.toClient({ is: 'piece', bytes: piece.bytes.subarray(0, passes), mark: null })
    return isDue
  }
}

function afterEvents(out: Out, events: number, strike: Strike): Seat {
  let left = events
  let head: Head | null = null
  return {
    fromServer(signal) {
      if (signal.is === 'head') {
        head = signal
        const shape = shapeOf(signal.rawHeaders)
        if (shape !== 'events') skip(out, whyNoEvents(shape))
      }
      out.toClient(signal)
      if (signal.is !== 'piece' || signal.mark === null || !isEvent(signal.mark)) return
      left -= 1
      if (left === 0 && strike.isLet()) strike.now(head)
    },
  }
}

/** Of a body without events, all of it is the result. */
function beforeResult(out: Out, strike: Strike): Seat {
  let head: Head | null = null
  let hasEvents = false
  const gate = eventGate(out, (event) => {
    if (meaningOf(event.mark).is === 'result' && strike.isLet()) strike.now(head)
    else passWhole(out, event)
  })
  return {
    fromServer(signal) {
      if (signal.is === 'piece') {
        if (hasEvents) gate.take(signal)
        else if (strike.isLet()) strike.now(head)
        else out.toClient(signal)
        return
      }
      if (signal.is === 'head') {
        head = signal
        const shape = shapeOf(signal.rawHeaders)
        hasEvents = shape === 'events'
        if (shape === 'encoded') skip(out, whyNoEvents(shape))
      } else if (signal.is !== 'interim') gate.flush()
      out.toClient(signal)
    },
    release: gate.flush,
    heldBytes: gate.heldBytes,
  }
}

function beforeRequest(out: Out, strike: Strike): Seat {
  return {
    fromClient(signal) {
      if (signal.is === 'request' && strike.isLet()) strike.now(null)
      else out.toServer(signal)
    },
  }
}
