/** Hop data → its seats, client side first: the door (manners), the request's, the buffer, the limits. */
import type { Answer } from '../core/answer.ts'
import type { SeatPlan } from '../core/seat.ts'
import type { Cause, CauseKind, Ending, Lost } from '../core/signal.ts'
import { formatSize } from '../core/units.ts'
import { bufferSeat, isNoBuffer } from './buffer.ts'
import { doorSeat } from './door.ts'
import type { Hop } from './hop.ts'
import { limitsSeat } from './limits.ts'
import { requestSeat } from './request.ts'

/** What a hop's own limit looks like from the client: the answer if no head has passed (null: a bare close), else the ending. */
export interface OwnCut {
  readonly answer: Answer | null
  readonly ending: Ending | 'silent'
}
/** A hop's own cuts, each known by the cause it gives. */
export type OwnCuts = ReadonlyMap<Cause, OwnCut>

/** `isNearest`: the last of its path, next to the server. Seats that would do nothing are left out. */
export function compileHop(hop: Hop, { isNearest = true }: { isNearest?: boolean } = {}): readonly SeatPlan[] {
  const cause = (kind: CauseKind, detail?: string, silenceMs?: number): Cause => ({
    kind,
    seat: hop.name,
    hop: hop.preset,
    ...(detail === undefined ? {} : { detail }),
    ...(silenceMs === undefined ? {} : { silenceMs }),
  })
  const causes = {
    headers: cause('header_timeout'),
    idle: cause('idle_timeout', undefined, leastSilenceMs(hop)),
    total: cause('max_duration'),
  }
  const own = new Map<Cause, OwnCut>()
  if (hop.headers !== undefined && hop.headers !== 'none') own.set(causes.headers, hop.headers)
  if (hop.idle !== undefined) own.set(causes.idle, hop.idle)
  if (hop.total !== undefined) own.set(causes.total, hop.total)
  // Of a sized body a FIN is an end as well, if too early: nginx passes the part on, and throws it away only when it gives up itself.
  const endsBody = (loss: Lost, isSized: boolean): boolean =>
    !own.has(loss.cause) && (hop.upstreamLoss?.midStream[loss.ending] === 'clean' || (isSized && loss.ending === 'fin'))
  const { request, buffering } = hop
  const bodyMaxBytes = request?.bodyMaxBytes ?? null
  const isTransparent =
    own.size === 0 &&
    hop.connect === undefined &&
    hop.clientSend === undefined &&
    hop.clientAbort === undefined &&
    hop.upstreamLoss === undefined
  const tooLong = cause('limit', bodyMaxBytes === null ? '' : `the request body is over ${formatSize(bodyMaxBytes)} (${hop.preset})`)
  return [
    ...(isTransparent ? [] : [doorSeat(hop, own, { isNearest, clientSend: cause('client_send') })]),
    ...(request !== undefined && (request.buffer || bodyMaxBytes !== null) ? [requestSeat(hop.name, request, tooLong)] : []),
    ...(buffering === undefined || isNoBuffer(buffering) ? [] : [bufferSeat(hop.name, buffering, endsBody)]),
    ...(own.size === 0 ? [] : [limitsSeat(hop, causes)]),
  ]
}

/** A timer that traffic does not always re-arm is early by up to that. */
const leastSilenceMs = ({ idle }: Hop): number | undefined => (idle === undefined ? undefined : Math.max(0, idle.afterMs - idle.rearmMs))

/** The path, and the faults at either end of it. `faults` in list order: what a response meets first. */
export function compileLine(path: readonly Hop[], faults: readonly { at: 'client' | 'server'; plan: SeatPlan }[]): readonly SeatPlan[] {
  const at = (side: 'client' | 'server') =>
    faults
      .filter((fault) => fault.at === side)
      .map(({ plan }) => plan)
      .toReversed()
  const hops = path.flatMap((hop, index) => compileHop(hop, { isNearest: index === path.length - 1 }))
  return [...at('client'), ...hops, ...at('server')]
}

/** How long the hop next to the server waits for a connection, and the cause of the loss the wire is to report then; null: no limit. */
export function connectLimit(path: readonly Hop[]): { readonly afterMs: number; readonly cause: Cause } | null {
  const hop = path.at(-1)
  if (hop?.connect === undefined) return null
  return {
    afterMs: hop.connect.afterMs,
    cause: { kind: 'unreachable', seat: hop.name, hop: hop.preset, detail: 'connecting took too long' },
  }
}
