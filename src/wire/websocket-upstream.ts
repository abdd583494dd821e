/** The server's side of a WebSocket session: dialled as an HTTP request, and after its 101 a leg of frames. */
import type { Socket } from 'node:net'
import type { Clock } from '../core/clock.ts'
import type { Break, RawHeaders } from '../core/signal.ts'
import { leaveSocket } from './parting.ts'
import { wasSeenReset } from './reset.ts'
import { isResetError } from './upstream-fate.ts'
import type { LegVerbs, UpstreamEvents, UpstreamLeg, UpstreamPort } from './upstream-port.ts'
import { CLOSE, closePayload, createFrameReader, maskedFrameOf } from './websocket-frames.ts'
import { handshakeOf, newKey, whyNoSession } from './websocket-handshake.ts'
import type { Breach } from './websocket-peer.ts'
import { createPeer } from './websocket-peer.ts'

/** A server that said its Close and waits for our FIN, or a client that does not answer one, is left after this. */
export const CLOSE_WAIT_MS = 5_000

export interface SessionUpstream extends UpstreamPort {
  /** A Close of the sidecar's own, where the server has a session and was sent none. */
  sayClose(code: number): void
}

/** A session's leg, once there is one. */
interface SessionLeg {
  write(bytes: Uint8Array): boolean
  lose(ending: Break): void
  pause(): void
  resume(): void
  sayClose(code: number): void
}

/** What a session's leg tells, its owner known. */
type SessionEvents = {
  readonly [Name in 'bytes' | 'end' | 'lost' | 'drained']: UpstreamEvents<unknown>[Name] extends (
    owner: unknown,
    ...told: infer Told
  ) => void
    ? (...told: Told) => void
    : never
}

/** One session's way to the server. `tooLong`: it sent a message over the limit; that is not its end. */
export function createSessionUpstream(upstream: UpstreamPort, clock: Clock, tooLong: (breach: Breach) => void): SessionUpstream {
  let session: SessionLeg | null = null
  return {
    ...upstream,
    sayClose: (code) => session?.sayClose(code),
    dial(request, _, events, owner) {
      const key = newKey()
      const told: SessionEvents = {
        bytes: (chunk) => events.bytes(owner, chunk),
        end: (rawTrailers) => events.end(owner, rawTrailers),
        lost: (fate) => events.lost(owner, fate),
        drained: () => events.drained(owner),
      }
      const upgraded = (reason: string, rawHeaders: RawHeaders, socket: Socket, head: Uint8Array): void => {
        const why = whyNoSession(rawHeaders, key)
        if (why !== null) {
          socket.destroy()
          return told.lost({ ending: 'fin', kind: 'server_close', detail: `the server's 101 opens no WebSocket session: ${why}` })
        }
        session = openLeg(socket, head, { events: told, clock, tooLong })
        if (isPaused) session.pause()
        events.head(owner, 101, reason, rawHeaders, 'sized')
      }
      const handshake: UpstreamEvents<unknown> = { ...events, upgraded: (_owner, ...how) => upgraded(...how) }
      const asking = upstream.dial(handshakeOf(request, key), false, handshake, owner)
      let isPaused = false
      return {
        verbs: verbsOf(
          asking,
          () => session,
          (isNow) => {
            isPaused = isNow
          },
        ),
      }
    },
  }
}

/** Those of the handshake, until there is a session. */
function verbsOf(asking: UpstreamLeg, session: () => SessionLeg | null, paused: (isNow: boolean) => void): LegVerbs {
  const orAsking = (own: (leg: SessionLeg) => void, orElse: (leg: UpstreamLeg) => void): void => {
    const now = session()
    if (now === null) orElse(asking)
    else own(now)
  }
  return {
    write: (_, bytes) => session()?.write(bytes) ?? true,
    end: (_, rawTrailers) =>
      orAsking(
        () => undefined,
        (leg) => leg.verbs.end(leg, rawTrailers),
      ),
    lose: (_, ending) =>
      orAsking(
        (leg) => leg.lose(ending),
        (leg) => leg.verbs.lose(leg, ending),
      ),
    pause() {
      paused(true)
      orAsking(
        (leg) => leg.pause(),
        (leg) => leg.verbs.pause(leg),
      )
    },
    resume() {
      paused(false)
      orAsking(
        (leg) => leg.resume(),
        (leg) => leg.verbs.resume(leg),
      )
    },
    isConnected: () => session() !== null || asking.verbs.isConnected(asking),
  }
}

interface LegPorts {
  readonly events: SessionEvents
  readonly clock: Clock
  readonly tooLong: (breach: Breach) => void
}

function openLeg(socket: Socket, head: Uint8Array, { events, clock, tooLong }: LegPorts): SessionLeg {
  let isOver = false // nothing more is told
  let isLeft = false // nothing more is sent
  let hasSaidClose = false
  const peer = createPeer(
    socket,
    { isClient: false, head },
    {
      said(pieces, isClose) {
        if (isOver) return
        for (const bytes of pieces) events.bytes(bytes)
        if (!isClose) return
        isOver = true
        const timer = clock.after(CLOSE_WAIT_MS, () => leave('fin'))
        socket.once('close', () => timer.cancel())
        events.end([])
      },
      broke(breach) {
        if (breach.code === 1009) tooLong(breach)
        sayClose(breach.code)
        tellLost('fin', `the server broke the WebSocket protocol: ${breach.why}`)
        leave('fin')
      },
    },
  )
  const reader = createFrameReader((opcode, pieces) => {
    if (hasSaidClose || isLeft) return
    hasSaidClose = opcode === CLOSE
    const [only] = pieces
    send(maskedFrameOf(opcode, pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)))
  })

  function send(pieces: readonly Uint8Array[]): void {
    if (!socket.writable) return
    socket.cork()
    for (const bytes of pieces) socket.write(bytes)
    socket.uncork()
  }
  function sayClose(code: number): void {
    if (hasSaidClose || isLeft) return
    hasSaidClose = true
    send(maskedFrameOf(CLOSE, closePayload(code)))
  }
  function leave(ending: Break): void {
    if (isLeft) return
    isLeft = isOver = true
    peer.ignore()
    leaveSocket(socket, ending, clock)
  }
  function tellLost(ending: Break, detail: string): void {
    if (isOver) return
    isOver = true
    events.lost({ ending, kind: ending === 'rst' ? 'server_reset' : 'server_close', detail })
  }
  function gone(ending: Break, why: string): void {
    tellLost(ending, `the server ${ending === 'rst' ? 'reset' : 'closed'} the WebSocket connection without a Close frame${why}`)
    socket.destroy()
  }

  socket.setNoDelay(true)
  socket.on('end', () => gone(wasSeenReset(socket) ? 'rst' : 'fin', ''))
  socket.on('error', (error) => gone(isResetError(error) ? 'rst' : 'fin', `: ${error.message}`))
  socket.on('close', () => gone(wasSeenReset(socket) ? 'rst' : 'fin', ''))
  socket.on('drain', () => {
    if (!isLeft) events.drained()
  })
  queueMicrotask(() => {
    if (!isLeft) peer.begin() // after the head was told
  })
  return {
    write(bytes) {
      reader.feed(bytes)
      return isLeft || !socket.writableNeedDrain
    },
    lose: leave,
    pause: peer.pause,
    resume: peer.resume,
    sayClose,
  }
}
