/**
 * Who talks to whom: a session, or where there is none a client by its name and address. What is kept of each is bounded,
 * and one that has been quiet for long is forgotten.
 */
import type { Fact } from '../fact.ts'
import type { CallView, LedgerView } from '../ledger-view.ts'

/** An exchange as the conversation knows it. */
export interface Talker {
  readonly id: string
  readonly ledger: { readonly view: LedgerView }
  /** The conversation's own: a map beside it would keep thousands that have left until the next full collection. */
  member?: unknown
}

export type TellTalker<T> = (talker: T, fact: Fact) => void

export interface Peer<T> {
  readonly key: string
  readonly isSession: boolean
  readonly sinceMs: number
  lastMs: number
  /** What its `initialize` agreed on: requests of 2024-11-05 and 2025-03-26 do not say. */
  revision: string | null
  /** How often a client of this name began anew, with `initialize` or `server/discover`. */
  beginnings: number
  /** Its exchanges that are not settled. */
  readonly talkers: Set<T>
  /** Those of them that ask something, by raw JSON-RPC id. */
  readonly calls: Map<string, Set<T>>
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

/** A GET for events that is over. */
export interface EndedGet {
  readonly id: string
  readonly openedAtMs: number
  readonly closedAtMs: number
  readonly wasStream: boolean
}

/** What the conversation keeps of an exchange until it is settled. */
export interface Member<T> {
  readonly peers: Set<Peer<T>>
  /** Its registered ids. */
  readonly ids: Set<string>
  /** The calls whose cancellation it carries to the server. */
  readonly carries: { readonly target: T; readonly requestId: string }[]
  /** Open requests that its cancellation names, in a revision that has none. */
  readonly namesOpen: T[]
  /** By raw id: when this call was issued, this time and before. */
  readonly issuedAtMs: Map<string, readonly number[]>
  /** The exchange whose stream it takes up again, while that is not settled, and the id of its record. */
  resumes: T | null
  resumesId: string | null
  /** Those that take up its stream. */
  readonly resumedBy: Set<T>
  isResumption: boolean
  /** The exchanges whose answers are awaited on its stream. */
  readonly awaitedBy: Set<T>
  /** Events looked at for an `endpoint`. */
  eventsSeen: number
}

export const memberOf = <T>(): Member<T> => ({
  peers: new Set(),
  ids: new Set(),
  carries: [],
  namesOpen: [],
  issuedAtMs: new Map(),
  awaitedBy: new Set(),
  resumedBy: new Set(),
  resumes: null,
  resumesId: null,
  isResumption: false,
  eventsSeen: 0,
})

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
  const peers = new Map<string, Peer<T>>() // the quietest first

  function take(key: string, isSession: boolean, atMs: number): Peer<T> {
    const peer = peers.get(key) ?? peerOf<T>(key, isSession, atMs)
    peers.delete(key)
    peers.set(key, peer)
    peer.lastMs = atMs
    forgetQuiet(atMs)
    return peer
  }

  function forgetQuiet(atMs: number): void {
    for (const [key, peer] of peers) {
      const isTooMany = peers.size > PEERS_MAX
      if (!isTooMany && atMs - peer.lastMs < QUIET_MS_MAX) return
      peers.delete(key)
      if (isTooMany || peer.talkers.size === 0) continue
      peers.set(key, peer) // quiet, with a stream open
      peer.lastMs = atMs
    }
  }

  const ofSession = (session: string, atMs: number): Peer<T> => take(`s ${session}`, true, atMs)
  const ofClient = ({ remote, client }: LedgerView, atMs: number): Peer<T> => take(`c ${remote ?? ''} ${client ?? ''}`, false, atMs)
  return {
    ofSession,
    ofClient,
    of: (view, atMs) => (view.session === null ? ofClient(view, atMs) : ofSession(view.session, atMs)),
    findSession: (session) => peers.get(`s ${session}`) ?? null,
    forget: ({ key }) => void peers.delete(key),
    count: () => peers.size,
  }
}

const peerOf = <T>(key: string, isSession: boolean, atMs: number): Peer<T> => ({
  ...{ key, isSession, sinceMs: atMs, lastMs: atMs, revision: null, beginnings: 0, stream: null, lastGet: null, getsAtMs: [] },
  ...{ talkers: new Set(), calls: new Map(), usedIds: new Set(), taskTokens: new Set() },
})

export const rememberId = (peer: Peer<unknown>, id: string): void => remember(peer.usedIds, id, USED_IDS_MAX)
export const rememberToken = (peer: Peer<unknown>, token: string): void => remember(peer.taskTokens, token, TASK_TOKENS_MAX)

function remember(kept: Set<string>, one: string, max: number): void {
  kept.delete(one)
  kept.add(one)
  const [oldest] = kept
  if (kept.size > max && oldest !== undefined) kept.delete(oldest)
}

/** The oldest go. */
export function boundMap(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return
    map.delete(key)
  }
}

/** A call's record is named so. */
export function recordIdOf({ id, ledger }: Talker, call: CallView): string {
  const index = ledger.view.calls.indexOf(call)
  return index > 0 ? `${id}.${index + 1}` : id
}

/** The body told which requests these are. */
export const isNamed = ({ requestId }: CallView): boolean => requestId !== null && requestId !== ''
