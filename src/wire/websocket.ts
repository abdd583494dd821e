/**
 * One WebSocket session: an exchange like any other, whose request is the client's handshake and whose body, in both directions, are frames.
 * So hops, faults, control and records apply to it as they are; only the two edges differ. No extension is negotiated: what
 * passes is what was said. Messages pass whole; pings, pongs and Close frames pass to the other side, which answers them itself.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { startAsking } from './asking.ts'
import type { Exchange, ExchangePorts, Home } from './exchange.ts'
import { clientLeft, createExchange, orderCut } from './exchange.ts'
import { beginTurn, endTurn } from './turn.ts'
import type { SessionDownstream } from './websocket-downstream.ts'
import { createSessionDownstream } from './websocket-downstream.ts'
import type { Breach } from './websocket-peer.ts'
import { MESSAGE_BYTES_MAX } from './websocket-peer.ts'
import type { SessionUpstream } from './websocket-upstream.ts'
import { createSessionUpstream } from './websocket-upstream.ts'

export interface AskedSession {
  readonly req: IncomingMessage
  readonly socket: Socket
  /** What came behind the handshake in the same read. */
  readonly head: Uint8Array
  readonly home: Home
}

/** The server is dialled first; the client is accepted when the server has accepted, or gets the server's refusal. */
export function openSession(asked: AskedSession, ports: ExchangePorts, whenFinished: (x: Exchange) => void): Exchange {
  const { req, socket, head, home } = asked
  const upstream = createSessionUpstream(ports.upstream, ports.clock, () => endTooLong(x, downstream, upstream, 'server'))
  const downstream: SessionDownstream = createSessionDownstream(
    { req, socket, head, clock: ports.clock },
    {
      said: (pieces, isClose) => fromClient(x, pieces, isClose),
      broke: (breach) => (breach.code === 1009 ? endTooLong(x, downstream, upstream, 'client') : endBroken(x, downstream, breach)),
      endedAs: (ending) => {
        x.answering.endedAs = ending
        x.tell({ kind: 'notice', atMs: x.turnMs, what: 'clean-became-fin' })
      },
      gaveUp() {
        clientLeft(x, 'fin', false)
        downstream.verbs.cut(downstream, 'fin', false)
      },
    },
  )
  const x = createExchange({ req, downstream, home, isSession: true }, { ...ports, upstream }, whenFinished)
  socket.once('close', () => {
    if (x.isFinished) x.leg?.verbs.lose(x.leg, 'fin') // the server's Close will not be answered any more
  })
  startAsking(x)
  return x
}

function fromClient(x: Exchange, pieces: readonly Uint8Array[], isClose: boolean): void {
  if (x.isFinished) {
    // The server has said its Close; this is the answer to it.
    if (isClose) for (const bytes of pieces) x.leg?.verbs.write(x.leg, bytes)
    return
  }
  const nowMs = beginTurn(x)
  for (const bytes of pieces) {
    x.tell({ kind: 'moved', atMs: nowMs, flow: 'request', bytes: bytes.length })
    x.line?.fromClient({ is: 'piece', bytes, mark: null }, nowMs)
  }
  endTurn(x)
}

/** Reaching a limit is told: to both sides as 1009, and to the record as its cause. */
function endTooLong(x: Exchange, downstream: SessionDownstream, upstream: SessionUpstream, from: 'client' | 'server'): void {
  downstream.sayClose(1009)
  upstream.sayClose(1009)
  orderCut(x, 'fin', { kind: 'limit', seat: null, detail: `a WebSocket message of the ${from}'s is over ${MESSAGE_BYTES_MAX} bytes` })
}

/** What a client sends against the protocol cannot be passed on: it is told, and the server sees it gone. */
function endBroken(x: Exchange, downstream: SessionDownstream, { code }: Breach): void {
  downstream.sayClose(code)
  if (!x.isFinished) {
    x.tell({ kind: 'notice', atMs: x.ports.clock.nowMs(), what: 'websocket-protocol-broken' })
    clientLeft(x, 'fin', false)
  }
  downstream.verbs.cut(downstream, 'fin', false)
}
