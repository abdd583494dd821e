/** Where clients connect: one HTTP server without timers of its own, its connections, and the way it stops. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { PortTaken } from '../core/port-taken.ts'
import type { Break, Cause } from '../core/signal.ts'
import type { Release } from '../faults/control.ts'
import { createConnections } from './connection.ts'
import type { Exchange, ExchangePorts } from './exchange.ts'
import { orderCut } from './exchange.ts'
import { createUpgradeGate } from './websocket-handshake.ts'

const HEADER_BYTES_MAX = 65_536
/** The only timer of our own: a connection that never finishes its request's head is closed after this. */
const HEADERS_TIMEOUT_MS = 60_000

export interface Listener {
  readonly address: { readonly host: string; readonly port: number }
  /** Cuts the open exchanges that `isChosen` names; how many. */
  cut(ending: Break, cause: Cause, isChosen: (exchangeId: string) => boolean): number
  /** Faults or a path were taken away: their seats leave the open exchanges, and stalled connections go on. */
  release(releases: readonly Release[]): void
  openCount(): number
  openIds(): readonly string[]
  /** No new connections; idle ones close now, busy ones after their exchange. */
  stopAccepting(): void
  /** Everything, now. */
  close(): Promise<void>
}

export async function startListener(listen: { host: string; port: number }, ports: ExchangePorts): Promise<Listener> {
  const upgrades = createUpgradeGate()
  const server = http.createServer({
    requestTimeout: 0,
    keepAliveTimeout: 0,
    headersTimeout: HEADERS_TIMEOUT_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    requireHostHeader: false, // the server's to judge
    IncomingMessage: upgrades.IncomingMessage,
  })
  server.timeout = 0
  server.maxHeadersCount = 0 // by size alone: beyond a count Node would drop them unseen
  ;(server as http.Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true // a FIN is the line's to judge
  const connections = createConnections(server, ports)
  upgrades.keep(server, connections.mayUpgrade)
  server.listen(listen.port, listen.host)
  await listening(server, listen)
  const { address, port } = server.address() as AddressInfo
  return {
    address: { host: address, port },
    cut(ending, cause, isChosen) {
      const chosen = [...connections.exchanges].filter((x: Exchange) => !x.isClosed && isChosen(x.id))
      for (const x of chosen) orderCut(x, ending, cause)
      return chosen.length
    },
    release: connections.release,
    openCount: () => connections.exchanges.size(),
    openIds: () => [...connections.exchanges].map(({ id }) => id),
    stopAccepting() {
      server.close()
      connections.closeIdle()
    },
    async close() {
      server.close()
      connections.destroyAll()
      ports.upstream.close()
    },
  }
}

async function listening(server: http.Server, { host, port }: { host: string; port: number }): Promise<void> {
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new PortTaken({ address: `${host.includes(':') ? `[${host}]` : host}:${port}`, key: 'listen', code: code ?? 'unknown' })
  }
}
