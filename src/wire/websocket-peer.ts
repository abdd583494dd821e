/** What one side of a WebSocket session says, read by `ws`: whole messages, pings, pongs and its Close, and nothing answered by itself. */
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import * as ws from 'ws'
import { BINARY, CLOSE, closePayload, frameOf, PING, PONG, TEXT } from './websocket-frames.ts'

/** A longer message ends the session, with 1009 to both. */
export const MESSAGE_BYTES_MAX = 16_777_216
/** Fragments of one message, which cost memory of their own. */
const FRAGMENTS_MAX = 131_072
/** What comes before the session is there waits up to here. */
const EARLY_BYTES_MAX = 65_536

export interface Breach {
  /** The Close code it deserves: 1009 too long, 1002 against the protocol. */
  readonly code: number
  readonly why: string
}

export interface PeerEvents {
  /** An unmasked frame; nothing follows that of a Close. */
  said(pieces: readonly Uint8Array[], isClose: boolean): void
  /** It cannot be read on. */
  broke(breach: Breach): void
}

export interface Peer {
  /** The session is there: what came before is read now. */
  begin(): void
  pause(): void
  resume(): void
  /** From now on all it sends is read and dropped. */
  ignore(): void
}

/** `ws` has it, its types do not. */
interface WithReceiver {
  readonly Receiver: new (options: Readonly<Record<string, boolean | number>>) => Writable
}
const { Receiver } = ws as unknown as WithReceiver

/** `isClient`: the peer is one, and masks what it sends. */
export function createPeer(socket: Socket, { isClient, head }: { isClient: boolean; head: Uint8Array }, events: PeerEvents): Peer {
  const receiver = createReceiver(isClient, {
    said(pieces, isClose) {
      if (isClose) isIgnored = true
      events.said(pieces, isClose)
    },
    broke(breach) {
      if (isIgnored) return
      isIgnored = true
      events.broke(breach)
    },
  })
  let early: Uint8Array[] | null = [head]
  let earlyBytes = head.length
  let isIgnored = false
  let isPaused = false

  function take(bytes: Uint8Array): void {
    if (isIgnored) return
    if (early !== null) {
      early.push(bytes)
      earlyBytes += bytes.length
      if (earlyBytes > EARLY_BYTES_MAX) socket.pause()
    } else if (!receiver.write(bytes)) socket.pause()
  }
  receiver.on('drain', () => {
    if (!isPaused) socket.resume()
  })
  socket.on('data', take)
  socket.resume()
  return {
    begin() {
      const waiting = early ?? []
      early = null
      for (const bytes of waiting) if (bytes.length > 0) take(bytes)
      if (!isPaused) socket.resume()
    },
    pause() {
      isPaused = true
      socket.pause()
    },
    resume() {
      isPaused = false
      if (!receiver.writableNeedDrain || isIgnored) socket.resume()
    },
    ignore() {
      isIgnored = true
      isPaused = false
      early = null
      socket.resume()
    },
  }
}

function createReceiver(isClient: boolean, { said, broke }: PeerEvents): Writable {
  const receiver = new Receiver({
    isServer: isClient,
    maxPayload: MESSAGE_BYTES_MAX,
    maxFragments: FRAGMENTS_MAX,
    skipUTF8Validation: true, // the other side's to judge
  })
  receiver.on('message', (payload: Uint8Array, isBinary: boolean) => said(frameOf(isBinary ? BINARY : TEXT, payload), false))
  receiver.on('ping', (payload: Uint8Array) => said(frameOf(PING, payload), false))
  receiver.on('pong', (payload: Uint8Array) => said(frameOf(PONG, payload), false))
  receiver.on('conclude', (code: number, reason: Uint8Array) => said(frameOf(CLOSE, closePayload(code, reason)), true))
  receiver.on('error', (error: NodeJS.ErrnoException) => {
    const isTooMuch = error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || error.code?.startsWith('WS_ERR_TOO_MANY') === true
    broke({ code: isTooMuch ? 1009 : 1002, why: error.message })
  })
  return receiver
}
