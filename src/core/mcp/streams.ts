/**
 * Streams opened by a GET in the session revisions: the one of a session, a resumption by `Last-Event-ID`, and the stream of
 * 2024-11-05 on which all answers come. What is said on them is brought to the call it is for.
 */
import type { Fact } from '../fact.ts'
import type { CallView } from '../ledger-view.ts'
import { endpointOf, meaningOf } from '../meaning.ts'
import { sessionIn } from './ask.ts'
import type { EndedGet, Member, Peer, Peers, Talker, TellTalker } from './peers.ts'
import { boundMap, sit } from './peers.ts'
import { cancelsByClosing } from './revision.ts'

type FactOf<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>

export interface Streams<T> {
  /** A GET for events was opened. */
  opened(talker: T, member: Member<T>, peer: Peer<T>, atMs: number): void
  /** The server answered it. */
  answered(talker: T, member: Member<T>, fact: FactOf<'head'>): void
  event(talker: T, member: Member<T>, fact: FactOf<'event'>): void
  told(member: Member<T>, atMs: number): void
  closed(talker: T, member: Member<T>, atMs: number): void
  /** A request was answered 202: its answer comes on the stream of 2024-11-05, or never. */
  accepted(talker: T, peer: Peer<T>, atMs: number): void
  /** The session that a message address of 2024-11-05 without `sessionId` belongs to. */
  sessionOf(target: string): string | null
  /** It is settled: its event ids are kept for a client that comes back late. */
  forget(talker: T, member: Member<T>): void
  count(): number
}

const ENDPOINTS_MAX = 5_000
const ENDED_MAX = 2_000
const ENDED_IDS_KEPT = 16
/** An `endpoint` is the first that is said; a comment or two may come before. */
const ENDPOINT_AMONG = 3
const RECONNECTED_WITHIN_MS = 60_000
export const ENDLESS_MIN = 5
const GETS_KEPT = 20

/** A settled exchange whose events had ids. */
interface Ended {
  /** The record whose stream it was. */
  readonly of: string
  readonly peerKeys: ReadonlySet<string>
  readonly eventIds: readonly string[]
}

export function createStreams<T extends Talker>(
  peers: Peers<T>,
  members: { get(talker: T): Member<T> | undefined },
  tell: TellTalker<T>,
): Streams<T> {
  const endpoints = new Map<string, string>()
  const ended = new Map<string, Ended>()
  const join = (talker: T, atMs: number, of: FactOf<'joined'>['join']): void => tell(talker, { kind: 'joined', atMs, join: of })

  function resume(talker: T, member: Member<T>, peer: Peer<T>, eventId: string, atMs: number): void {
    const issuer = latestIssuer(talker, peer, eventId)
    member.isResumption = true
    member.resumes = issuer === undefined ? null : (members.get(issuer)?.resumes ?? issuer)
    const issuerOf = issuer === undefined ? null : members.get(issuer)
    member.resumesId = issuerOf?.resumesId ?? issuer?.id ?? endedIssuer(peer, eventId)
    const resumed = member.resumes === null ? undefined : members.get(member.resumes)
    if (resumed !== undefined) resumed.resumedBy = (resumed.resumedBy ?? new Set()).add(talker)
    join(talker, atMs, { is: 'retry', requestId: null, of: member.resumesId, how: 'resumed' })
    if (cancelsByClosing(talker.view.revision)) join(talker, atMs, broke('resumption-not-defined'))
  }

  function endedIssuer({ key }: Peer<T>, eventId: string): string | null {
    for (const { of, peerKeys, eventIds } of ended.values()) if (peerKeys.has(key) && eventIds.includes(eventId)) return of
    return null
  }

  function reconnect(talker: T, { lastGet, getsAtMs }: Peer<T>, atMs: number): void {
    if (lastGet !== null && atMs - lastGet.closedAtMs <= RECONNECTED_WITHIN_MS) {
      join(talker, atMs, { is: 'retry', requestId: null, of: lastGet.id, how: 'reconnected' })
    }
    const recent = getsAtMs.filter((getMs) => atMs - getMs <= RECONNECTED_WITHIN_MS)
    if (lastGet !== null && recent.length > ENDLESS_MIN)
      join(talker, atMs, broke('endless-reconnect', endlessRemark(lastGet, recent, atMs)))
  }

  function message(talker: T, member: Member<T>, { at, atMs, mark }: FactOf<'event'>): void {
    const meaning = meaningOf(mark)
    if (meaning.is !== 'result' && meaning.is !== 'progress') return
    const wanted: readonly (string | null)[] = meaning.is === 'progress' ? [meaning.token] : [meaning, ...meaning.also].map(({ id }) => id)
    const isOf = ({ progressToken, requestId }: CallView, one: string | null): boolean =>
      one !== null && (meaning.is === 'progress' ? progressToken : requestId) === one
    for (const one of wanted) {
      const meant = findCall(talker, member, (call) => isOf(call, one))
      if (meant !== null) {
        join(meant.talker, atMs, { is: 'message', on: talker.id, at, requestId: meant.call.requestId, mark })
        if (meant.isAwaitedHere) continue
      }
      if (at !== 'server' || member.isResumption) continue
      if (meaning.is === 'result') missResult(talker, member, one, atMs)
      else if (meant === null && isSession(member) && !hasTaskToken(member, one)) join(talker, atMs, broke('progress-unknown-token'))
    }
  }

  function missResult(talker: T, member: Member<T>, id: string | null, atMs: number): void {
    if (isSession(member))
      join(talker, atMs, broke('result-to-wrong-id', `an answer under the id ${id ?? 'null'} came on a stream that is not for it`))
  }

  interface Meant {
    readonly talker: T
    readonly call: CallView
    readonly isAwaitedHere: boolean
  }

  function findCall(stream: T, { awaitedBy, seats }: Member<T>, isMeant: (call: CallView) => boolean): Meant | null {
    for (const talker of awaitedBy ?? []) {
      const call = talker.view.calls.find(isMeant)
      if (call !== undefined) return { talker, call, isAwaitedHere: true }
    }
    for (const { peer } of seats) {
      if (!peer.isSession) continue
      for (let seat = peer.seats.first; seat !== null; seat = seat.after) {
        const { talker } = seat
        const call = talker === stream ? undefined : talker.view.calls.find(isMeant)
        if (call !== undefined) return { talker, call, isAwaitedHere: peer.stream === stream }
      }
    }
    return null
  }

  function findEndpoint(talker: T, member: Member<T>, { mark, atMs }: FactOf<'event'>): void {
    member.eventsSeen += 1
    const endpoint = endpointOf(mark)
    if (endpoint === null) return
    member.eventsSeen = ENDPOINT_AMONG
    const target = endpoint.replace(/^[a-z]+:\/\/[^/]*/i, '')
    const session = sessionIn(target) ?? target
    if (session === target) endpoints.set(target, session)
    boundMap(endpoints, ENDPOINTS_MAX)
    const peer = peers.ofSession(session, atMs)
    peer.stream = talker
    sit(talker, member, peer)
  }

  return {
    opened(talker, member, peer, atMs) {
      const { lastEventId } = talker.view
      peer.getsAtMs = [...peer.getsAtMs, atMs].slice(-GETS_KEPT)
      if (lastEventId === null) reconnect(talker, peer, atMs)
      else resume(talker, member, peer, lastEventId, atMs)
    },
    answered(talker, member, { status, atMs }) {
      if (member.resumes === null || status !== 200) return
      member.awaitedBy = (member.awaitedBy ?? new Set()).add(member.resumes)
      join(member.resumes, atMs, { is: 'continued', on: talker.id })
    },
    event(talker, member, fact) {
      if (member.eventsSeen < ENDPOINT_AMONG && fact.at === 'server') findEndpoint(talker, member, fact)
      message(talker, member, fact)
    },
    told(member, atMs) {
      for (const talker of member.awaitedBy ?? []) join(talker, atMs, { is: 'told' })
    },
    closed(talker, member, atMs) {
      for (const one of member.awaitedBy ?? []) join(one, atMs, { is: 'discontinued', on: talker.id })
      member.awaitedBy = null
      const { openedAtMs, seenStatus, answer } = talker.view
      for (const { peer } of member.seats) {
        if (peer.stream === talker) peer.stream = null
        if (seenStatus === 200) peer.lastGet = { id: talker.id, openedAtMs, closedAtMs: atMs, wasStream: answer === 'sse' }
      }
    },
    accepted(talker, peer, atMs) {
      const { stream } = peer
      if (stream === null) {
        // An address of 2024-11-05 says itself what it is: its stream is open elsewhere.
        if (sessionIn(talker.view.target) === null) join(talker, atMs, broke('request-answered-202'))
        return
      }
      const awaiting = members.get(stream)
      if (awaiting !== undefined) awaiting.awaitedBy = (awaiting.awaitedBy ?? new Set()).add(talker)
      join(talker, atMs, { is: 'continued', on: stream.id })
    },
    sessionOf: (target) => endpoints.get(target) ?? null,
    forget(talker, { seats, resumesId, resumedBy }) {
      for (const { peer } of seats) if (peer.stream !== null) members.get(peer.stream)?.awaitedBy?.delete(talker)
      for (const other of resumedBy ?? []) {
        const resuming = members.get(other)
        resuming?.awaitedBy?.delete(talker)
        if (resuming !== undefined) resuming.resumes = null
      }
      const { eventIds } = talker.view
      if (eventIds.length === 0) return
      const peerKeys = new Set(seats.map(({ peer }) => peer.key))
      ended.set(talker.id, { of: resumesId ?? talker.id, peerKeys, eventIds: eventIds.slice(-ENDED_IDS_KEPT) })
      boundMap(ended, ENDED_MAX)
    },
    count: () => endpoints.size + ended.size,
  }
}

const broke = (rule: Extract<FactOf<'joined'>['join'], { readonly is: 'broke' }>['rule'], detail: string | null = null) =>
  ({ is: 'broke', rule, requestId: null, detail }) as const

/** Of the exchanges before it, the last that gave this event id. */
function latestIssuer<T extends Talker>(talker: T, { seats }: Peer<T>, eventId: string): T | undefined {
  for (let seat = seats.last; seat !== null; seat = seat.before) {
    if (seat.talker !== talker && seat.talker.view.eventIds.includes(eventId)) return seat.talker
  }
  return undefined
}

const isSession = <T>({ seats }: Member<T>): boolean => seats.some(({ peer }) => peer.isSession)
const hasTaskToken = <T>({ seats }: Member<T>, token: string | null): boolean =>
  token !== null && seats.some(({ peer }) => peer.taskTokens.has(token))

function endlessRemark({ openedAtMs, closedAtMs, wasStream }: EndedGet, recent: readonly number[], atMs: number): string {
  const often = `its GET was opened ${recent.length} times in ${((atMs - (recent[0] ?? atMs)) / 1_000).toFixed(1)} s`
  if (!wasStream) return `${often}; the last was answered 200 without an event stream`
  return `${often}; the last stream ended after ${((closedAtMs - openedAtMs) / 1_000).toFixed(1)} s`
}
