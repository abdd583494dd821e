/**
 * What exchanges mean for each other: cancellations, retries, resumptions, answers on another stream, ids used twice, tasks.
 * Pure and bounded: an exchange is kept until it is settled, a peer until it has been quiet for long.
 */
import type { Fact } from '../fact.ts'
import type { Moment } from '../ledger-view.ts'
import { cancelNamed, cancelReached, judgeNamed } from './cancellations.ts'
import type { Member, Peer, Talker, TellTalker } from './peers.ts'
import { createPeers, isNamed, memberOf, sit } from './peers.ts'
import { createReissues } from './reissues.ts'
import { registerId, releaseIds } from './request-ids.ts'
import { createStreams } from './streams.ts'
import { createTasks } from './tasks.ts'

type FactOf<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>

export interface Conversation<T> {
  /** What is asked, with what its session knows better: before the ledger takes it. */
  completed(talker: T, fact: FactOf<'understood'>): FactOf<'understood'>
  /** After the ledger took it. Not called for `moved`, and for `event` only where the exchange is a GET for events. */
  take(talker: T, fact: Fact): void
  /** While the ledger takes a fact; what follows is told by the next `take`. */
  moment(talker: T, moment: Moment): void
  /** Its calls will be settled now: what was left open is judged. */
  settling(talker: T, atMs: number): void
  /** All of its calls are settled. */
  forget(talker: T): void
  /** How much is kept, of everything. */
  sizes(): Readonly<Record<'peers' | 'exchanges' | 'retries' | 'streams' | 'tasks' | 'moments', number>>
}

export function createConversation<T extends Talker>(tell: TellTalker<T>): Conversation<T> {
  const peers = createPeers<T>()
  const members = { get: (talker: T): Member<T> | undefined => (talker.member as Member<T> | null | undefined) ?? undefined }
  let memberCount = 0
  const reissues = createReissues(peers, tell)
  const streams = createStreams(peers, members, tell)
  const tasks = createTasks(tell)
  let moments: { readonly talker: T; readonly moment: Moment }[] = []

  function memberIn(talker: T, peer: Peer<T>): Member<T> {
    let member = members.get(talker)
    if (member === undefined) {
      member = memberOf<T>()
      talker.member = member
      memberCount += 1
    }
    sit(talker, member, peer)
    return member
  }

  function understood(talker: T, atMs: number): void {
    const { view } = talker
    if (view.kind === 'websocket' || (view.kind === 'other' && view.session === null)) return
    const peer = peers.of(view, atMs)
    const member = memberIn(talker, peer)
    if (view.kind === 'get_sse') return streams.opened(talker, member, peer, atMs)
    if (view.cancels.length > 0) cancelNamed(talker, member, peer, atMs, tell)
    for (const call of view.calls) {
      if (!isNamed(call)) continue
      if (call.method === 'initialize' || call.method === 'server/discover') peers.ofClient(view, atMs).beginnings += 1
      registerId(talker, member, peer, call, atMs, tell)
      reissues.asked(talker, member, peer, call, atMs)
      tasks.asked(talker, call, atMs)
    }
  }

  function answered(talker: T, member: Member<T>, fact: FactOf<'head'>): void {
    const { status, atMs } = fact
    const { view } = talker
    cancelReached(talker, member, status, atMs, tell)
    if (view.kind === 'get_sse') return streams.answered(talker, member, fact)
    if (view.session === null) {
      if (status === 202 && view.kind === 'call') streams.accepted(talker, peers.of(view, atMs), atMs)
      return
    }
    const session = peers.ofSession(view.session, atMs)
    if (view.httpMethod === 'DELETE' && status < 300) return peers.forget(session)
    if (!member.seats.some(({ peer }) => peer === session)) {
      memberIn(talker, session) // the session begins with this answer
      for (const call of view.calls.filter(isNamed)) registerId(talker, member, session, call, atMs, tell)
    }
    if (status === 202 && view.kind === 'call') streams.accepted(talker, session, atMs)
  }

  /** What a moment made known, told when the ledger is done with the fact that made it. */
  function follow(talker: T, moment: Moment, atMs: number): void {
    const member = members.get(talker)
    if (member === undefined) return
    if (moment.is === 'abandoned') {
      reissues.cut(talker, member, moment.call, atMs)
      tasks.cut(talker, moment.call, atMs)
    } else if (moment.is === 'task') tasks.answered(talker, member, moment, atMs)
    else if (moment.is === 'unknown_token') judgeToken(talker, member, moment.token, atMs)
    else if (moment.is === 'revision') for (const { peer } of member.seats) peer.revision = moment.revision
  }

  function judgeToken(talker: T, member: Member<T>, token: string | null, atMs: number): void {
    for (const { peer } of member.seats) {
      if (!peer.isSession || token === null) continue
      if (peer.taskTokens.has(token)) return
      for (let seat = peer.seats.first; seat !== null; seat = seat.after) {
        if (seat.talker.view.calls.some(({ progressToken }) => progressToken === token)) return
      }
    }
    const detail = token === null ? 'progress came without a token' : `progress came under the token ${token.slice(0, 60)}`
    tell(talker, { kind: 'joined', atMs, join: { is: 'broke', rule: 'progress-unknown-token', requestId: null, detail } })
  }

  function takeKind(talker: T, member: Member<T>, fact: Fact): void {
    const isStream = talker.view.kind === 'get_sse'
    if (fact.kind === 'head' && fact.at === 'server') answered(talker, member, fact)
    else if (fact.kind === 'event' && isStream) streams.event(talker, member, fact)
    else if (fact.kind === 'told' && isStream) streams.told(member, fact.atMs)
    else if (fact.kind === 'closed' && isStream) streams.closed(talker, member, fact.atMs)
  }

  return {
    completed(talker, fact) {
      const { ask } = fact
      const session = ask.session ?? streams.sessionOf(talker.view.target)
      const revision = ask.revision ?? (session === null ? null : (peers.findSession(session)?.revision ?? null))
      return session === ask.session && revision === ask.revision ? fact : { ...fact, ask: { ...ask, session, revision } }
    },
    take(talker, fact) {
      if (fact.kind === 'event' && moments.length === 0 && talker.view.kind !== 'get_sse') return // most that come
      if (fact.kind === 'understood') understood(talker, fact.atMs)
      else {
        const member = members.get(talker)
        if (member !== undefined) takeKind(talker, member, fact)
      }
      if (moments.length === 0) return
      const due = moments
      moments = []
      for (const { talker: of, moment } of due) follow(of, moment, fact.atMs)
    },
    moment(talker, moment) {
      if (moment.is === 'tools') for (const { name, hints } of moment.listed ?? []) reissues.learn(name, hints)
      const isFollowed = moment.is === 'abandoned' || moment.is === 'task' || moment.is === 'unknown_token' || moment.is === 'revision'
      if (isFollowed) moments.push({ talker, moment })
    },
    settling(talker, atMs) {
      const member = members.get(talker)
      if (member !== undefined) judgeNamed(talker, member, atMs, tell)
    },
    forget(talker) {
      const member = members.get(talker)
      if (member === undefined) return
      talker.member = null
      memberCount -= 1
      streams.forget(talker, member)
      reissues.forget(member)
      releaseIds(talker, member)
    },
    sizes: () => ({
      ...{ peers: peers.count(), exchanges: memberCount, retries: reissues.count(), streams: streams.count() },
      ...{ tasks: tasks.count(), moments: moments.length },
    }),
  }
}
