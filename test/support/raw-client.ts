/**
 * A client of bare bytes:
 * `const client = await rawClient(port); client.send(callText()); await client.until('event:'); client.rst()`.
 * Its socket closes by itself when the test ends.
 */
import { once } from 'node:events'
import { createConnection } from 'node:net'
import type { RawSocket } from './raw-socket.ts'
import { rawSocket, whenTestEnds } from './raw-socket.ts'

export type { Ended, RawSocket } from './raw-socket.ts'

/** Connects to 127.0.0.1. `answersFin: false`: the server's FIN is noted, our side stays open. */
export async function rawClient(port: number, options: { readonly answersFin?: boolean } = {}): Promise<RawSocket> {
  const socket = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true })
  const client = rawSocket(socket, options)
  whenTestEnds(client.close)
  await once(socket, 'connect')
  return client
}
