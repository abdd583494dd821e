/** What becomes of a connection before it has a request: handed to HTTP, refused, or left standing unread. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { assertNever } from '../core/assert.ts'
import type { Timer } from '../core/clock.ts'
import type { Release } from '../faults/control.ts'
import { isReleased } from '../faults/controller.ts'
import type { ExchangePorts } from './exchange.ts'

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
        if (!socket.destroyed) serve?.call(server, socket)
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
          if (decision.what.ending === 'rst') socket.resetAndDestroy()
          else socket.destroy()
          return
        default:
          assertNever(decision.what)
      }
    },
    release(releases) {
      for (const one of [...stalled]) if (isReleased(releases, { fault: one.fault })) one.goOn()
    },
  }
}
