/**
 * A call that was given up and comes again: recognised by who asks and what is asked (method, tool, parameters without `_meta`),
 * not by its id, which is a new one. What waits to come again is bounded in number and in time.
 */
import type { CallView, LedgerView } from '../ledger-view.ts'
import type { Member, Peer, Peers, Talker, TellTalker } from './peers.ts'
import { boundMap, recordIdOf } from './peers.ts'
import { wasTaken } from './request-ids.ts'
import type { ToolHints } from './tools.ts'

/** A call that was given up. */
interface Cut<T> {
  /** Null once it is settled: it is told nothing more. */
  talker: T | null
  readonly recordId: string
  readonly call: CallView
  readonly atMs: number
  readonly wasTaken: boolean
  /** The client's beginnings until then. */
  readonly beginnings: number
  /** The last connection accepted until then. */
  readonly connection: number
  readonly issuedAtMs: readonly number[]
}

export interface Reissues<T> {
  /** The call was given up without its result. */
  cut(talker: T, member: Member<T>, call: CallView, atMs: number): void
  /** The call is asked; does it repeat one that was given up? */
  asked(talker: T, member: Member<T>, peer: Peer<T>, call: CallView, atMs: number): void
  learn(name: string, hints: ToolHints): void
  forget(member: Member<T>): void
  count(): number
}

/** The same call later than this is a new one. */
export const REISSUED_WITHIN_MS = 300_000
const CUTS_MAX = 10_000
const TOOLS_MAX = 1_000
/** So often in so short a time is a storm. */
export const STORM_MIN = 5
export const STORM_WITHIN_MS = 60_000
const ISSUES_KEPT = 20

export function createReissues<T extends Talker>(peers: Peers<T>, tell: TellTalker<T>): Reissues<T> {
  const cuts = new Map<string, Cut<T>>() // the oldest first
  let cutTalkers = 0
  const hints = new Map<string, ToolHints>()
  let latestConnection = 0
  const keyOf = (peer: Peer<T>, askKey: string): string => `${peer.key}\n${askKey}`

  function cut(talker: T, member: Member<T>, call: CallView, atMs: number): void {
    const { view } = talker
    const { askKey, requestId } = call
    if (askKey === null || requestId === null || !isFollowed(call) || wasRefused(view)) return
    const client = peers.ofClient(view, atMs)
    const one: Cut<T> = {
      talker,
      recordId: recordIdOf(talker, call),
      call,
      atMs,
      wasTaken: wasTaken(view),
      beginnings: client.beginnings,
      connection: latestConnection,
      issuedAtMs: issuesOf(member, requestId),
    }
    for (const key of new Set([...member.seats.map(({ peer }) => peer), client].map((peer) => keyOf(peer, askKey)))) {
      cuts.delete(key)
      cuts.set(key, one)
    }
    if (member.cuts === null) cutTalkers += 1
    member.cuts = member.cuts === null ? [one] : [...member.cuts, one]
    for (const [key, { atMs: cutAtMs }] of cuts) {
      if (atMs - cutAtMs <= REISSUED_WITHIN_MS) break
      cuts.delete(key)
    }
    boundMap(cuts, CUTS_MAX)
  }

  /** A client that lost its session comes again in a new one: then its name and address tell. */
  function find(talker: T, peer: Peer<T>, client: Peer<T>, askKey: string): Cut<T> | null {
    const own = cuts.get(keyOf(peer, askKey))
    const found = own ?? (peer.isSession ? cuts.get(keyOf(client, askKey)) : undefined)
    if (found === undefined || found.talker === talker) return null
    return own === undefined && peer.sinceMs <= found.atMs ? null : found
  }

  function asked(talker: T, member: Member<T>, peer: Peer<T>, call: CallView, atMs: number): void {
    const { askKey, requestId } = call
    latestConnection = Math.max(latestConnection, talker.view.connection)
    if (askKey === null || requestId === null || !isFollowed(call)) return
    const client = peer.isSession ? peers.ofClient(talker.view, atMs) : peer
    member.issuedAtMs = atMs
    member.reissuedAtMs?.delete(requestId)
    const earlier = cuts.size === 0 ? null : find(talker, peer, client, askKey)
    if (earlier === null || atMs - earlier.atMs > REISSUED_WITHIN_MS) return
    const issuedAtMs = [...earlier.issuedAtMs, atMs].slice(-ISSUES_KEPT)
    member.reissuedAtMs = (member.reissuedAtMs ?? new Map()).set(requestId, issuedAtMs)
    for (const key of [keyOf(peer, askKey), keyOf(client, askKey)]) if (cuts.get(key) === earlier) cuts.delete(key)
    tellReissue(talker, call, requestId, earlier, atMs)
    if (!peer.isSession && earlier.call.requestId === requestId && earlier.wasTaken) tellReuse(talker, client, requestId, earlier, atMs)
    tellStorm(talker, requestId, issuedAtMs, atMs)
  }

  function tellReissue(talker: T, call: CallView, requestId: string, earlier: Cut<T>, atMs: number): void {
    const how = talker.view.kind === 'subscription' ? 'reconnected' : 'reissued'
    tell(talker, { kind: 'joined', atMs, join: { is: 'retry', requestId, of: earlier.recordId, how } })
    if (earlier.call.result === 'seen') {
      const text = `the server had finished ${earlier.recordId}; its result never reached the client, and is asked for again`
      tell(talker, { kind: 'joined', atMs, join: { is: 'remark', text } })
    }
    if (earlier.talker === null) return
    const by = recordIdOf(talker, call)
    const known = call.tool === null ? null : (hints.get(call.tool) ?? null)
    tell(earlier.talker, { kind: 'joined', atMs, join: { is: 'reissued', requestId: earlier.call.requestId, by, hints: known } })
  }

  /** Without a session, another client of that name may count from the same number: sure is only one that has been here since before. */
  function tellReuse(talker: T, client: Peer<T>, requestId: string, earlier: Cut<T>, atMs: number): void {
    const isSame = earlier.beginnings === client.beginnings && talker.view.connection <= earlier.connection
    const detail = `${earlier.recordId}, which was lost, had the same id`
    const broke = { is: 'broke', rule: 'request-id-reused', requestId, detail } as const
    tell(talker, { kind: 'joined', atMs, join: isSame ? broke : { ...broke, severity: 'notice' } })
  }

  function tellStorm(talker: T, requestId: string, issuedAtMs: readonly number[], atMs: number): void {
    const recent = issuedAtMs.filter((issuedMs) => atMs - issuedMs <= STORM_WITHIN_MS)
    const [first] = recent
    if (first === undefined || recent.length <= STORM_MIN) return
    const detail = `issued ${recent.length} times in ${((atMs - first) / 1_000).toFixed(1)} s`
    tell(talker, { kind: 'joined', atMs, join: { is: 'broke', rule: 'retry-storm', requestId, detail } })
  }

  return {
    cut,
    asked,
    learn(name, said) {
      hints.delete(name)
      hints.set(name, said)
      boundMap(hints, TOOLS_MAX)
    },
    forget(member) {
      if (member.cuts === null) return
      for (const one of member.cuts) one.talker = null
      member.cuts = null
      cutTalkers -= 1
    },
    count: () => cuts.size + cutTalkers + hints.size,
  }
}

/** When it was issued, this time and before. */
const issuesOf = <T>({ issuedAtMs, reissuedAtMs }: Member<T>, requestId: string): readonly number[] =>
  reissuedAtMs?.get(requestId) ?? (issuedAtMs === null ? [] : [issuedAtMs])

/** What clients ask again and again by nature is no retry. */
const isFollowed = ({ method }: CallView): boolean =>
  method === 'tools/call' || (method !== null && !/^(initialize|ping|server\/discover|tasks\/.*|logging\/.*)$/.test(method))

/** Answered, though not with a result: a log-in asked for, a session unknown. Overload and failures are worth another try. */
function wasRefused({ seenStatus }: LedgerView): boolean {
  return seenStatus !== null && seenStatus >= 400 && seenStatus < 500 && ![408, 425, 429].includes(seenStatus)
}
