/** Every TCP socket made in this process while a test runs, so that one can say which of the sidecar's are still open. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { expect } from 'vitest'
import { whenTestEnds } from './raw-socket.ts'

export interface SocketWatch {
  /** Accepted by the listener at that port, in order. */
  accepted(port: number): readonly Socket[]
  /** Connected to that port, in order. A raw client's own are among them. */
  connected(port: number): readonly Socket[]
  /** Waits until none that was accepted at `port` is open. */
  untilNoneAccepted(port: number): Promise<void>
  /** Waits until what is written to that socket has been stuck for a while: all buffers on the way are full. */
  untilStuck(port: number, index?: number): Promise<void>
  /** Runs on each socket the moment it is made, before anybody else listens. */
  onSocket(look: (socket: Socket, side: 'accepted' | 'connected') => void): void
  /** Watches no more; the end of the test does the same. */
  close(): void
}

export function watchSockets(): SocketWatch {
  const made: { readonly socket: Socket; readonly side: 'accepted' | 'connected'; port: number | undefined }[] = []
  const lookers: ((socket: Socket, side: 'accepted' | 'connected') => void)[] = []
  const take = (side: 'accepted' | 'connected') => (message: unknown) => {
    const { socket } = message as { socket: Socket }
    const entry = { socket, side, port: side === 'accepted' ? socket.localPort : undefined }
    made.push(entry)
    if (side === 'connected') socket.prependListener('connect', () => (entry.port = socket.remotePort))
    for (const look of lookers) look(socket, side)
  }
  const [onAccepted, onConnected] = [take('accepted'), take('connected')]
  subscribe('net.server.socket', onAccepted)
  subscribe('net.client.socket', onConnected)
  const close = (): void => {
    unsubscribe('net.server.socket', onAccepted)
    unsubscribe('net.client.socket', onConnected)
  }
  whenTestEnds(close)
  const of = (side: 'accepted' | 'connected', port: number): Socket[] =>
    made.filter((entry) => entry.side === side && entry.port === port).map(({ socket }) => socket)
  return {
    accepted: (port) => of('accepted', port),
    connected: (port) => of('connected', port),
    untilNoneAccepted: (port) =>
      expect.poll(() => of('accepted', port).filter(({ destroyed }) => !destroyed).length, { timeout: 10_000 }).toBe(0),
    async untilStuck(port, index = 0) {
      let before = ''
      const look = (): boolean => {
        const socket = of('accepted', port)[index]
        const now = socket === undefined ? '' : `${socket.bytesWritten - socket.writableLength}`
        const isStuck = socket !== undefined && socket.writableLength > 0 && now === before
        before = now
        return isStuck
      }
      await expect.poll(look, { timeout: 20_000, interval: 200 }).toBe(true)
    },
    onSocket: (look) => void lookers.push(look),
    close,
  }
}
