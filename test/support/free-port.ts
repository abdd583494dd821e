/** A port nobody has at the moment, for programs that must be told one. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'

/** Nobody listens on port 1: a connection to it is refused. One that was free a moment ago may be the next listener's. */
export const REFUSED_PORT = 1

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
