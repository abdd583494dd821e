/** The port that is only read: metrics, the two health questions and `GET /drain` for a preStop hook. No token. */
import type { Address } from '../config/snapshot.ts'
import type { Clock } from '../core/clock.ts'
import type { Opened } from './listen.ts'
import type { Route } from './route.ts'
import type { AdminLog } from './server.ts'
import { startAdmin } from './server.ts'

export interface MetricsPortAsked {
  readonly listen: Address
  /** `/metrics`, `/healthz`, `/readyz`, `/drain`. */
  readonly routes: readonly Route[]
  readonly clock: Clock
  readonly log: AdminLog
}

/** Listens. Rejects with `PortTaken`. */
export function startMetricsPort({ listen, routes, clock, log }: MetricsPortAsked): Promise<Opened> {
  return startAdmin({ listen, key: 'metrics.listen', token: null, routes, allowsPrivateNames: true, clock, log })
}
