/** The probe's WebSocket: one JSON message per frame, on the OTLP port (`/work`) and on the admin port (`/api/v1/work`). */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import type { Clock, Timer } from '../core/clock.ts'
import type { WorkPort } from './work-port.ts'

export interface WorkSocket {
  /** Takes an upgrade whose path and caller were checked. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void
  close(): void
}

const MESSAGE_BYTES_MAX = 65_536
const CONNECTIONS_MAX = 1_000
const PING_EVERY_MS = 30_000
/** A peer that does not read its problems gets no more of them. */
const UNREAD_BYTES_MAX = 65_536

/** Good messages are not answered; a bad one gets `{"problem":"…"}` and the connection lives on. */
export function createWorkSocket({ workPort, clock }: { workPort: Pick<WorkPort, 'takeProbeMessage'>; clock: Clock }): WorkSocket {
  const server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES_MAX, perMessageDeflate: false })
  const alive = new Map<WebSocket, boolean>()
  let timer: Timer | null = null

  /** A peer that vanished without a word shows only in that it does not answer. */
  function pingAll(): void {
    timer = null
    for (const [socket, isAlive] of alive) {
      if (isAlive) {
        alive.set(socket, false)
        socket.ping()
      } else socket.terminate()
    }
    arm()
  }

  function arm(): void {
    if (timer === null && alive.size > 0) timer = clock.after(PING_EVERY_MS, pingAll)
  }

  function serve(socket: WebSocket): void {
    alive.set(socket, true)
    arm()
    socket.on('pong', () => alive.set(socket, true))
    socket.on('error', () => socket.terminate()) // an oversized or broken frame; ws has told the peer
    socket.on('close', () => {
      alive.delete(socket)
      if (alive.size > 0 || timer === null) return
      timer.cancel()
      timer = null
    })
    socket.on('message', (frame, isBinary) => {
      alive.set(socket, true)
      const problem = isBinary ? 'expected a text frame of JSON, got a binary one' : problemOf(workPort, textOf(frame))
      if (problem !== null && socket.bufferedAmount < UNREAD_BYTES_MAX) socket.send(JSON.stringify({ problem }))
    })
  }

  return {
    take(request, socket, head) {
      socket.on('error', () => socket.destroy())
      if (alive.size >= CONNECTIONS_MAX) {
        socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
        return
      }
      server.handleUpgrade(request, socket, head, serve)
    },
    close() {
      timer?.cancel()
      for (const socket of alive.keys()) socket.terminate()
      server.close()
    },
  }
}

const textOf = (frame: RawData): string => (Array.isArray(frame) ? Buffer.concat(frame) : Buffer.from(frame as Buffer)).toString('utf8')

/** Takes one message as text; what is wrong with it, or null. */
export function problemOf(workPort: Pick<WorkPort, 'takeProbeMessage'>, text: string): string | null {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return 'expected one JSON object, got no JSON'
  }
  const { status, problem } = workPort.takeProbeMessage(json)
  return status === 202 ? null : (problem ?? 'no probe message')
}
