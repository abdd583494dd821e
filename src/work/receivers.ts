/** Opens and closes the ports that take work reports. */
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Address, Settings } from '../config/snapshot.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { PortTaken } from '../core/port-taken.ts'
import type { ForwardAsked, Forwarder } from './forward.ts'
import { createForwarder } from './forward.ts'
import { createGrpcServer } from './otlp-grpc.ts'
import { createOtlpServer } from './otlp-http.ts'
import { createOtlpIntake } from './otlp-intake.ts'
import { createWorkSocket } from './probe-server.ts'
import type { WorkPort } from './work-port.ts'

export interface ReceiversAsked {
  readonly otlp: Settings['otlp']
  readonly workPort: WorkPort
  readonly clock: Clock
  readonly log: Log
  readonly countForward?: ForwardAsked['count']
  /** A sender that takes longer is cut. */
  readonly slowMs?: number
}

export interface WorkReceivers {
  /** Where they really listen; null: off, or a default port that was taken. */
  readonly addresses: { readonly http: Address | null; readonly grpc: Address | null }
  /** One line each. */
  readonly warnings: readonly string[]
  /** For the sidecar's own spans; null without `otlp.forwardTo`. */
  readonly forwarder: Forwarder | null
  /** `otlp_receiver_up`: whether any of them listens. */
  isUp(): boolean
  /** Forwards what is queued, 2 s at most. */
  close(): Promise<void>
}

interface Opened {
  readonly address: Address
  close(): Promise<void>
}

const FORWARD_LAST_MS = 2_000

/** Rejects with `PortTaken` where a configured port cannot be had; a default one that is taken is a warning. */
export async function startWorkReceivers(asked: ReceiversAsked): Promise<WorkReceivers> {
  const { otlp, workPort, clock, log } = asked
  const slow = asked.slowMs === undefined ? {} : { slowMs: asked.slowMs }
  const count = asked.countForward === undefined ? {} : { count: asked.countForward }
  const forwarder = otlp.forwardTo === null ? null : createForwarder({ to: otlp.forwardTo, clock, log, ...count })
  const intake = createOtlpIntake({ workPort, forwarder, log })
  const workSocket = createWorkSocket({ workPort, clock })
  const warnings: string[] = []
  const opened: Opened[] = []
  let isUp = false

  async function open(server: Server, address: Address | null, key: string, isDefault: boolean): Promise<Address | null> {
    if (address === null) return null
    try {
      const port = await listenOn(server, address, key)
      opened.push(port)
      return port.address
    } catch (error) {
      if (!(error instanceof PortTaken) || !isDefault) throw error
      const line = `${error.message}; until then no work reports come in there`
      warnings.push(line)
      log.warn(line)
      return null
    }
  }

  async function close(): Promise<void> {
    isUp = false
    workSocket.close()
    await Promise.all(opened.map((port) => port.close()))
    await forwarder?.close(FORWARD_LAST_MS)
  }

  try {
    const http = await open(createOtlpServer({ intake, workPort, workSocket, ...slow }), otlp.listen, 'otlp.listen', otlp.isDefault)
    const grpc = await open(createGrpcServer({ intake, clock, ...slow }), otlp.grpc, 'otlp.grpc', otlp.isGrpcDefault)
    isUp = http !== null || grpc !== null
    return { addresses: { http, grpc }, warnings, forwarder, isUp: () => isUp, close }
  } catch (error) {
    await close()
    throw error
  }
}

function listenOn(server: Server, { host, port }: Address, key: string): Promise<Opened> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
      reject(new PortTaken({ address, key, code: error.code ?? 'unknown' }))
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
