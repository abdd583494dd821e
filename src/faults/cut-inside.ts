/** Cuts that leave half of something: half an event, half a JSON body, half a character. */
import { concat, isEvent } from '../core/meaning.ts'
import type { Out, Seat } from '../core/seat.ts'
import type { Head, Piece } from '../core/signal.ts'
import { shapeOf, skip, whyNoEvents } from './body-shape.ts'
import type { Strike } from './cut-strike.ts'
import { createWholeBody } from './whole-body.ts'
import { eventGate, passWhole } from './whole-events.ts'

/** Lets the first half of the n-th event's bytes pass. A JSON body counts as one event. */
export function insideEvent(out: Out, nth: number, strike: Strike): Seat {
  let head: Head | null = null
  let seen = 0
  const strikeInHalf = (bytes: Uint8Array): void => {
    out.toClient({ is: 'piece', bytes: bytes.subarray(0, Math.max(1, Math.floor(bytes.length / 2))), mark: null })
    strike.now(head)
  }
  const gate = eventGate(out, (event) => {
    if (isEvent(event.mark)) seen += 1
    if (seen === nth && isEvent(event.mark) && strike.isLet()) strikeInHalf(concat(event.parts.map(({ bytes }) => bytes)))
    else passWhole(out, event)
  })
  const body = createWholeBody(out, (bytes) => {
    if (bytes.length > 0 && strike.isLet()) strikeInHalf(bytes)
    else return false
    return true
  })
  let isPlain = false
  return {
    fromServer(signal) {
      if (signal.is === 'head') {
        head = signal
        const shape = shapeOf(signal.rawHeaders)
        isPlain = shape === 'plain'
        if (shape === 'encoded') skip(out, whyNoEvents(shape))
        else if (isPlain && nth > 1) skip(out, 'the body is one message: there is no second')
        return out.toClient(signal)
      }
      if (isPlain) return body.take(signal)
      if (signal.is === 'piece') return gate.take(signal)
      if (signal.is !== 'interim') gate.flush()
      out.toClient(signal)
    },
    release() {
      gate.flush()
      body.flush()
    },
    heldBytes: () => gate.heldBytes() + body.heldBytes(),
  }
}

/** Lets the first byte of the n-th character of several bytes pass, and nothing after it. Bytes 0xC0 and up begin one in UTF-8. */
export function afterCharacter(out: Out, nth: number, strike: Strike): (piece: Piece) => boolean {
  let seen = 0
  return (piece) => {
    for (const [index, byte] of piece.bytes.entries()) {
      if (byte < 0xc0) continue
      seen += 1
      if (seen < nth) continue
      if (!strike.isLet()) break
      out.toClient({ is: 'piece', bytes: piece.bytes.subarray(0, index + 1), mark: null })
      return true
    }
    out.toClient(piece)
    return false
  }
}
