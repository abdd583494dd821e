/** A hop's buffer: holds the response's bytes, and its head if asked, until its mode lets them go. */
import { meaningOf } from '../core/meaning.ts'
import type { Out, Seat, SeatPlan } from '../core/seat.ts'
import type { End, Head, Lost, Piece, RawHeaders } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import { bodyHasEvents } from '../core/sse-scanner.ts'
import { createHeld } from './held.ts'
import type { Buffering } from './hop.ts'

/** Whether this buffering does nothing at all, so that nobody need sit there. */
export const isNoBuffer = ({ mode, holdHeaders, sized }: Buffering): boolean =>
  passesAtOnce(mode) && holdHeaders === false && sized === undefined

const passesAtOnce = (mode: Buffering['mode']): boolean =>
  mode === 'none' || (typeof mode === 'object' && 'gzip' in mode && mode.gzip === 'flushed')

/** Whether this hop takes what the server sends though its client does not read: it has the room, or makes it on disk. */
const readsOn = ({ mode, holdHeaders }: Buffering): boolean =>
  passesAtOnce(mode) ? holdHeaders === true : mode !== 'one-behind' && !(typeof mode === 'object' && 'everyMs' in mode)

/** Whether to this hop that loss is an end of the body, whole or not, so that nothing held is lost by it. `isSized`: held in the pages of `sized`. */
type EndsBody = (loss: Lost, isSized: boolean) => boolean

export function bufferSeat(name: string, buffering: Buffering, endsBody: EndsBody): SeatPlan {
  return { name, sit: (out) => sitBuffering(out, buffering, endsBody) }
}

function sitBuffering(out: Out, buffering: Buffering, endsBody: EndsBody): Seat {
  const { holdHeaders, honours, sized } = buffering
  const everyMs = typeof buffering.mode === 'object' && 'everyMs' in buffering.mode ? buffering.mode.everyMs : null
  let { mode, atCut } = buffering
  let isPaged = false // as `sized` says
  let head: { readonly signal: Head; readonly sinceMs: number } | null = null // held, not yet passed on
  const held = createHeld()
  let isClientBlocked = false
  let isDue = false // something may go as soon as the client reads …
  let dueBytes = 0 // … so much of the body, and the head
  let last: End | Lost | null = null // waits behind what is held
  let hasEvents = false // else a piece counts as one

  function letGo(bytes: number, atMs: number): void {
    isDue = true
    dueBytes = Math.max(dueBytes, bytes)
    if (!isClientBlocked) pour(atMs)
  }
  function pour(atMs: number): void {
    const sinceMs = head?.sinceMs ?? held.sinceMs()
    const passing = held.take(dueBytes)
    isDue = false
    dueBytes = 0
    if (sinceMs !== null && atMs > sinceMs)
      out.note({ is: 'held', forMs: atMs - sinceMs, bytes: passing.reduce((sum, { bytes }) => sum + bytes.length, 0) })
    passHead()
    for (const piece of passing) out.toClient(piece)
    if (held.bytes() === 0 && everyMs !== null) out.wakeAt(null)
    if (last === null) return
    const signal = last
    last = null
    out.toClient(signal)
  }
  function passHead(): void {
    if (head === null) return
    const { signal } = head
    head = null
    out.toClient(signal)
  }
  const isHolding = (): boolean => head !== null || held.bytes() > 0

  function takeHead(signal: Head, atMs: number): void {
    hasEvents = bodyHasEvents(signal.rawHeaders)
    const isEncoded = headerOf(signal.rawHeaders, 'content-encoding') !== null
    if (typeof mode === 'object' && 'gzip' in mode && isEncoded) mode = 'none' // it compresses nothing twice
    const isSized = headerOf(signal.rawHeaders, 'content-length') !== null
    if (isSized && sized !== undefined) {
      isPaged = true
      mode = { bytes: sized.bytes }
      atCut = sized.atCut
    }
    const isHeld = holdHeaders === 'sized' ? isSized : holdHeaders
    if (!isHeld) return out.toClient(signal)
    head = { signal, sinceMs: atMs }
    if (everyMs !== null) out.wakeAt(atMs + everyMs)
  }
  function takePiece(piece: Piece, atMs: number): void {
    // An event's end that was known only with the next byte, and its bytes went with the last page: it is behind them, not held.
    if (piece.bytes.length === 0 && held.bytes() === 0) return out.toClient(piece)
    const before = held.last()
    if (mode === 'one-behind' && before !== null && (!hasEvents || before.mark !== null)) letGo(held.bytes(), atMs)
    const isFirst = !isHolding()
    held.push(piece, atMs)
    if (passesAtOnce(mode)) letGo(held.bytes(), atMs)
    else if (everyMs !== null) {
      if (isFirst) out.wakeAt(atMs + everyMs)
    } else if (typeof mode !== 'object') return
    else if ('gzip' in mode) {
      if (mode.gzip === 'head-then-held') passHead()
    } else if ('bytes' in mode && held.bytes() >= mode.bytes) letGo(held.bytes() - (held.bytes() % mode.bytes), atMs) // whole pages, as nginx
  }
  function takeEnd(signal: End, atMs: number): void {
    if (!isHolding()) return out.toClient(signal)
    last = signal
    letGo(held.bytes(), atMs)
  }
  /** A cut waits for nobody: what is to be flushed goes on whether the client reads or not. */
  function takeLoss(signal: Lost, atMs: number): void {
    if (signal.isSilent === true && everyMs !== null && isHolding()) {
      last = signal // nothing is known of it here: the time releases, as ever
      return
    }
    isClientBlocked = false
    last = signal
    const isFlushed = signal.isSilent !== true && (atCut === 'flush' || endsBody(signal, isPaged))
    if (!isFlushed) {
      tellDropped(out, held.take(held.bytes()))
      if (atCut !== 'headers' || signal.isSilent === true) head = null
    }
    letGo(held.bytes(), atMs)
  }

  return {
    fromServer(signal, atMs) {
      if (signal.is === 'head') {
        const isSwitchedOff = honours.some((header) => headerOf(signal.rawHeaders, header)?.toLowerCase() === 'no')
        const passing = honours.length === 0 ? signal : { ...signal, rawHeaders: without(signal.rawHeaders, honours) }
        if (!isSwitchedOff) return takeHead(passing, atMs)
        out.toClient(passing)
        out.leave()
      } else if (signal.is === 'piece') takePiece(signal, atMs)
      else if (signal.is === 'end') takeEnd(signal, atMs)
      else if (signal.is === 'lost') takeLoss(signal, atMs)
      else out.toClient(signal)
    },
    wake: (atMs) => letGo(held.bytes(), atMs),
    release(atMs) {
      isClientBlocked = false
      letGo(held.bytes(), atMs)
    },
    pressed(side, isBlocked, atMs) {
      if (side === 'server') return out.hold('client', isBlocked)
      isClientBlocked = isBlocked
      if (!readsOn(buffering)) out.hold('server', isBlocked)
      if (!isBlocked && isDue) pour(atMs)
    },
    heldBytes: held.bytes,
  }
}

/** The names it obeys are for this hop alone: it does not pass them on. */
function without(rawHeaders: RawHeaders, names: readonly string[]): RawHeaders {
  return rawHeaders.filter((_, index) => !names.includes((rawHeaders[index - (index % 2)] ?? '').toLowerCase()))
}

function tellDropped(out: Out, pieces: readonly Piece[]): void {
  for (const { mark } of pieces) {
    if (mark === null) continue
    const { is } = meaningOf(mark)
    out.note({ is: 'dropped', what: is === 'progress' || is === 'comment' || is === 'result' ? is : 'event' })
  }
  if (pieces.length > 0 && pieces.every(({ mark }) => mark === null)) out.note({ is: 'dropped', what: 'bytes' })
}
