/** Which form the server's side takes: Node's client by way of http-proxy, or bare sockets. To everybody else they are the same. */
import type { UpstreamEngine } from '../config/snapshot.ts'
import type { Clock } from '../core/clock.ts'
import { createDirectUpstream } from './direct-upstream.ts'
import { createUpstream } from './upstream.ts'
import type { UpstreamPort } from './upstream-port.ts'

export const createUpstreamOf = (engine: UpstreamEngine, origin: URL, clock: Clock): UpstreamPort =>
  engine === 'direct' ? createDirectUpstream(origin, clock) : createUpstream(origin, clock)
