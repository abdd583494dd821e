/**
 * Splits an SSE body where its events end, without copying, holding or changing a byte.
 * Rules: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */

import type { EventMark, Piece, RawHeaders } from './signal.ts'
import { headerOf } from './signal.ts'

export interface SseScanner {
  /** Hands on `chunk` as pieces at once. Every split of a stream marks the same bytes. */
  feed(chunk: Uint8Array, take: (piece: Piece) => void): void
  /** The body is over: an event ended by a last CR is told now. */
  finish(take: (piece: Piece) => void): void
}

const LF = 0x0a
const CR = 0x0d
const NO_BYTES = new Uint8Array(0)

export function createSseScanner({ eventBytesMax }: { eventBytesMax: number }): SseScanner {
  // What the unfinished event already sent ahead, for its mark to read.
  let earlier: Uint8Array[] | null = null
  let earlierBytes = 0
  let isLineEmpty = true
  let isBlockEmpty = true
  // The last byte was a CR that ended a line: a LF now belongs to that ending.
  let afterCr = false
  // That CR also ended an event: whether a LF is its last byte, the next byte tells.
  let isEndDue = false

  function feed(chunk: Uint8Array, take: (piece: Piece) => void): void {
    let start = 0
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] as number
      if (isEndDue) {
        isEndDue = false
        const until = byte === LF ? index + 1 : index
        afterCr = false
        start = endEvent(chunk, start, until, take)
        if (byte === LF) continue
      }
      if (byte > CR || (byte !== LF && byte !== CR)) {
        isLineEmpty = false
        afterCr = false
        while ((chunk[index + 1] ?? 0) > CR) index += 1 // the rest of the line's text tells nothing
      } else if (byte === LF && afterCr) {
        afterCr = false
      } else {
        afterCr = byte === CR
        if (!isLineEmpty) isBlockEmpty = false
        else if (!isBlockEmpty) {
          if (afterCr) isEndDue = true
          else start = endEvent(chunk, start, index + 1, take)
        }
        isLineEmpty = true
      }
    }
    if (start === chunk.length) return
    const rest = start === 0 ? chunk : chunk.subarray(start)
    keep(rest)
    take({ is: 'piece', bytes: rest, mark: null })
  }

  function keep(bytes: Uint8Array): void {
    earlierBytes += bytes.length
    if (earlierBytes > eventBytesMax) earlier = null
    else if (earlier === null) earlier = [bytes]
    else earlier.push(bytes)
  }

  function endEvent(chunk: Uint8Array, start: number, until: number, take: (piece: Piece) => void): number {
    const bytes = start === 0 && until === chunk.length ? chunk : chunk.subarray(start, until)
    const mark: EventMark = { earlier, bytes, isTooLong: earlierBytes + bytes.length > eventBytesMax, meaning: null }
    earlier = null
    earlierBytes = 0
    isBlockEmpty = true
    take({ is: 'piece', bytes, mark })
    return until
  }

  return {
    feed,
    finish(take) {
      if (!isEndDue) return
      isEndDue = false
      endEvent(NO_BYTES, 0, 0, take)
    },
  }
}

/** Whether this body has events to show: an encoded one has none, and goes unmarked. */
export function bodyHasEvents(rawHeaders: RawHeaders): boolean {
  return headerOf(rawHeaders, 'content-encoding') === null && /^text\/event-stream\b/i.test(headerOf(rawHeaders, 'content-type') ?? '')
}
