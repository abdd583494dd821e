/** How the server is left: it sees a FIN or a RST at once, whatever is under way in either direction. */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../core/clock.ts'
import type { Break } from '../core/signal.ts'
import { sendReset } from './reset.ts'

/** A FIN that the server does not answer: the connection is destroyed after this. */
const FIN_WAIT_MS = 1_000

/** `destroy()` is a FIN only where nothing is unread, else a reset: so end, discard, and destroy a little later. */
export function leaveServer(outgoing: ClientRequest, incoming: IncomingMessage | null, ending: Break, clock: Clock): void {
  const { socket } = outgoing
  if (socket === null) {
    outgoing.destroy()
    return
  }
  incoming?.resume()
  leaveSocket(socket, ending, clock, () => outgoing.destroy())
}

/** A server that has answered, and does not read what it answered to, has so long: its bytes may never go. */
export const UNREAD_WAIT_MS = 5_000

/** The same for a connection that is being read and dropped already. */
export function leaveSocket(socket: Socket, ending: Break, clock: Clock, destroy: () => void = () => socket.destroy()): void {
  if (ending === 'rst' && !socket.connecting) {
    sendReset(socket) // of one that is being made it would wait until the connection is there, and the request with it
    return
  }
  if (socket.connecting || socket.writableLength > 0) {
    destroy() // a FIN behind what the server does not read would never come
    return
  }
  socket.end()
  const timer = clock.after(FIN_WAIT_MS, destroy)
  socket.once('close', () => timer.cancel())
}
