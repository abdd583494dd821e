/** The client's side of a WebSocket session: a refusal is an HTTP answer, a 101 opens the session, and it ends by Close, FIN or RST. */
import type { IncomingMessage } from 'node:http'
import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../core/clock.ts'
import type { Ending } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import type { Downstream, DownstreamVerbs } from './downstream.ts'
import { createDownstream, HTTP_DOWNSTREAM } from './downstream.ts'
import { CLOSE, closePayload, createFrameReader, frameOf } from './websocket-frames.ts'
import { switchingHead } from './websocket-handshake.ts'
import type { PeerEvents } from './websocket-peer.ts'
import { createPeer } from './websocket-peer.ts'
import { CLOSE_WAIT_MS } from './websocket-upstream.ts'

export interface SessionEvents extends PeerEvents {
  /** A clean end was to be said in the middle of a frame: it is a FIN. */
  endedAs(ending: Ending): void
  /** It closed its side after its Close, and the server has not answered that in time. */
  gaveUp(): void
}

export interface SessionDownstream extends Downstream {
  /** A Close of the sidecar's own, where the session is open, between two frames, and was sent none. */
  sayClose(code: number): void
}

const GOING_AWAY = 1001

export function createSessionDownstream(
  { req, socket, head, clock }: { req: IncomingMessage; socket: Socket; head: Uint8Array; clock: Clock },
  events: SessionEvents,
): SessionDownstream {
  const res = new ServerResponse(req)
  res.on('error', () => undefined)
  res.assignSocket(socket)
  const http = createDownstream(req, res, clock)
  let isOpen = false
  let isEnded = false
  let hasSentClose = false
  let hasHeardClose = false
  const sent = createFrameReader((opcode) => {
    if (opcode === CLOSE) hasSentClose = true
  })
  const peer = createPeer(
    socket,
    { isClient: true, head },
    {
      said(pieces, isClose) {
        hasHeardClose ||= isClose
        events.said(pieces, isClose)
        if (isClose && isEnded) hangUp()
      },
      broke: events.broke,
    },
  )

  function hangUp(): void {
    peer.ignore()
    HTTP_DOWNSTREAM.cut(http, 'fin', false)
  }
  /** Runs unless the connection closes before. */
  function afterCloseWait(run: () => void): void {
    const timer = clock.after(CLOSE_WAIT_MS, run)
    socket.once('close', () => timer.cancel())
  }
  function sayClose(code: number): void {
    if (!isOpen || hasSentClose || !sent.isBetweenFrames() || !socket.writable) return
    hasSentClose = true
    for (const bytes of frameOf(CLOSE, closePayload(code))) socket.write(bytes)
  }
  function endSession(): void {
    isEnded = true
    sayClose(GOING_AWAY) // no word of the server's: a hop or fault ends it cleanly
    if (!hasSentClose) events.endedAs('fin')
    if (!hasSentClose || hasHeardClose) return hangUp()
    peer.resume()
    afterCloseWait(hangUp)
  }

  socket.setNoDelay(true)
  const verbs: DownstreamVerbs = {
    ...HTTP_DOWNSTREAM,
    head(_, answer, framing) {
      if (answer.status !== 101) return HTTP_DOWNSTREAM.head(http, answer, framing, false) // no request can follow on this connection
      isOpen = true
      res.detachSocket(socket)
      socket.write(switchingHead(answer, headerOf(req.rawHeaders, 'sec-websocket-key') ?? ''), 'latin1')
      queueMicrotask(peer.begin) // after the head was told
    },
    interim(_, interim) {
      if (!isOpen) HTTP_DOWNSTREAM.interim(http, interim)
    },
    write(_, bytes) {
      if (!isOpen) return HTTP_DOWNSTREAM.write(http, bytes)
      if (!socket.writable) return true
      sent.feed(bytes)
      return socket.write(bytes)
    },
    end(_, rawTrailers) {
      if (isOpen) return endSession()
      res.once('finish', hangUp)
      HTTP_DOWNSTREAM.end(http, rawTrailers)
    },
    cut(_, ending, isSilent) {
      peer.ignore()
      const how = HTTP_DOWNSTREAM.cut(http, ending, isSilent)
      return hasSentClose && how === 'fin' ? 'clean' : how
    },
    endsByClosing: () => !isOpen && HTTP_DOWNSTREAM.endsByClosing(http),
    discardRequest: () => undefined,
    backlogBytes: () => HTTP_DOWNSTREAM.backlogBytes(http),
    pauseRequest: peer.pause,
    resumeRequest: peer.resume,
    takesFin() {
      if (!hasHeardClose || isEnded) return false
      afterCloseWait(events.gaveUp)
      return true
    },
  }
  return { verbs, sayClose }
}
