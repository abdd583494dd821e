/** WS /api/v1/live: what happens to calls as it happens, one JSON message each. It is only read: whatever a peer sends is ignored. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import type { UpgradeRoute } from '../server.ts'

/** Gives the way to stop listening. `tell` takes what becomes one message. */
export type Subscribe = (tell: (message: unknown) => void) => () => void

export interface LiveRoute extends UpgradeRoute {
  close(): void
}

const PEERS_MAX = 50
const MESSAGE_BYTES_MAX = 4_096
/** A peer that reads more slowly than calls happen misses messages; how many, it is told. */
export const UNREAD_BYTES_MAX = 1_048_576

export function liveRoute(subscribe: Subscribe): LiveRoute {
  const server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES_MAX, perMessageDeflate: false })
  const peers = new Set<WebSocket>()

  function serve(peer: WebSocket): void {
    peers.add(peer)
    let missed = 0
    const forget = subscribe((message) => {
      if (peer.bufferedAmount > UNREAD_BYTES_MAX) {
        missed += 1
        return
      }
      if (missed > 0) peer.send(JSON.stringify({ is: 'missed', count: missed }))
      missed = 0
      peer.send(JSON.stringify(message))
    })
    peer.on('error', () => peer.terminate())
    peer.on('close', () => {
      forget()
      peers.delete(peer)
    })
  }

  return {
    path: '/api/v1/live',
    summary: 'What happens to calls, as it happens: {"is":"opened"|"head"|"closed"|"would-cut"|"settled"|"scenario", …}',
    take(request: IncomingMessage, socket: Duplex, head: Buffer) {
      if (peers.size >= PEERS_MAX) {
        socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
        return
      }
      server.handleUpgrade(request, socket, head, serve)
    },
    close() {
      for (const peer of peers) peer.terminate()
      server.close()
    },
  }
}
