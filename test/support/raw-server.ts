/**
 * A scripted upstream of bare bytes: `handler` runs once per connection.
 * `const server = await rawServer(async (connection) => { await connection.request(); connection.send(sseHead); connection.rst() })`.
 * It closes by itself when the test ends; `problems` lists what handlers threw.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import type { RawSocket } from './raw-socket.ts'
import { rawSocket, WAIT_MS, whenTestEnds } from './raw-socket.ts'

export interface RawConnection extends RawSocket {
  /** 0 for the first connection accepted. */
  readonly index: number
  readonly openedAtMs: number
}

export interface RawServer {
  readonly port: number
  /** `http://127.0.0.1:PORT` */
  readonly url: URL
  readonly connections: readonly RawConnection[]
  /** The n-th connection (0: the first), as soon as it is there. */
  connection(index: number, limitMs?: number): Promise<RawConnection>
  /** What handlers threw. */
  readonly problems: readonly unknown[]
  close(): Promise<void>
}

export type RawHandler = (connection: RawConnection) => unknown

/** `answersFin: false`: a FIN of the sidecar is noted but not answered. `port`: a fixed one, to come back on. */
export async function rawServer(
  handler: RawHandler,
  options: { readonly answersFin?: boolean; readonly port?: number } = {},
): Promise<RawServer> {
  const connections: RawConnection[] = []
  const problems: unknown[] = []
  const waiters = new Set<() => void>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = { ...rawSocket(socket, options), index: connections.length, openedAtMs: performance.now() }
    connections.push(connection)
    for (const waiter of [...waiters]) waiter()
    Promise.resolve(connection)
      .then(handler)
      .catch((problem: unknown) => problems.push(problem))
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    for (const connection of connections) connection.close()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  whenTestEnds(close)
  return {
    port,
    url: new URL(`http://127.0.0.1:${port}`),
    connections,
    problems,
    close,
    connection: (index, limitMs = WAIT_MS) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const connection = connections[index]
          if (connection === undefined) return
          clearTimeout(timer)
          waiters.delete(look)
          resolve(connection)
        }
        const timer = setTimeout(() => {
          waiters.delete(look)
          reject(
            new Error(
              `waited ${limitMs} ms for connection ${index}; ${connections.length} came; handlers said: ${problems.join('; ') || 'nothing'}`,
            ),
          )
        }, limitMs)
        waiters.add(look)
        look()
      }),
  }
}
