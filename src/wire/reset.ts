/** TCP resets: how one is sent, and how one that came is told from a FIN. */
import type { Socket } from 'node:net'
import type { Break } from '../core/signal.ts'

/** A TLS or Unix connection knows no reset: there it is a plain close. What was done is returned. */
export function sendReset(socket: Socket): Break {
  try {
    socket.resetAndDestroy()
    return 'rst'
  } catch {
    socket.destroy()
    return 'fin'
  }
}

/**
 * Whether the `end` just emitted is a reset in disguise: bytes and a reset that arrive in one poll reach Node as bytes and `end`.
 * The kernel still knows, for a reset connection has no peer; after a FIN of our own neither has a finished one, and this says no.
 */
export function endsInReset(socket: Socket): boolean {
  return !socket.writableEnded && hasLostPeer(socket)
}

/** The kernel knows no other end of this connection any more. */
export function hasLostPeer(socket: Socket): boolean {
  const { _handle: handle } = socket as unknown as { _handle?: { getpeername?(out: object): number } | null }
  return handle?.getpeername !== undefined && handle.getpeername({}) !== 0
}

/** Kept on the socket: a WeakSet, once old, keeps all its members, and what hangs on them, until the next full collection. */
const wasReset = Symbol('reset by the peer')
type Watched = Socket & { [wasReset]?: boolean }

/** Looks at the socket's `end` before anybody else does; once is enough for a connection used again and again. */
export function watchForReset(socket: Watched): void {
  if (socket[wasReset] !== undefined) return
  socket[wasReset] = false
  socket.prependListener('end', onEnd)
}

function onEnd(this: Watched): void {
  if (endsInReset(this)) this[wasReset] = true
}

export const wasSeenReset = (socket: Watched | null): boolean => socket?.[wasReset] === true
