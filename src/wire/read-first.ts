/** A server that answers early and closes resets the upload: its answer is in the kernel, and is read before the failed write is told. */
import { Socket } from 'node:net'
import { hasLostPeer } from './reset.ts'

type Done = (problem?: Error | null) => void
interface Writing {
  _write(this: Socket, bytes: unknown, encoding: string, done: Done): void
  _writev(this: Socket, pieces: unknown, done: Done): void
}

/** TLS sockets have the same two. */
const ofNode = Socket.prototype as unknown as Writing
/** What somebody else, to watch it, put on the one socket. */
const BENEATH = Symbol('its own way to write')
type OwnWriting = Socket & Writing & { [BENEATH]?: Writing }

const beneath = (socket: OwnWriting): Writing => socket[BENEATH] ?? ofNode

/** One pair for all sockets: functions of each socket's own were seen to keep it, and all that hangs on it, past its collection. */
function write(this: OwnWriting, bytes: unknown, encoding: string, done: Done): void {
  beneath(this)._write.call(this, bytes, encoding, afterReading(this, done))
}
function writev(this: OwnWriting, pieces: unknown, done: Done): void {
  beneath(this)._writev.call(this, pieces, afterReading(this, done))
}

/**
 * From now on a write that fails on this socket is told only when nothing more can be read.
 * Node would destroy the socket at once, and the answer with it. The reading of a connection without a peer always ends: no timer is needed.
 */
export function readFirst(socket: Socket): void {
  const own = socket as OwnWriting
  if (own._write !== ofNode._write) own[BENEATH] = { _write: own._write, _writev: own._writev }
  own._write = write
  own._writev = writev
}

function afterReading(socket: Socket, done: Done): Done {
  return (problem) => {
    if (problem == null || socket.destroyed || socket.readableEnded || !hasLostPeer(socket)) return done(problem)
    let isTold = false
    const tell = (): void => {
      if (!isTold) done(problem)
      isTold = true
    }
    socket.once('end', () => queueMicrotask(tell))
    socket.once('close', tell)
  }
}
