/** A hop's buffer: holds the response's bytes, and its head if asked, until its mode lets them go. */

import type { SeatPlan } from '../core/seat.ts'
import type { Head, Piece } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import { bodyHasEvents } from '../core/sse-scanner.ts'
import type { Hop } from './hop.ts'

type Buffering = NonNullable<Hop['buffering']>

export function bufferSeat(name: string, { mode, holdHeaders, atCut, honours }: Buffering): SeatPlan {
  return {
    name,
    sit(out) {
      let head: Head | null = null // held, not yet passed on
      let held: Piece[] = []
      let heldBytes = 0
      let isClientBlocked = false
      let isReleaseDue = false
      let hasEvents = false // else a piece counts as one

      function release(upToBytes: number): void {
        if (isClientBlocked) {
          isReleaseDue = true
          return
        }
        isReleaseDue = false
        out.wakeAt(null)
        const passing: Piece[] = []
        const kept: Piece[] = []
        let left = upToBytes
        for (const piece of held) {
          const fits = kept.length === 0 && piece.bytes.length <= left
          if (fits) passing.push(piece)
          else {
            if (left > 0) passing.push({ is: 'piece', bytes: piece.bytes.subarray(0, left), mark: null })
            kept.push(left > 0 ? { ...piece, bytes: piece.bytes.subarray(left) } : piece)
          }
          left = fits ? left - piece.bytes.length : 0
        }
        held = kept
        heldBytes -= upToBytes
        passHead()
        for (const piece of passing) out.toClient(piece)
      }
      const releaseAll = (): void => release(heldBytes)
      /** Whole pages only, as nginx does: what passes does not depend on how the stream was split. */
      const releasePages = (pageBytes: number): void => release(heldBytes - (heldBytes % pageBytes))

      function passHead(): void {
        if (head === null) return
        const signal = head
        head = null
        out.toClient(signal)
      }
      function take(piece: Piece, atMs: number): void {
        const last = held.at(-1)
        const isFirst = last === undefined
        if (mode === 'one-behind' && !isFirst && (!hasEvents || last.mark !== null)) releaseAll()
        held.push(piece)
        heldBytes += piece.bytes.length
        if (mode === 'none') releaseAll()
        else if (typeof mode === 'object' && 'bytes' in mode) {
          if (heldBytes >= mode.bytes) releasePages(mode.bytes)
        } else if (typeof mode === 'object' && 'everyMs' in mode && isFirst) out.wakeAt(atMs + mode.everyMs)
      }

      return {
        fromServer(signal, atMs) {
          if (signal.is === 'head') {
            const isSwitchedOff = honours.some((header) => headerOf(signal.rawHeaders, header)?.toLowerCase() === 'no')
            if (isSwitchedOff) {
              out.toClient(signal)
              return out.leave()
            }
            hasEvents = bodyHasEvents(signal.rawHeaders)
            if (holdHeaders) head = signal
            else out.toClient(signal)
          } else if (signal.is === 'piece') take(signal, atMs)
          else if (signal.is === 'interim') out.toClient(signal)
          else {
            isClientBlocked = false
            if (signal.is === 'end' || atCut === 'flush') releaseAll()
            else if (atCut === 'headers') passHead()
            out.wakeAt(null)
            out.toClient(signal)
          }
        },
        wake: releaseAll,
        release: releaseAll,
        pressed(side, isBlocked) {
          if (side === 'server') return out.hold('client', isBlocked)
          isClientBlocked = isBlocked
          if (isBlocked || !isReleaseDue) return
          if (typeof mode === 'object' && 'bytes' in mode) releasePages(mode.bytes)
          else releaseAll()
        },
        heldBytes: () => heldBytes,
      }
    },
  }
}
