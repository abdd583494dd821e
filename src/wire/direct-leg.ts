/** One request of the direct engine and its connection: what came is told to its owner, or held while that is paused. */
import type { Socket } from 'node:net'
import type { Clock } from '../core/clock.ts'
import type { Break, RawHeaders, Request } from '../core/signal.ts'
import type { KeptSockets } from './kept.ts'
import { UNREAD_WAIT_MS } from './parting.ts'
import { wasSeenReset } from './reset.ts'
import type { ResponseParser } from './response-parser.ts'
import { beginAnswer } from './response-parser.ts'
import type { Fate } from './upstream-fate.ts'
import { fateOf, isResetError } from './upstream-fate.ts'
import type { LegVerbs, UpstreamEvents, UpstreamLeg } from './upstream-port.ts'

/** So much is read on for a paused owner, that the server's end shows; then its connection is paused as well. */
const HELD_BYTES_MAX = 16_384

/** A connection to the server; its listeners and its parser are made once, and serve all its requests. */
export interface DirectSocket extends Socket {
  /** Whose it is; null: it waits for a request. */
  leg: DirectLeg | null
  readonly parser: ResponseParser<DirectSocket>
  readonly kept: KeptSockets<DirectSocket>
  /** A new one, to the same server. */
  another(): DirectSocket
}

export interface DirectLeg extends UpstreamLeg {
  readonly events: UpstreamEvents<unknown>
  readonly owner: unknown
  readonly clock: Clock
  readonly request: Request
  readonly isChunked: boolean
  isReused: boolean
  /** Null once it waits for another request, or was handed over. */
  socket: DirectSocket | null
  /** What the body began with, until the head is sent. */
  waitingBytes: Uint8Array[] | null
  /** The trailers, where all of the body is there; null: more may come. */
  rawTrailers: RawHeaders | null
  isSent: boolean
  /** The request's last byte was written. */
  isAsked: boolean
  needsDrain: boolean
  hasBytes: boolean
  hasHead: boolean
  interims: number
  /** What the answer says of its connection. */
  mayKeep: boolean
  keepAlive: string | null
  /** Bytes came behind the answer. */
  isSpoilt: boolean
  /** The answer's last byte was read. */
  isWhole: boolean
  isPaused: boolean
  held: Uint8Array[] | null
  heldBytes: number
  /** The answer's trailers, once it is whole. */
  answerTrailers: RawHeaders
  /** Nothing more is told: its end was, or its loss. */
  isOver: boolean
  lost: Break | null
  /** What Node said of the connection, where it said something. */
  problem: Error | null
}

/** What a leg begins with. */
export type Begun = Pick<DirectLeg, 'events' | 'owner' | 'clock' | 'request' | 'isChunked' | 'isReused' | 'socket'>

export function createLeg(verbs: LegVerbs, { events, owner, clock, request, isChunked, isReused, socket }: Begun): DirectLeg {
  return {
    verbs,
    events,
    owner,
    clock,
    request,
    isChunked,
    isReused,
    socket,
    waitingBytes: null,
    rawTrailers: null,
    isSent: false,
    isAsked: false,
    needsDrain: false,
    hasBytes: false,
    hasHead: false,
    interims: 0,
    mayKeep: false,
    keepAlive: null,
    isSpoilt: false,
    isWhole: false,
    isPaused: false,
    held: null,
    heldBytes: 0,
    answerTrailers: [],
    isOver: false,
    lost: null,
    problem: null,
  }
}
/** All that a turn of the owner's may change while it is told something. */
const isTold = ({ isOver, lost }: DirectLeg): boolean => isOver || lost !== null

export function tellBytes(leg: DirectLeg, chunk: Uint8Array): void {
  if (!leg.isPaused && leg.held === null) return leg.events.bytes(leg.owner, chunk)
  leg.held ??= []
  leg.held.push(chunk)
  leg.heldBytes += chunk.length
  if (leg.heldBytes >= HELD_BYTES_MAX) leg.socket?.pause()
}

/** The answer is whole; told at once, or behind what is held. */
export function tellEnd(leg: DirectLeg, rawTrailers: RawHeaders): void {
  leg.isWhole = true
  leg.answerTrailers = rawTrailers
  if (!leg.isPaused && leg.held === null) finish(leg)
}

function finish(leg: DirectLeg): void {
  leg.isOver = true
  letGo(leg) // before it is told: the owner's next request may use the connection
  leg.events.end(leg.owner, leg.answerTrailers)
}

/** Nothing more will come: what is held goes first, paused or not. */
export function tellLost(leg: DirectLeg, fate: Fate): void {
  if (isTold(leg)) return
  const held = leg.held ?? []
  leg.held = null
  for (const chunk of held) {
    leg.events.bytes(leg.owner, chunk)
    if (isTold(leg)) return
  }
  leg.isOver = true
  leg.events.lost(leg.owner, fate)
}

/** By `error`, or what was said of the connection before. */
export function tellBroken(leg: DirectLeg, error: Error | null): void {
  const before = leg.isReused && !leg.hasBytes ? 'reused' : 'before-head'
  tellLost(leg, fateOf(breakOf(leg), leg.hasHead ? 'mid-stream' : before, error))
}

export const breakOf = ({ problem, socket }: DirectLeg): Break =>
  (problem !== null && isResetError(problem)) || wasSeenReset(socket) ? 'rst' : 'fin'

/** Later, as a stream would: its owner is in the middle of a turn. */
export function resume(leg: DirectLeg): void {
  if (!leg.isPaused) return
  leg.isPaused = false
  process.nextTick(tellHeld, leg)
}

function tellHeld(leg: DirectLeg): void {
  while (leg.held !== null && !leg.isPaused) {
    const chunk = leg.held.shift()
    if (chunk === undefined) leg.held = null
    else {
      leg.heldBytes -= chunk.length
      leg.events.bytes(leg.owner, chunk)
    }
  }
  if (leg.isPaused || isTold(leg)) return
  if (leg.isWhole) finish(leg)
  else leg.socket?.resume()
}

const NO_BYTES = Buffer.alloc(0)

/** Its bytes may never go: the connection is given up then. */
function giveUpLater({ clock }: DirectLeg, socket: DirectSocket): () => void {
  const timer = clock.after(UNREAD_WAIT_MS, () => socket.destroy())
  socket.once('close', timer.cancel)
  return () => {
    timer.cancel()
    socket.off('close', timer.cancel)
  }
}

/** The answer was told. Once the request is out as well, the connection may serve another, where the server allows it. */
export function letGo(leg: DirectLeg): void {
  const { socket } = leg
  if (socket === null || socket.destroyed) return
  if (!leg.mayKeep) {
    if (!socket.writable) return
    if (socket.writableLength > 0) giveUpLater(leg, socket)
    socket.destroySoon()
  } else if (leg.isAsked && socket.writableLength > 0) {
    // Not before the kernel has it all: a server may have answered without reading.
    const keep = giveUpLater(leg, socket)
    socket.write(NO_BYTES, () => {
      keep()
      letGo(leg)
    })
  } else if (leg.isAsked) {
    if (leg.isSpoilt) return void socket.destroy()
    leg.socket = null
    socket.leg = null
    if (socket.isPaused()) socket.resume()
    socket.kept.put(socket, leg.keepAlive)
  }
}

/** Nothing of it was sent yet, on a connection that served others before. */
export const mayMove = ({ isSent, isReused, lost }: DirectLeg): boolean => !isSent && isReused && lost === null

/** Nothing was sent on the connection it was to use, which had something of its own to say, or ended: another will do. */
export function takeAnother(leg: DirectLeg, old: DirectSocket): void {
  old.leg = null
  old.destroy()
  const socket = old.another()
  leg.isReused = false
  leg.socket = socket
  socket.leg = leg
  beginAnswer(socket.parser, leg.request.method)
}
