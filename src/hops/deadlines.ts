/** When a hop's `headers`, `idle` and `total` are due. Numbers only: who cuts, and how, is the limits seat's. */
import { isEvent, meaningOf } from '../core/meaning.ts'
import type { Piece } from '../core/signal.ts'
import type { Hop } from './hop.ts'

export type LimitKind = 'headers' | 'idle' | 'total'

export interface Deadlines {
  /** The request's head or a part of its body passed. */
  request(atMs: number): void
  asked(atMs: number): void
  /** The request was sent once more: the wait for its head begins anew; a total runs on. */
  again(atMs: number): void
  head(atMs: number): void
  piece(piece: Piece, atMs: number): void
  interim(atMs: number): void
  /** The client takes no more, or does again: what waits for the server's bytes stands still meanwhile; `total` runs on. */
  blocked(isBlocked: boolean, atMs: number): void
  disarm(): void
  /** It is not to cut any more in this exchange. */
  lapse(kind: LimitKind): void
  /** When a timer is to fire; Infinity: never. */
  earliestMs(): number
  /** Which is reached, by a timer at its time. */
  reached(atMs: number): LimitKind | null
  /** Whether a total that waits for a write has waited long enough. */
  isOverdueAtWrite(atMs: number): boolean
  /** Whether anything may still cut by itself, now or once the client reads again. */
  isArmed(): boolean
}

const NEVER = Infinity

export function createDeadlines(hop: Hop): Deadlines {
  const { idle, total } = hop
  const headers = hop.headers === 'none' ? undefined : hop.headers
  const idleCoversWait = hop.headers === undefined
  const idleCoversRequest = idle?.direction === 'both'
  const due = { headers: NEVER, idle: NEVER, total: NEVER }
  const lapsed = new Set<LimitKind>()
  let idleArmedMs = -Infinity // the last arming, which `rearm` counts from
  let hasAsked = false
  let hasHead = false
  let isOver = false
  let blockedSinceMs: number | null = null

  function arm(kind: LimitKind, atMs: number): void {
    if (!isOver && !lapsed.has(kind)) due[kind] = atMs
  }
  function armIdle(atMs: number): void {
    if (idle === undefined) return
    arm('idle', atMs + idle.afterMs)
    idleArmedMs = atMs
  }
  function sawTraffic(atMs: number): void {
    if (idle !== undefined && (due.idle === NEVER || atMs - idleArmedMs >= idle.rearmMs)) armIdle(atMs)
  }
  const standsStill = (): boolean => blockedSinceMs !== null
  const totalTimerMs = (): number => (total?.at === 'next-write' ? NEVER : due.total)

  return {
    request(atMs) {
      if (idleCoversRequest) sawTraffic(atMs) // after `asked` only a WebSocket session has more
    },
    again(atMs) {
      if (headers !== undefined) arm('headers', atMs + headers.afterMs)
      if (idleCoversWait) armIdle(atMs)
    },
    asked(atMs) {
      hasAsked = true
      if (headers !== undefined && !hasHead) arm('headers', atMs + headers.afterMs)
      if (total?.from === 'request') arm('total', atMs + total.afterMs)
      if (!hasHead && !idleCoversWait) due.idle = NEVER
      else if (due.idle === NEVER) armIdle(atMs)
      else sawTraffic(atMs)
    },
    head(atMs) {
      hasHead = true
      due.headers = NEVER
      if (total?.from === 'headers') arm('total', atMs + total.afterMs)
      if (hasAsked || idleCoversRequest) sawTraffic(atMs)
    },
    piece(piece, atMs) {
      if (idle !== undefined && (hasAsked || idleCoversRequest) && counts(idle.counts, piece)) sawTraffic(atMs)
    },
    interim(atMs) {
      if (hasAsked && idleCoversWait) sawTraffic(atMs)
    },
    blocked(isBlocked, atMs) {
      if (isBlocked) {
        blockedSinceMs ??= atMs
        return
      }
      if (blockedSinceMs === null) return
      const stoodStillMs = atMs - blockedSinceMs
      blockedSinceMs = null
      due.headers += stoodStillMs
      due.idle += stoodStillMs
      idleArmedMs += stoodStillMs
    },
    disarm() {
      isOver = true
      due.headers = due.idle = due.total = NEVER
    },
    lapse(kind) {
      lapsed.add(kind)
      due[kind] = NEVER
    },
    earliestMs: () => (standsStill() ? totalTimerMs() : Math.min(due.headers, due.idle, totalTimerMs())),
    reached(atMs) {
      if (!standsStill() && due.headers <= atMs) return 'headers'
      if (!standsStill() && due.idle <= atMs) return 'idle'
      return totalTimerMs() <= atMs ? 'total' : null
    },
    isOverdueAtWrite: (atMs) => total?.at === 'next-write' && due.total < atMs,
    isArmed: () => Math.min(due.headers, due.idle, totalTimerMs()) !== NEVER,
  }
}

function counts(what: 'bytes' | 'events' | 'progress', { mark }: Piece): boolean {
  if (what === 'bytes') return true
  if (mark === null) return false
  return what === 'events' ? isEvent(mark) : meaningOf(mark).is === 'progress'
}
