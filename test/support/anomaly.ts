/** Makes the n-th write or event of the sidecar's own sockets fail, towards the client or towards the server. */
import type { Socket } from 'node:net'
import type { SocketWatch } from './socket-watch.ts'

export const ANOMALIES = ['write fails', 'destroyed at an event', 'reset at an event', 'destroyed after an event'] as const
export interface Anomaly {
  readonly side: 'client' | 'server'
  readonly what: (typeof ANOMALIES)[number]
  /** The first is 1. */
  readonly nth: number
}
export interface Injection {
  /** Whether it came to the n-th at all. */
  wasReached(): boolean
}

const failure = (syscall: 'read' | 'write', code: string): Error => Object.assign(new Error(`${syscall} ${code}`), { code, syscall })

/** `ports` are known only after the sockets' makers are: read when the first socket comes. */
export function inject(sockets: SocketWatch, { side, what, nth }: Anomaly, ports: () => { client: number; server: number }): Injection {
  let left = nth
  const isNow = (): boolean => {
    left -= 1
    return left === 0
  }
  sockets.onSocket((socket, made) => {
    if (side === 'client' && made === 'accepted' && socket.localPort === ports().client) {
      arm(socket, what, isNow)
      queueMicrotask(() => socket.on('data', () => undefined)) // else its bytes go to the parser without an event
    }
    if (side === 'server' && made === 'connected') {
      const connect = socket.connect.bind(socket) as (...args: unknown[]) => Socket
      socket.connect = ((...args: unknown[]) => {
        if (portOf(args[0]) === ports().server) arm(socket, what, isNow)
        return connect(...args)
      }) as Socket['connect']
    }
  })
  return { wasReached: () => left <= 0 }
}

/** `connect` takes normalised arguments here: `[{ port }, callback]`. */
function portOf(args: unknown): number {
  const [options] = Array.isArray(args) ? args : [args]
  return Number((options as { port?: number | string } | undefined)?.port)
}

/** What the network makes happen; Node's own notices in between (`newListener`, `free`) are not the place for a failure. */
const EVENTS: ReadonlySet<unknown> = new Set(['connect', 'data', 'end', 'drain', 'finish'])

function arm(socket: Socket, what: Anomaly['what'], isNow: () => boolean): void {
  if (what === 'write fails') return armWrites(socket, isNow)
  const emit = socket.emit.bind(socket) as (...args: unknown[]) => boolean
  socket.emit = ((...args: unknown[]) => {
    if (!EVENTS.has(args[0]) || !isNow()) return emit(...args)
    if (what === 'destroyed after an event') {
      const result = emit(...args)
      socket.destroy()
      return result
    }
    socket.destroy(what === 'reset at an event' ? failure('read', 'ECONNRESET') : undefined)
    return emit(...args)
  }) as Socket['emit']
}

function armWrites(socket: Socket, isNow: () => boolean): void {
  type Write = (...args: unknown[]) => void
  const writable = socket as unknown as { _write: Write; _writev: Write }
  for (const name of ['_write', '_writev'] as const) {
    const write = writable[name].bind(socket)
    writable[name] = (...args) => {
      if (!isNow()) return write(...args)
      const done = args.at(-1) as (problem: Error) => void
      done(failure('write', 'EPIPE'))
    }
  }
}
