/** What becomes of a connection before it has a request: handed to HTTP, refused, or left standing unread. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { assertNever } from '../core/assert.ts'
import type { Clock, Timer } from '../core/clock.ts'
import type { Break } from '../core/signal.ts'
import type { Release } from '../faults/control.ts'
import { isReleased } from '../faults/controller.ts'
import type { ExchangePorts } from './exchange.ts'
import { sendReset } from './reset.ts'

export interface AcceptanceGate {
  take(socket: Socket, connection: number): void
  /** Those that a fault keeps standing and that is taken away now. */
  release(releases: readonly Release[]): void
}

interface Stalled {
  readonly fault: string
  readonly goOn: () => void
}

/** Takes the place of Node's own listener, which is called once a connection may have requests. */
export function createAcceptance(server: Server, ports: ExchangePorts): AcceptanceGate {
  const [serve] = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  server.removeAllListeners('connection')
  const stalled = new Set<Stalled>()

  function stall(socket: Socket, fault: string, forMs: number | null): void {
    socket.pause()
    let timer: Timer | null = null
    const one: Stalled = {
      fault,
      goOn() {
        stalled.delete(one)
        timer?.cancel()
        if (socket.destroyed) return
        serve?.call(server, socket)
        socket.resume() // Node's own listener does not undo the pause
      },
    }
    stalled.add(one)
    if (forMs !== null) timer = ports.clock.after(forMs, one.goOn)
    socket.once('close', () => {
      stalled.delete(one)
      timer?.cancel()
    })
  }

  return {
    take(socket, connection) {
      const decision = ports.planner().accept(connection, ports.clock.nowMs())
      if (decision === null) {
        serve?.call(server, socket)
        return
      }
      switch (decision.what.is) {
        case 'stall':
          return stall(socket, decision.name, decision.what.forMs)
        case 'refuse':
          return refuse(socket, decision.what.ending, ports.clock)
        default:
          assertNever(decision.what)
      }
    },
    release(releases) {
      for (const one of [...stalled]) if (isReleased(releases, { fault: one.fault })) one.goOn()
    },
  }
}

/** A refused client that does not answer the FIN is given up after this. */
const REFUSED_WAIT_MS = 1_000

/** With bytes unread a plain close would be a reset: so end, discard, and destroy a little later. */
function refuse(socket: Socket, ending: Break, clock: Clock): void {
  if (ending === 'rst') {
    sendReset(socket)
    return
  }
  socket.resume()
  socket.end()
  const timer = clock.after(REFUSED_WAIT_MS, () => socket.destroy())
  socket.once('close', () => timer.cancel())
}
