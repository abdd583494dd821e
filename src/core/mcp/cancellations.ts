/**
 * A `notifications/cancelled` arrives on an exchange of its own: this joins it to the call it means.
 * In the session revisions by session and id; without a session nobody can tell whose call `3` is. From 2026-07-28 there is
 * no such notification over HTTP, and what matters is whether the stream of the request it names stays open.
 */
import type { Member, Peer, Talker, TellTalker } from './peers.ts'
import { askingAs } from './request-ids.ts'
import { cancelsByClosing } from './revision.ts'

/** The exchange carries cancellations: those they name are cancelled. */
export function cancelNamed<T extends Talker>(talker: T, member: Member<T>, peer: Peer<T>, atMs: number, tell: TellTalker<T>): void {
  const { cancels, revision } = talker.view
  for (const requestId of cancels) {
    if (cancelsByClosing(revision)) nameOpen(talker, member, peer, requestId, atMs, tell)
    else if (peer.isSession) {
      for (const target of askingAs(peer, requestId)) {
        tell(target, { kind: 'cancelled', atMs, requestId })
        member.carries ??= []
        member.carries.push({ target, requestId })
      }
    }
  }
}

/** The server answered it: it has what the exchange carried. */
export function cancelReached<T extends Talker>(talker: T, member: Member<T>, status: number, atMs: number, tell: TellTalker<T>): void {
  const { carries } = member
  if (carries === null || status < 200 || status > 299) return
  member.carries = null
  const reachedAtMs = talker.view.askedAtMs ?? atMs
  for (const { target, requestId } of carries) tell(target, { kind: 'cancel_told', atMs, reachedAtMs, requestId })
}

function nameOpen<T extends Talker>(
  talker: T,
  member: Member<T>,
  peer: Peer<T>,
  requestId: string,
  atMs: number,
  tell: TellTalker<T>,
): void {
  const open = askingAs(peer, requestId).filter(({ view }) => view.closedAtMs === null)
  if (open.length === 0) {
    const detail = 'the stream of the request it names is closed already'
    tell(talker, { kind: 'joined', atMs, join: { is: 'broke', rule: RULE, requestId: null, detail, severity: 'notice' } })
    return
  }
  member.namesOpen = [...(member.namesOpen ?? []), ...open]
  tell(talker, { kind: 'joined', atMs, join: { is: 'names-open' } })
}

const RULE = 'cancelled-notification-over-http'

/** A moment later: a client that closes its stream as well meant no harm. */
export function judgeNamed<T extends Talker>(talker: T, member: Member<T>, atMs: number, tell: TellTalker<T>): void {
  const named = member.namesOpen
  if (named === null) return
  member.namesOpen = null
  const stillOpen = named.filter(({ view }) => view.closedAtMs === null)
  const isBroken = stillOpen.length === named.length
  const detail = isBroken ? `the stream of ${stillOpen.map(({ id }) => id).join(', ')}, which it names, stays open` : null
  const severity = isBroken ? 'violation' : 'notice'
  tell(talker, { kind: 'joined', atMs, join: { is: 'broke', rule: RULE, requestId: null, detail, severity } })
}
