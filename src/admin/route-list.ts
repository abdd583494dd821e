/** Every route of the admin port. Adding one: its file, its port, its line here. */
import type { Route } from './route.ts'
import type { FindCall } from './routes/call.ts'
import { callRoute } from './routes/call.ts'
import type { ListCalls } from './routes/calls.ts'
import { callsRoute } from './routes/calls.ts'
import type { CutOpen } from './routes/cut.ts'
import { cutRoute } from './routes/cut.ts'
import type { Drain } from './routes/drain.ts'
import { drainRoute } from './routes/drain.ts'
import type { FaultPorts } from './routes/faults.ts'
import { faultRoutes } from './routes/faults.ts'
import type { WhyNotReady } from './routes/health.ts'
import { healthzRoute, readyzRoute } from './routes/health.ts'
import type { ListPresets } from './routes/hops.ts'
import { hopsRoute } from './routes/hops.ts'
import { indexPageRoute } from './routes/index-page.ts'
import type { RenderMetrics } from './routes/metrics.ts'
import { metricsRoute } from './routes/metrics.ts'
import { openApiRoute } from './routes/openapi.ts'
import type { ReadPath, ShowPath } from './routes/path.ts'
import { setPathRoutes, showPathRoute } from './routes/path.ts'
import type { ScenarioPorts } from './routes/scenario.ts'
import { scenarioRoutes } from './routes/scenario.ts'
import { stopRoutes } from './routes/stop.ts'
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
  /** Absent: the sidecar is looked at, not steered. */
  readonly control?: FaultPorts & { readonly readPath: ReadPath; readonly cutOpen: CutOpen }
  /** Absent: no scenarios. */
  readonly scenario?: ScenarioPorts
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
    ...(ports.control === undefined ? [] : controlRoutes(ports.control, ports.showPath)),
    ...(ports.scenario === undefined ? [] : scenarioRoutes(ports.scenario)),
  ]
  const described = [...api, openApiRoute(api, ports.version)]
  return [ports.page ?? indexPageRoute(described), ...described]
}

function controlRoutes(ports: NonNullable<AdminPorts['control']>, show: ShowPath): readonly Route[] {
  const { control, readPath, cutOpen } = ports
  return [...faultRoutes(ports), ...setPathRoutes({ show, read: readPath, control }), ...stopRoutes(control), cutRoute(cutOpen)]
}

export function metricsRoutes(ports: { render: RenderMetrics; whyNotReady: WhyNotReady; drain: Drain }): readonly Route[] {
  return [metricsRoute(ports.render), healthzRoute, readyzRoute(ports.whyNotReady), drainRoute(ports.drain)]
}
