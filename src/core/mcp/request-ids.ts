/** JSON-RPC ids of one session: two open at once, or one used again. Without a session nobody can tell two clients' ids apart. */
import type { CallView, LedgerView } from '../ledger-view.ts'
import { putLast, takeOut } from '../row.ts'
import type { Asked, Asking, Member, Peer, Talker, TellTalker } from './peers.ts'
import { rememberId } from './peers.ts'

/** So few ids that nobody asks under are kept: they come again, or a new table takes the others. */
const IDLE_MIN = 64

/** Names the call among its peer's. */
export function registerId<T extends Talker>(
  talker: T,
  member: Member<T>,
  peer: Peer<T>,
  { requestId }: CallView,
  atMs: number,
  tell: TellTalker<T>,
): void {
  if (requestId === null) return
  let asked = peer.calls.get(requestId)
  const rule = peer.isSession ? ruleBroken(talker, peer, asked?.first ?? null, requestId) : null
  if (asked === undefined) {
    asked = { id: requestId, first: null, last: null }
    peer.calls.set(requestId, asked)
  } else if (asked.first === null) peer.idleIds -= 1
  append(talker, member, peer, asked)
  if (rule === null) return
  const other = asked.first?.talker ?? talker
  const detail = rule === 'duplicate-id-in-flight' && other !== talker ? `${other.id} is open under the same id` : null
  tell(talker, { kind: 'joined', atMs, join: { is: 'broke', rule, requestId, detail } })
}

function append<T>(talker: T, member: Member<T>, peer: Peer<T>, among: Asked<T>): void {
  for (const own of member.asking) if (own.among === among) return
  const asking: Asking<T> = { peer, among, talker, before: null, after: null }
  putLast(among, asking)
  member.asking = member.asking.length === 0 ? [asking] : [...member.asking, asking]
}

/** The exchanges that ask under this id and are not settled, in the order they came. */
export function askingAs<T>({ calls }: Peer<T>, requestId: string): readonly T[] {
  const found: T[] = []
  for (let one = calls.get(requestId)?.first ?? null; one !== null; one = one.after) found.push(one.talker)
  return found
}

function ruleBroken<T extends Talker>(talker: T, peer: Peer<T>, first: Asking<T> | null, requestId: string) {
  let isReused = peer.usedIds.has(requestId)
  for (let one = first; one !== null; one = one.after) {
    const { talker: other } = one
    const { view } = other
    if (other === talker || isInFlight(view, requestId)) return 'duplicate-id-in-flight'
    isReused ||= wasTaken(view)
  }
  return isReused ? 'request-id-reused' : null
}

function isInFlight({ closedAtMs, continuedOn, calls }: LedgerView, id: string): boolean {
  const isOpen = closedAtMs === null || continuedOn !== null
  return isOpen && calls.some(({ requestId, result }) => requestId === id && result !== 'sent')
}

/** A request that HTTP refused (401 before a log-in) or that found nobody may come again as it is. */
export const wasTaken = ({ seenStatus, cause }: LedgerView): boolean =>
  seenStatus === null ? cause?.kind !== 'unreachable' : seenStatus < 300

/** The exchange is settled: its ids are used, and no longer open. */
export function releaseIds<T extends Talker>(talker: T, { seats, asking }: Member<T>): void {
  for (const seat of seats) {
    takeOut(seat.peer.seats, seat)
    if (seat.peer.isSession && wasTaken(talker.view)) for (const { among } of asking) rememberId(seat.peer, among.id)
  }
  for (const one of asking) release(one)
}

function release<T>(one: Asking<T>): void {
  const { peer, among } = one
  takeOut(among, one)
  if (among.first !== null) return
  peer.idleIds += 1
  if (peer.idleIds < IDLE_MIN || peer.idleIds * 2 < peer.calls.size) return
  const left = new Map<string, Asked<T>>()
  peer.calls.forEach((asked, id) => {
    if (asked.first !== null) left.set(id, asked)
  })
  peer.calls = left
  peer.idleIds = 0
}
