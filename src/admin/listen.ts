/** Opens and closes a port. */
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Address } from '../config/snapshot.ts'
import { PortTaken } from '../core/port-taken.ts'

export interface Opened {
  readonly address: Address
  /** Ends every connection, upgraded ones too. */
  close(): Promise<void>
}

/** Rejects with `PortTaken`, which names `key`. */
export function listenOn(server: Server, { host, port }: Address, key: string): Promise<Opened> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new PortTaken({ address: addressText({ host, port }), key, code: error.code ?? 'unknown' }))
    })
    server.listen({ host, port }, () => {
      const bound = server.address() as AddressInfo
      resolve({
        address: { host: bound.address, port: bound.port },
        close: () =>
          new Promise((closed) => {
            server.close(() => closed())
            for (const socket of sockets) socket.destroy()
          }),
      })
    })
  })
}

export const addressText = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`
