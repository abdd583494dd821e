/** A hop's timers, on what arrives: `headers`, `idle` and `total` arm when the request has passed whole. */
import { isEvent, meaningOf } from '../core/meaning.ts'
import type { SeatPlan } from '../core/seat.ts'
import type { Cause, Piece } from '../core/signal.ts'
import { lost } from '../core/signal.ts'
import type { Hop, Limit } from './hop.ts'

const NEVER = Infinity

export function limitsSeat(hop: Hop, causes: Readonly<Record<'headers' | 'idle' | 'total', Cause>>): SeatPlan {
  const { idle, total } = hop
  const headers = hop.headers === 'none' ? undefined : hop.headers
  const idleCoversWait = hop.headers === undefined
  const idleCoversRequest = idle?.direction === 'both'
  return {
    name: hop.name,
    sit(out) {
      const due = { headers: NEVER, idle: NEVER, total: NEVER }
      let hasAsked = false
      let hasHead = false
      let blockedSinceMs: number | null = null // the client does not read: response limits stand still

      function rearm(): void {
        const earliest = Math.min(due.headers, due.idle, due.total)
        out.wakeAt(earliest === NEVER || blockedSinceMs !== null ? null : earliest)
      }
      function sawTraffic(atMs: number): void {
        if (idle !== undefined) due.idle = atMs + idle.afterMs
      }
      function disarm(): void {
        due.headers = due.idle = due.total = NEVER
        out.wakeAt(null)
      }
      function expire(limit: Limit, cause: Cause): void {
        disarm()
        out.toClient(lost('fin', cause)) // the door makes an answer or the limit's own ending of it
        if (limit.upstream !== 'none') out.toServer(lost(limit.upstream, cause))
      }

      return {
        fromClient(signal, atMs) {
          if (signal.is === 'lost') disarm()
          else if (signal.is === 'asked') {
            hasAsked = true
            if (headers !== undefined && !hasHead) due.headers = atMs + headers.afterMs
            if (total !== undefined) due.total = atMs + total.afterMs
            if (hasHead || idleCoversWait) sawTraffic(atMs)
            else due.idle = NEVER
            rearm()
          } else if (idleCoversRequest && !hasAsked) {
            sawTraffic(atMs)
            rearm()
          }
          out.toServer(signal)
        },
        fromServer(signal, atMs) {
          if (signal.is === 'end' || signal.is === 'lost') disarm()
          else if (signal.is === 'piece') {
            if (idle !== undefined && hasAsked && counts(idle.counts, signal)) {
              due.idle = atMs + idle.afterMs
              rearm()
            }
          } else if (signal.is === 'head') {
            hasHead = true
            due.headers = NEVER
            if (hasAsked || idleCoversRequest) sawTraffic(atMs)
            rearm()
          } else if (hasAsked && idleCoversWait) {
            sawTraffic(atMs)
            rearm()
          }
          out.toClient(signal)
        },
        wake(atMs) {
          if (headers !== undefined && due.headers <= atMs) expire(headers, causes.headers)
          else if (idle !== undefined && due.idle <= atMs) expire(idle, causes.idle)
          else if (total !== undefined && due.total <= atMs) expire(total, causes.total)
          else rearm()
        },
        pressed(side, isBlocked, atMs) {
          out.hold(side === 'client' ? 'server' : 'client', isBlocked)
          if (side === 'server') return
          if (isBlocked) blockedSinceMs = atMs
          else if (blockedSinceMs !== null) {
            const stoodStillMs = atMs - blockedSinceMs
            blockedSinceMs = null
            due.headers += stoodStillMs
            due.idle += stoodStillMs
            due.total += stoodStillMs
          }
          rearm()
        },
      }
    },
  }
}

function counts(what: 'bytes' | 'events' | 'progress', { mark }: Piece): boolean {
  if (what === 'bytes') return true
  if (mark === null) return false
  return what === 'events' ? isEvent(mark) : meaningOf(mark).is === 'progress'
}
