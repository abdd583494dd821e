/** JSON-RPC ids of one session: two open at once, or one used again. Without a session nobody can tell two clients' ids apart. */
import type { CallView, LedgerView } from '../ledger-view.ts'
import type { Member, Peer, Talker, TellTalker } from './peers.ts'
import { rememberId } from './peers.ts'

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
  const same = peer.calls.get(requestId) ?? new Set<T>()
  const rule = peer.isSession ? ruleBroken(talker, peer, same, requestId) : null
  peer.calls.set(requestId, same.add(talker))
  member.ids.add(requestId)
  if (rule === null) return
  const [other] = same
  const detail =
    rule === 'duplicate-id-in-flight' && other !== undefined && other !== talker ? `${other.id} is open under the same id` : null
  tell(talker, { kind: 'joined', atMs, join: { is: 'broke', rule, requestId, detail } })
}

function ruleBroken<T extends Talker>(talker: T, peer: Peer<T>, same: ReadonlySet<T>, requestId: string) {
  let isReused = peer.usedIds.has(requestId)
  for (const other of same) {
    const { view } = other.ledger
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
export function releaseIds<T extends Talker>(talker: T, { peers, ids }: Member<T>): void {
  for (const peer of peers) {
    peer.talkers.delete(talker)
    for (const id of ids) {
      const same = peer.calls.get(id)
      same?.delete(talker)
      if (same?.size === 0) peer.calls.delete(id)
      if (peer.isSession && wasTaken(talker.ledger.view)) rememberId(peer, id)
    }
  }
}
