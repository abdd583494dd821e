/** One request through the sidecar and back, with the bytes of both sides. */
import type { RawSocket } from './raw-client.ts'
import { rawClient } from './raw-client.ts'
import type { RawRequest, RawResponse } from './raw-http.ts'
import type { RawServer } from './raw-server.ts'
import { rawServer } from './raw-server.ts'
import type { WireRig, WireRigOptions } from './wire-rig.ts'
import { wireRig } from './wire-rig.ts'

export type Bytes = string | Uint8Array

export interface RelayOptions extends WireRigOptions {
  /** What is asked, for the client to know whether a body follows. */
  readonly method?: string
  /** The server ends its connection after the answer. */
  readonly closes?: boolean
}

export interface Relayed {
  readonly seen: RawRequest
  readonly got: RawResponse
  readonly rig: WireRig
  readonly client: RawSocket
  readonly server: RawServer
}

/** Sends `ask` as it is; once the server has read it whole, it sends `answer`, each part in a write of its own. */
export async function relay(ask: Bytes, answer: Bytes | readonly Bytes[], options: RelayOptions = {}): Promise<Relayed> {
  const requests: RawRequest[] = []
  const server = await rawServer(async (connection) => {
    requests.push(await connection.request())
    await sendParts(connection, typeof answer === 'string' || answer instanceof Uint8Array ? [answer] : answer)
    if (options.closes === true) connection.fin()
  })
  const rig = await wireRig(server.url, options)
  const client = await rawClient(rig.port)
  void client.send(ask)
  const got = await client.response(options.method === undefined ? {} : { method: options.method })
  const [seen] = requests
  if (seen === undefined) throw new Error(`the server saw no request; the client got: ${got.head}\n${got.text}`)
  return { seen, got, rig, client, server }
}

/** Each part in a write of its own, and a turn of the loop between, so that they arrive apart. */
export async function sendParts(to: RawSocket, parts: readonly Bytes[]): Promise<void> {
  for (const part of parts) {
    await to.send(part)
    await turn()
  }
}

/** A turn of the event loop: what the kernel has is read. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Waits until `isTrue`; the error tells `what` was waited for. */
export async function until(what: string, isTrue: () => boolean, limitMs = 15_000): Promise<void> {
  const endMs = performance.now() + limitMs
  while (!isTrue()) {
    if (performance.now() > endMs) throw new Error(`waited ${limitMs} ms until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Waits until `count` has stood still for `forMs`: a flow that is held back for good. */
export async function stalled(count: () => number, forMs = 400, limitMs = 20_000): Promise<number> {
  const endMs = performance.now() + limitMs
  for (let last = -1; ; ) {
    const now = count()
    if (now === last) return now
    if (performance.now() > endMs) throw new Error(`waited ${limitMs} ms for a standstill; at ${now}`)
    last = now
    await new Promise((resolve) => setTimeout(resolve, forMs))
  }
}
