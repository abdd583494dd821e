/** The way out: readiness off, no new connections, calls have their time, then all is cut as `shutdown` and told. */
import type { Clock } from '../core/clock.ts'
import type { Cause } from '../core/signal.ts'
import type { Listener } from '../wire/listener.ts'

export interface Stopping {
  isDraining(): boolean
  /** Open exchanges that a stop waits for. */
  openCalls(): number
  /** Readiness off, no new connections; resolves when no call is open, or the time is up: with how many went on then. Nothing is closed. */
  drain(): Promise<number>
  /** The same, in what is left of that time; then cuts what is open and closes everything. A second call gives the same promise. */
  stop(): Promise<void>
  /** The time is up now. */
  hurry(): void
}

export interface StoppingAsked {
  readonly clock: Clock
  readonly drainMs: number
  readonly listener: Pick<Listener, 'stopAccepting' | 'openIds' | 'cut'>
  isAwaited(exchangeId: string): boolean
  /** Told once, as it begins. */
  begun(): void
  /** Nothing is open any more: settle, flush, and close every port. */
  close(): Promise<void>
}

const POLL_MS = 25
const CAUSE: Cause = { kind: 'shutdown', seat: null, detail: 'the sidecar is shutting down' }

export function createStopping(asked: StoppingAsked): Stopping {
  const { clock, drainMs, listener, isAwaited } = asked
  let untilMs: number | null = null
  let stopping: Promise<void> | null = null
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve))
  const openCalls = (): number => listener.openIds().filter(isAwaited).length

  async function drain(): Promise<number> {
    if (untilMs === null) {
      untilMs = clock.nowMs() + drainMs
      asked.begun()
      listener.stopAccepting()
    }
    for (;;) {
      // Again each time: a connection that is kept alive may bring one more.
      listener.cut('fin', CAUSE, (id) => !isAwaited(id))
      const open = openCalls()
      if (open === 0 || clock.nowMs() >= untilMs) return open
      await wait(POLL_MS)
    }
  }

  async function stop(): Promise<void> {
    await drain()
    listener.cut('fin', CAUSE, () => true)
    await wait(POLL_MS) // the last bytes leave
    await asked.close()
  }

  return {
    isDraining: () => untilMs !== null,
    openCalls,
    drain,
    stop() {
      stopping ??= stop()
      return stopping
    },
    hurry() {
      if (untilMs !== null) untilMs = clock.nowMs()
    },
  }
}
