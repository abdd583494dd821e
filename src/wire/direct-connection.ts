/** New connections of the direct engine: TCP or TLS, set up as Node's own client does. */
import type { Socket } from 'node:net'
import net from 'node:net'
import tls from 'node:tls'

/** As Node's agent has it: a peer that is gone without a word shows after a while. */
const KEEP_ALIVE_DELAY_MS = 1_000

/** Dials the origin; the last session of a TLS server is kept, for its next connection to begin sooner. */
export function createDialer(origin: URL): () => Socket {
  const host = origin.hostname.replace(/^\[|\]$/g, '')
  const isTls = origin.protocol === 'https:'
  const port = Number(origin.port === '' ? (isTls ? 443 : 80) : origin.port)
  if (!isTls) return () => net.connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS })
  const servername = net.isIP(host) === 0 ? host : ''
  let session: Buffer | undefined
  return () => {
    const socket = tls.connect({ host, port, servername, rejectUnauthorized: true, ...(session === undefined ? {} : { session }) })
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS)
    socket.on('session', (latest) => {
      session = latest
    })
    socket.once('close', (hadError) => {
      if (hadError) session = undefined
    })
    return socket
  }
}
