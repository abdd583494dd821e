/** Every route of the admin port. Adding one: its file, its port, its line here. */
import type { Route } from './route.ts'
import type { FindCall } from './routes/call.ts'
import { callRoute } from './routes/call.ts'
import type { ListCalls } from './routes/calls.ts'
import { callsRoute } from './routes/calls.ts'
import type { Drain } from './routes/drain.ts'
import { drainRoute } from './routes/drain.ts'
import type { WhyNotReady } from './routes/health.ts'
import { healthzRoute, readyzRoute } from './routes/health.ts'
import type { ListPresets } from './routes/hops.ts'
import { hopsRoute } from './routes/hops.ts'
import { indexPageRoute } from './routes/index-page.ts'
import type { RenderMetrics } from './routes/metrics.ts'
import { metricsRoute } from './routes/metrics.ts'
import { openApiRoute } from './routes/openapi.ts'
import type { ShowPath } from './routes/path.ts'
import { showPathRoute } from './routes/path.ts'
import type { TakeProbeMessage } from './routes/work.ts'
import { workRoute } from './routes/work.ts'

/** What the admin port may ask of the rest of the process. */
export interface AdminPorts {
  readonly version: string
  readonly render: RenderMetrics
  readonly whyNotReady: WhyNotReady
  readonly listCalls: ListCalls
  readonly findCall: FindCall
  readonly listPresets: ListPresets
  readonly showPath: ShowPath
  readonly takeProbeMessage: TakeProbeMessage
  /** The live page; absent: a plain list of the routes. */
  readonly page?: Route
}

export function adminRoutes(ports: AdminPorts): readonly Route[] {
  const api: readonly Route[] = [
    metricsRoute(ports.render),
    healthzRoute,
    readyzRoute(ports.whyNotReady),
    callsRoute(ports.listCalls),
    callRoute(ports.findCall),
    hopsRoute(ports.listPresets),
    showPathRoute(ports.showPath),
    workRoute(ports.takeProbeMessage),
  ]
  const described = [...api, openApiRoute(api, ports.version)]
  return [ports.page ?? indexPageRoute(described), ...described]
}

export function metricsRoutes(ports: { render: RenderMetrics; whyNotReady: WhyNotReady; drain: Drain }): readonly Route[] {
  return [metricsRoute(ports.render), healthzRoute, readyzRoute(ports.whyNotReady), drainRoute(ports.drain)]
}
