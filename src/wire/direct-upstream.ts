/** The server's side on bare sockets, with a parser of its own: the same promises as upstream.ts, without a request object for each exchange. */
import { createBag } from '../core/bag.ts'
import type { Clock } from '../core/clock.ts'
import { headerOf } from '../core/signal.ts'
import { createDialer } from './direct-connection.ts'
import type { DirectLeg, DirectSocket } from './direct-leg.ts'
import { breakOf, createLeg, letGo, mayMove, resume, takeAnother, tellBroken, tellBytes, tellEnd, tellLost } from './direct-leg.ts'
import { sendEnd, sendPiece, sendRequest } from './direct-send.ts'
import { framingOf } from './headers.ts'
import { createKept } from './kept.ts'
import { errorOf, problems } from './parse-problem.ts'
import { leaveSocket } from './parting.ts'
import { readFirst } from './read-first.ts'
import { afterPoll } from './real-clock.ts'
import { watchForReset } from './reset.ts'
import type { AnswerEvents } from './response-parser.ts'
import { beginAnswer, createParser, feed, isKeepable, readsToEnd, stopReading } from './response-parser.ts'
import { UNASKED_SWITCH } from './upstream-fate.ts'
import type { LegVerbs, UpstreamEvents, UpstreamPort } from './upstream-port.ts'

const INTERIM_MAX = 16
const NO_PIECES: readonly Uint8Array[] = []

export function createDirectUpstream(origin: URL, clock: Clock): UpstreamPort {
  const connect = createDialer(origin)
  const kept = createKept<DirectSocket>()
  const open = createBag<DirectSocket>()

  function connectNew(): DirectSocket {
    const bare = connect()
    const socket: DirectSocket = Object.assign(bare, {
      leg: null,
      kept,
      another: connectNew,
      parser: createParser(ANSWER, bare as DirectSocket),
    })
    readFirst(socket)
    watchForReset(socket)
    socket.on('data', onData)
    socket.on('end', onEnd)
    socket.on('error', onError)
    socket.on('drain', onDrain)
    socket.on('close', onClose)
    const place = open.add(socket)
    socket.on('close', () => {
      open.remove(place)
      clock.catchUp(clock.nowMs()) // hundreds that were left may close in one poll
    })
    return socket
  }

  return {
    dial(request, isChunked, events, owner) {
      const reused = kept.take()
      const socket = reused ?? connectNew()
      const leg = createLeg(verbs, {
        request,
        isChunked,
        events: events as UpstreamEvents<unknown>,
        owner,
        clock,
        socket,
        isReused: reused !== null,
      })
      socket.leg = leg
      beginAnswer(socket.parser, request.method)
      afterPoll(sendDue, leg) // the head goes ahead of a slow body, and with one that is there
      return leg
    },
    close() {
      kept.close()
      for (const socket of open) socket.destroy()
    },
  }
}

const verbs: LegVerbs = {
  write(leg: DirectLeg, bytes) {
    const { socket } = leg
    if (leg.lost !== null || bytes.length === 0) return true
    if (!leg.isSent) {
      leg.waitingBytes ??= []
      leg.waitingBytes.push(bytes)
      return true
    }
    if (socket?.writable !== true) return true // nobody wants the rest
    const isTaken = sendPiece(socket, bytes, leg.isChunked)
    if (!isTaken) leg.needsDrain = true
    return isTaken
  },
  end(leg: DirectLeg, rawTrailers) {
    if (leg.lost !== null) return
    leg.rawTrailers = rawTrailers
    if (!leg.isSent) return send(leg)
    if (leg.socket?.writable === true) sendEnd(leg.socket, rawTrailers, leg.isChunked)
    asked(leg)
  },
  lose(leg: DirectLeg, ending) {
    if (leg.lost !== null) return
    leg.lost = ending
    leg.held = null
    const { socket } = leg
    if (socket === null) return
    stopReading(socket.parser)
    if (leg.isOver) socket.destroy()
    else {
      socket.resume()
      leaveSocket(socket, ending, leg.clock)
    }
  },
  pause(leg: DirectLeg) {
    leg.isPaused = true
  },
  resume,
  isConnected: ({ socket }: DirectLeg) => socket === null || !socket.connecting,
}

function sendDue(leg: DirectLeg): void {
  if (!leg.isSent && leg.lost === null) send(leg)
}

function send(leg: DirectLeg): void {
  const { socket, request, isChunked, waitingBytes, rawTrailers } = leg
  leg.isSent = true
  leg.waitingBytes = null
  if (socket?.writable === true) {
    const isTaken = sendRequest(socket, { request, isChunked, pieces: waitingBytes ?? NO_PIECES, rawTrailers })
    if (!isTaken) leg.needsDrain = true
  }
  if (rawTrailers !== null) asked(leg)
}

function asked(leg: DirectLeg): void {
  leg.isAsked = true
  if (leg.isOver) letGo(leg)
}

/** What the parser reads, told on. */
const ANSWER: AnswerEvents<DirectSocket> = {
  interim({ leg }, { status, reason, rawHeaders }) {
    if (leg === null) return
    leg.interims += 1
    if (status !== 100 && leg.interims <= INTERIM_MAX) leg.events.interim(leg.owner, status, reason, rawHeaders)
  },
  head({ leg }, head) {
    if (leg === null) return
    const { status, reason, rawHeaders } = head
    leg.hasHead = true
    leg.mayKeep = isKeepable(head)
    leg.keepAlive = headerOf(rawHeaders, 'keep-alive')
    const framing = framingOf(rawHeaders)
    leg.events.head(leg.owner, status, reason, rawHeaders, framing === 'none' ? 'eof' : framing)
  },
  bytes({ leg }, chunk) {
    if (leg !== null) tellBytes(leg, chunk)
  },
  end({ leg }, rawTrailers, hasMore) {
    if (leg === null) return
    leg.isSpoilt = hasMore
    tellEnd(leg, rawTrailers)
  },
  switched(socket, { reason, rawHeaders }, rest) {
    const { leg } = socket
    if (leg === null) return
    if (leg.events.upgraded === undefined) {
      socket.destroy()
      return tellLost(leg, UNASKED_SWITCH)
    }
    leg.isOver = true
    leg.socket = null
    socket.leg = null
    socket.off('data', onData)
    socket.off('end', onEnd)
    socket.off('drain', onDrain)
    leg.events.upgraded(leg.owner, reason, rawHeaders, socket, rest)
  },
}

// Node's emitters call with themselves as `this`: one function serves all connections.

function onData(this: DirectSocket, chunk: Buffer): void {
  const { leg, parser } = this
  if (leg === null) return void this.destroy() // nobody asked: what follows could be mistaken for an answer
  if (mayMove(leg)) return takeAnother(leg, this)
  leg.hasBytes = true
  if (leg.isWhole) leg.isSpoilt = true
  else if (feed(parser, chunk) === -1) {
    leg.problem ??= errorOf(parser.problem ?? problems.protocol)
    this.destroy()
    tellBroken(leg, leg.problem)
  }
}

function onEnd(this: DirectSocket): void {
  const { leg, parser } = this
  if (leg === null) return
  if (mayMove(leg)) return takeAnother(leg, this)
  this.destroy()
  if (!leg.hasHead) tellBroken(leg, hangUp())
  else if (readsToEnd(parser) && leg.problem === null && breakOf(leg) === 'fin') {
    stopReading(parser)
    if (leg.lost === null && !leg.isOver) tellEnd(leg, [])
  }
}

function onError(this: DirectSocket, error: Error): void {
  const { leg } = this
  if (leg === null) return
  leg.problem ??= error
  if (!leg.hasHead) tellBroken(leg, error)
}

function onClose(this: DirectSocket): void {
  const { leg } = this
  if (leg === null || leg.isWhole) return
  if (mayMove(leg)) return takeAnother(leg, this)
  tellBroken(leg, leg.hasHead ? leg.problem : hangUp())
}

function onDrain(this: DirectSocket): void {
  const { leg } = this
  if (leg === null || !leg.needsDrain || leg.lost !== null) return
  leg.needsDrain = false
  leg.events.drained(leg.owner)
}

/** In the words of Node's client, for whom it has the code of a reset as well. */
const hangUp = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
