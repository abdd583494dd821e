/** A hop's timers, on what arrives: `headers`, `idle` and `total`. A cut leaves here as a loss; the door makes its form. */
import type { SeatPlan } from '../core/seat.ts'
import type { Cause, Lost } from '../core/signal.ts'
import { lost } from '../core/signal.ts'
import type { LimitKind } from './deadlines.ts'
import { createDeadlines } from './deadlines.ts'
import { createFarewell } from './farewell.ts'
import type { Hop, Limit } from './hop.ts'

export type LimitCauses = Readonly<Record<LimitKind, Cause>>

export function limitsSeat(hop: Hop, causes: LimitCauses): SeatPlan {
  const limits: Partial<Record<LimitKind, Limit>> = {
    ...(hop.headers === undefined || hop.headers === 'none' ? {} : { headers: hop.headers }),
    ...(hop.idle === undefined ? {} : { idle: hop.idle }),
    ...(hop.total === undefined ? {} : { total: hop.total }),
  }
  return {
    name: hop.name,
    sit(out) {
      const deadlines = createDeadlines(hop)
      const farewell = createFarewell(out)
      let hasHead = false
      let silence: Lost | null = null // dropped without a word further in: to this hop just nothing more comes

      function rearm(): void {
        const earliestMs = deadlines.earliestMs()
        out.wakeAt(earliestMs === Infinity ? null : earliestMs)
        if (silence !== null && !deadlines.isArmed()) out.toClient(silence)
      }
      /** A wait for the head that is over may be begun anew (`request.retry`). */
      function asksAgain(kind: LimitKind, atMs: number): boolean {
        if (kind === 'total' || hasHead || hop.request?.retry?.on.includes('timeout') !== true || !out.again()) return false
        deadlines.again(atMs)
        return true
      }
      /** Whether it cut. */
      function expire(kind: LimitKind, duringWriteMs?: number): boolean {
        const limit = limits[kind]
        const cause = causes[kind]
        if (limit === undefined) return false
        if (!out.mayCut(cause)) {
          out.note({ is: 'decided', what: 'capped' })
          deadlines.lapse(kind)
          return false
        }
        deadlines.disarm()
        out.wakeAt(null)
        out.toClient(lost('fin', cause))
        farewell.say(limit.upstream, limit.ending === 'silent' ? 'rst' : 'fin', cause, duringWriteMs)
        return true
      }

      return {
        fromClient(signal, atMs) {
          if (signal.is === 'lost') deadlines.disarm()
          else if (signal.is === 'asked') deadlines.asked(atMs)
          else if (signal.is !== 'half') deadlines.request(atMs)
          rearm()
          out.toServer(signal)
        },
        fromServer(signal, atMs) {
          if (signal.is === 'lost' && signal.isSilent === true && deadlines.isArmed()) {
            silence = signal
            return
          }
          const isWrite = signal.is === 'head' || signal.is === 'piece'
          if (isWrite && deadlines.isOverdueAtWrite(atMs) && expire('total', atMs)) return
          if (signal.is === 'head') hasHead = true
          if (signal.is === 'head') deadlines.head(atMs)
          else if (signal.is === 'piece') deadlines.piece(signal, atMs)
          else if (signal.is === 'interim') deadlines.interim(atMs)
          else deadlines.disarm()
          rearm()
          out.toClient(signal)
          farewell.wrote(signal, atMs)
        },
        wake(atMs) {
          const kind = deadlines.reached(atMs)
          if (kind === null || asksAgain(kind, atMs) || !expire(kind)) rearm()
        },
        pressed(side, isBlocked, atMs) {
          out.hold(side === 'client' ? 'server' : 'client', isBlocked)
          if (side === 'server') return
          deadlines.blocked(isBlocked, atMs)
          rearm()
        },
        release() {
          if (silence !== null) out.toClient(silence)
        },
      }
    },
  }
}
