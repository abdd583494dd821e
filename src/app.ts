/** The composition root: the one file that knows everybody. It reads as the sidecar's way from its settings to its ports. */
import { startMetricsPort } from './admin/metrics-port.ts'
import { adminRoutes, metricsRoutes } from './admin/route-list.ts'
import { startAdmin } from './admin/server.ts'
import type { Steering } from './app-control.ts'
import { createSteering } from './app-control.ts'
import type { AppPorts, RunningApp } from './app-types.ts'
import { listPresets } from './config/presets.ts'
import { productVersion } from './config/product.ts'
import type { Settings } from './config/snapshot.ts'
import type { Journal } from './journal/journal.ts'
import { createJournal } from './journal/journal.ts'
import { createEventsSink } from './sinks/events.ts'
import type { Metrics } from './sinks/metrics/index.ts'
import { createMetrics } from './sinks/metrics/index.ts'
import { createSummary } from './sinks/summary.ts'
import type { ExchangePorts } from './wire/exchange.ts'
import type { Listener } from './wire/listener.ts'
import { startListener } from './wire/listener.ts'
import type { ReachWatch } from './wire/reach.ts'
import { watchReach } from './wire/reach.ts'
import { realClock } from './wire/real-clock.ts'
import { createUpstream } from './wire/upstream.ts'
import { createCorrelator } from './work/correlate.ts'
import { createWorkSocket } from './work/probe-server.ts'
import { startWorkReceivers } from './work/receivers.ts'
import { registrationSink } from './work/registration.ts'
import type { WorkPort } from './work/work-port.ts'
import { createWorkPort } from './work/work-port.ts'

const clock = realClock
const CALLS_MAX = 50_000
const POLL_MS = 25

interface Closable {
  close(): Promise<unknown> | unknown
}

/** Rejects with `PortTaken`, or with the system's error for a file that cannot be written; nothing stays open then. */
export async function startApp(settings: Settings, ports: AppPorts): Promise<RunningApp> {
  const opened: Closable[] = []
  try {
    return await open(settings, ports, opened)
  } catch (error) {
    for (const part of opened.reverse()) await part.close()
    throw error
  }
}

async function open(settings: Settings, { log, writeOut }: AppPorts, opened: Closable[]): Promise<RunningApp> {
  const { snapshot } = settings
  const held = { totalBytes: 0 }
  const state = { isDraining: false }
  const keep = <T extends Closable>(part: T): T => {
    opened.push(part)
    return part
  }
  const metrics: Metrics = createMetrics({
    toolsMax: settings.metrics.toolsMax,
    version: productVersion(),
    gauges: { bufferedBytes: () => held.totalBytes },
  })
  const steering: Steering = createSteering(settings, clock, metrics)
  keep(steering)
  const summary = createSummary()
  const events =
    settings.events === null ? null : await createEventsSink({ ...settings.events, writeOut, log, dropped: metrics.eventsDropped })
  const correlator = createCorrelator<never>({ callsMax: CALLS_MAX })
  const journal = createJournal({
    clock,
    graceMs: snapshot.work.graceMs,
    waitMs: snapshot.work.waitMs,
    sinks: [metrics.sink, summary.sink, registrationSink(correlator), ...(events === null ? [] : [events])],
    onSinkError: (name, error) => log.error(`the ${name} sink failed and is left out of this exchange`, { error: String(error) }),
  })
  const workPort: WorkPort = createWorkPort({
    clock,
    correlator,
    deliver: journal.reportWork,
    count: metrics.countReport,
  })
  const receivers = keep(await startWorkReceivers({ otlp: settings.otlp, workPort, clock, log }))
  metrics.setOtlpUp(receivers.isUp())
  const reach: ReachWatch = watchReach(settings.upstream, clock, (isUp) => {
    metrics.setUpstreamUp(isUp)
    log.info(isUp ? 'the upstream is reachable' : 'the upstream cannot be reached; calls are answered 502', {
      upstream: settings.upstream.host,
    })
  })
  keep({ close: reach.stop })
  const listener = keep(await startListener(settings.listen, exchangePorts(settings, { journal, reach, held, state, steering })))
  steering.attach(listener, () => journal.calls({ open: true }))
  const stop = createStop(settings, { listener, journal, state, opened })
  const whyNotReady = (): string | null => (state.isDraining ? 'draining' : null)
  const render = async (accept: string) => {
    const { contentType, body } = await metrics.render(accept)
    return { contentType, text: body }
  }
  const workSocket = createWorkSocket({ workPort, clock })
  keep(workSocket)
  const admin = keep(
    await startAdmin({
      listen: settings.admin.listen,
      token: settings.admin.token,
      clock,
      log,
      upgrades: [{ path: '/api/v1/work', summary: 'work reports over WebSocket', take: workSocket.take }],
      routes: adminRoutes({
        version: productVersion(),
        render,
        whyNotReady,
        listCalls: ({ isOpen }) => journal.calls(isOpen ? { open: true } : {}),
        findCall: journal.call,
        listPresets,
        showPath: steering.showPath,
        control: steering,
        takeProbeMessage: workPort.takeProbeMessage,
      }),
    }),
  )
  const metricsPort =
    settings.metrics.listen === null
      ? null
      : keep(
          await startMetricsPort({
            listen: settings.metrics.listen,
            routes: metricsRoutes({ render, whyNotReady, drain: stop }),
            clock,
            log,
          }),
        )
  return {
    addresses: { listen: listener.address, admin: admin.address, metrics: metricsPort?.address ?? null, otlp: receivers.addresses.http },
    warnings: [],
    summaryLines: summary.lines,
    stop,
  }
}

interface Running {
  readonly journal: Journal
  readonly reach: ReachWatch
  readonly steering: Steering
  readonly held: { totalBytes: number }
  readonly state: { isDraining: boolean }
}

function exchangePorts({ upstream, limits, snapshot }: Settings, { journal, reach, held, state, steering }: Running): ExchangePorts {
  return {
    clock,
    upstream: createUpstream(upstream, clock),
    upstreamName: upstream.host,
    openRecord: journal.openExchange,
    planner: steering.planner,
    inject: () => snapshot.work.inject,
    limits,
    held,
    reached: reach.told,
    random: () => 0,
    isDraining: () => state.isDraining,
  }
}

/** Readiness off, no new connections, what is open has its time, then all is cut as `shutdown` and told. */
function createStop(
  { drainMs }: Settings,
  { listener, journal, state, opened }: { listener: Listener; journal: Journal; state: { isDraining: boolean }; opened: Closable[] },
): () => Promise<void> {
  let stopping: Promise<void> | null = null
  async function stop(): Promise<void> {
    state.isDraining = true
    listener.stopAccepting()
    const untilMs = clock.nowMs() + drainMs
    while (listener.openCount() > 0 && clock.nowMs() < untilMs) await wait(POLL_MS)
    listener.cut('fin', { kind: 'shutdown', seat: null, detail: 'the sidecar is shutting down' }, () => true)
    await wait(POLL_MS) // the last bytes leave
    for (const part of opened.reverse()) await part.close()
    await journal.close()
  }
  return () => {
    stopping ??= stop()
    return stopping
  }
}

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve)
  })
