/** A server that answers early and closes resets the upload: its answer is in the kernel, and is read before the failed write is told. */
import type { Socket } from 'node:net'
import { hasLostPeer } from './reset.ts'

type Done = (problem?: Error | null) => void
interface Writing {
  _write(bytes: unknown, encoding: string, done: Done): void
  _writev?: ((pieces: unknown, done: Done) => void) | null
}

/**
 * From now on a write that fails on this socket is told only when nothing more can be read.
 * Node would destroy the socket at once, and the answer with it. The reading of a connection without a peer always ends: no timer is needed.
 */
export function readFirst(socket: Socket): void {
  const writing = socket as unknown as Writing
  const later =
    (done: Done): Done =>
    (problem) => {
      if (problem == null || socket.destroyed || socket.readableEnded || !hasLostPeer(socket)) return done(problem)
      let isTold = false
      const tell = (): void => {
        if (!isTold) done(problem)
        isTold = true
      }
      socket.once('end', () => queueMicrotask(tell))
      socket.once('close', tell)
    }
  const write = writing._write.bind(socket)
  writing._write = (bytes, encoding, done) => write(bytes, encoding, later(done))
  const writev = writing._writev?.bind(socket)
  if (writev !== undefined) writing._writev = (pieces, done) => writev(pieces, later(done))
}
