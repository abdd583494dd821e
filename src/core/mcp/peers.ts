/**
 * Who talks to whom: a session, or where there is none a client by its name and address. What is kept of each is bounded,
 * and one that has been quiet for long is forgotten.
 */
import type { Fact } from '../fact.ts'
import type { CallView, LedgerView } from '../ledger-view.ts'
import type { InRow, Row } from '../row.ts'
import { putLast, takeOut } from '../row.ts'

/** An exchange as the conversation knows it. */
export interface Talker {
  readonly id: string
  readonly view: LedgerView
  /** The conversation's own: a map beside it would keep thousands that have left until the next full collection. */
  member?: unknown
}

export type TellTalker<T> = (talker: T, fact: Fact) => void

export interface Peer<T> extends InRow<Peer<T>> {
  readonly key: string
  readonly isSession: boolean
  readonly sinceMs: number
  lastMs: number
  /** What its `initialize` agreed on: requests of 2024-11-05 and 2025-03-26 do not say. */
  revision: string | null
  /** How often a client of this name began anew, with `initialize` or `server/discover`. */
  beginnings: number
  /** Its exchanges that are not settled, in the order they came. */
  readonly seats: Row<Seat<T>>
  /** Those of them that ask something, by raw JSON-RPC id. */
  calls: Map<string, Asked<T>>
  /** Of those ids, how many nobody asks under now. */
  idleIds: number
  /** Ids of settled requests, oldest first. */
  readonly usedIds: Set<string>
  /** Tokens that tasks may still use. */
  readonly taskTokens: Set<string>
  /** The stream of 2024-11-05 on which its answers come. */
  stream: T | null
  lastGet: EndedGet | null
  /** When it opened its latest GET streams. */
  getsAtMs: readonly number[]
}

/** Where an exchange stands among its peer's. */
export interface Seat<T> extends InRow<Seat<T>> {
  readonly peer: Peer<T>
  readonly talker: T
}

/** Who asks under one id, in the order they came: thousands may, where clients without a session all count from 1. */
export interface Asked<T> extends Row<Asking<T>> {
  readonly id: string
}
export interface Asking<T> extends InRow<Asking<T>> {
  readonly peer: Peer<T>
  readonly among: Asked<T>
  readonly talker: T
}

/** A GET for events that is over. */
export interface EndedGet {
  readonly id: string
  readonly openedAtMs: number
  readonly closedAtMs: number
  readonly wasStream: boolean
}

/** What the conversation keeps of an exchange until it is settled; most of it is for few, and null until then. */
export interface Member<T> {
  /** One per peer: its session, its client. */
  seats: readonly Seat<T>[]
  /** Its registered ids: one per call and peer. */
  asking: readonly Asking<T>[]
  /** The calls whose cancellation it carries to the server. */
  carries: { readonly target: T; readonly requestId: string }[] | null
  /** Open requests that its cancellation names, in a revision that has none. */
  namesOpen: T[] | null
  /** When its calls were issued, and for those that were issued before as well: when, by raw id. */
  issuedAtMs: number | null
  reissuedAtMs: Map<string, readonly number[]> | null
  /** The exchange whose stream it takes up again, while that is not settled, and the id of its record. */
  resumes: T | null
  resumesId: string | null
  /** Those that take up its stream. */
  resumedBy: Set<T> | null
  isResumption: boolean
  /** The exchanges whose answers are awaited on its stream. */
  awaitedBy: Set<T> | null
  /** Events looked at for an `endpoint`. */
  eventsSeen: number
  /** What knows of its calls that were given up. */
  cuts: { talker: T | null }[] | null
}

const NONE: readonly never[] = []

export const memberOf = <T>(): Member<T> => ({
  seats: NONE,
  asking: NONE,
  carries: null,
  namesOpen: null,
  issuedAtMs: null,
  reissuedAtMs: null,
  resumes: null,
  resumesId: null,
  resumedBy: null,
  isResumption: false,
  awaitedBy: null,
  eventsSeen: 0,
  cuts: null,
})

/** Takes its seat, the last of the row; once. */
export function sit<T>(talker: T, member: Member<T>, peer: Peer<T>): void {
  for (const seat of member.seats) if (seat.peer === peer) return
  const seat: Seat<T> = { peer, talker, before: null, after: null }
  putLast(peer.seats, seat)
  member.seats = member.seats.length === 0 ? [seat] : [...member.seats, seat]
}

export const PEERS_MAX = 5_000
export const QUIET_MS_MAX = 1_800_000
const USED_IDS_MAX = 200
const TASK_TOKENS_MAX = 100

export interface Peers<T> {
  /** The session's, else the client's; made if it is new. */
  of(view: LedgerView, atMs: number): Peer<T>
  ofSession(session: string, atMs: number): Peer<T>
  ofClient(view: LedgerView, atMs: number): Peer<T>
  findSession(session: string): Peer<T> | null
  forget(peer: Peer<T>): void
  count(): number
}

export function createPeers<T>(): Peers<T> {
  const peers = new Map<string, Peer<T>>()
  const row: Row<Peer<T>> = { first: null, last: null } // the quietest first

  function take(key: string, isSession: boolean, atMs: number): Peer<T> {
    let peer = peers.get(key)
    if (peer === undefined) {
      peer = peerOf<T>(key, isSession, atMs)
      peers.set(key, peer)
      putLast(row, peer)
    } else if (peer !== row.last) {
      takeOut(row, peer)
      putLast(row, peer)
    }
    peer.lastMs = atMs
    forgetQuiet(atMs)
    return peer
  }

  function forget(peer: Peer<T>): void {
    if (peers.get(peer.key) !== peer) return
    peers.delete(peer.key)
    takeOut(row, peer)
  }

  function forgetQuiet(atMs: number): void {
    for (let peer = row.first; peer !== null; peer = row.first) {
      const isTooMany = peers.size > PEERS_MAX
      if (!isTooMany && atMs - peer.lastMs < QUIET_MS_MAX) return
      if (isTooMany || peer.seats.first === null) forget(peer)
      else {
        takeOut(row, peer) // quiet, with a stream open
        putLast(row, peer)
        peer.lastMs = atMs
      }
    }
  }

  const ofSession = (session: string, atMs: number): Peer<T> => take(`s ${session}`, true, atMs)
  const clients = createLatest((remote, client) => `c ${remote} ${client}`)
  const ofClient = ({ remote, client }: LedgerView, atMs: number): Peer<T> => take(clients.keyOf(remote ?? '', client ?? ''), false, atMs)
  return {
    ofSession,
    ofClient,
    of: (view, atMs) => (view.session === null ? ofClient(view, atMs) : ofSession(view.session, atMs)),
    findSession: (session) => peers.get(`s ${session}`) ?? null,
    forget,
    count: () => peers.size,
  }
}

/** One who asks asks again: the key last made, and of what. */
function createLatest(make: (remote: string, client: string) => string) {
  let latest = { remote: '', client: '', key: make('', '') }
  return {
    keyOf(remote: string, client: string): string {
      if (latest.remote !== remote || latest.client !== client) latest = { remote, client, key: make(remote, client) }
      return latest.key
    },
  }
}

const peerOf = <T>(key: string, isSession: boolean, atMs: number): Peer<T> => ({
  ...{ key, isSession, sinceMs: atMs, lastMs: atMs, before: null, after: null, revision: null, beginnings: 0 },
  ...{ stream: null, lastGet: null, getsAtMs: [], seats: { first: null, last: null } },
  ...{ calls: new Map(), idleIds: 0, usedIds: new Set(), taskTokens: new Set() },
})

export const rememberId = (peer: Peer<unknown>, id: string): void => remember(peer.usedIds, id, USED_IDS_MAX)
export const rememberToken = (peer: Peer<unknown>, token: string): void => remember(peer.taskTokens, token, TASK_TOKENS_MAX)

function remember(kept: Set<string>, one: string, max: number): void {
  kept.delete(one)
  kept.add(one)
  if (kept.size <= max) return
  const [oldest] = kept
  if (oldest !== undefined) kept.delete(oldest)
}

/** The oldest go. */
export function boundMap(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return
    map.delete(key)
  }
}

/** A call's record is named so. */
export function recordIdOf({ id, view }: Talker, call: CallView): string {
  const index = view.calls.indexOf(call)
  return index > 0 ? `${id}.${index + 1}` : id
}

/** The body told which requests these are. */
export const isNamed = ({ requestId }: CallView): boolean => requestId !== null && requestId !== ''
