/** The composition root: the one file that knows everybody. It reads as the sidecar's way from its settings to its ports. */
import { startMetricsPort } from './admin/metrics-port.ts'
import { adminRoutes, metricsRoutes } from './admin/route-list.ts'
import { liveRoute } from './admin/routes/live.ts'
import { startAdmin } from './admin/server.ts'
import type { Books } from './app/books.ts'
import { openBooks } from './app/books.ts'
import type { Experiments } from './app/experiments.ts'
import { createExperiments, scenarioSink } from './app/experiments.ts'
import { liveFeed } from './app/live-feed.ts'
import { isAwaited } from './app/open-streams.ts'
import { watchSettings } from './app/reload.ts'
import type { Steering } from './app/steering.ts'
import { createSteering } from './app/steering.ts'
import type { Stopping } from './app/stopping.ts'
import { createStopping } from './app/stopping.ts'
import type { AppPorts, RunningApp } from './app-types.ts'
import { listPresets } from './config/presets.ts'
import { productVersion } from './config/product.ts'
import type { Address, Settings } from './config/snapshot.ts'
import type { Log } from './core/log.ts'
import type { ScenarioRunner } from './scenario/runner.ts'
import type { Live } from './sinks/live.ts'
import { createLive } from './sinks/live.ts'
import type { ExchangePorts } from './wire/exchange.ts'
import type { Listener } from './wire/listener.ts'
import { startListener } from './wire/listener.ts'
import type { ReachWatch } from './wire/reach.ts'
import { watchReach } from './wire/reach.ts'
import { behindPoll, realClock } from './wire/real-clock.ts'
import { createUpstreamOf } from './wire/upstream-engine.ts'
import type { OwnSpanExporter } from './work/own-span.ts'
import { createOwnSpanExporter } from './work/own-span.ts'
import { ownSpanSink } from './work/own-span-sink.ts'
import { createWorkSocket } from './work/probe-server.ts'
import { startWorkReceivers } from './work/receivers.ts'

const clock = realClock

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

/** What the running parts share. */
interface Shared extends Books {
  readonly settings: Settings
  readonly log: Log
  readonly steering: Steering
  readonly experiments: Experiments
  readonly live: Live
  readonly reach: ReachWatch
  readonly held: { totalBytes: number }
  readonly state: { isDraining: boolean }
  /** Remembers what is to be closed, in the order of opening. */
  keep<T extends Closable>(part: T): T
}

async function open(settings: Settings, { log, writeOut, load }: AppPorts, opened: Closable[]): Promise<RunningApp> {
  const held = { totalBytes: 0 }
  const keep = <T extends Closable>(part: T): T => {
    opened.push(part)
    return part
  }
  let ownSpans: OwnSpanExporter | null = null
  // The exporter needs the receivers, which need the journal, which needs its sinks.
  const live = createLive()
  const late: { steering: Steering | null; runner: ScenarioRunner | null } = { steering: null, runner: null } // they need the books
  const ownSpan = ownSpanSink({ take: (span) => ownSpans?.take(span), flush: () => ownSpans?.flush() })
  const more = [...(settings.otlp.forwardTo === null ? [] : [ownSpan]), live.sink, scenarioSink(late)]
  const work = () => (late.steering?.snapshot() ?? settings.snapshot).work
  const books = await openBooks({
    settings,
    clock,
    log,
    writeOut,
    work,
    later: behindPoll,
    heldBytes: () => held.totalBytes,
    more,
  })
  keep(books.workPort)
  const steering = keep(createSteering(settings, clock, books.metrics))
  late.steering = steering
  const experiments = createExperiments({ ...books, clock, log, steering }, late)
  steering.onStopped(experiments.stopped)
  const receivers = keep(await startWorkReceivers({ otlp: settings.otlp, workPort: books.workPort, clock, log }))
  books.metrics.setOtlpUp(receivers.isUp())
  if (receivers.forwarder !== null) ownSpans = createOwnSpanExporter({ forwarder: receivers.forwarder, clock, version: productVersion() })
  const reach = keep(startReach(settings, books, log))
  const shared: Shared = { ...books, settings, log, steering, experiments, live, reach, held, state: { isDraining: false }, keep }
  const listener = keep(await startListener(settings.listen, exchangePorts(shared)))
  steering.attach(listener, () => books.journal.calls({ open: true }))
  const stopping = stoppingOf(shared, listener, opened)
  const { admin, metrics } = await startPorts(shared, stopping)
  const watch = watchSettings({ settings, load, clock, log, metrics: books.metrics, steering })
  if (watch !== null) keep(watch)
  return {
    addresses: { listen: listener.address, admin, metrics, otlp: receivers.addresses.http },
    warnings: [],
    summaryLines: books.summary.lines,
    stop: stopping.stop,
    hurry: stopping.hurry,
    openCalls: stopping.openCalls,
    play: experiments.play,
    ...(watch === null ? {} : { reload: watch.reread }),
  }
}

function startReach({ upstream }: Settings, { metrics }: Books, log: Log): ReachWatch & Closable {
  const reach = watchReach(upstream, clock, (isUp) => {
    metrics.setUpstreamUp(isUp)
    log.info(isUp ? 'the upstream is reachable' : 'the upstream cannot be reached; calls are answered 502', { upstream: upstream.host })
  })
  return { ...reach, close: reach.stop }
}

function exchangePorts({ settings, journal, steering, reach, held, state }: Shared): ExchangePorts {
  const { upstream, upstreamEngine, limits } = settings
  return {
    clock,
    upstream: createUpstreamOf(upstreamEngine ?? 'http-proxy', upstream, clock),
    upstreamName: upstream.host,
    openRecord: journal.openExchange,
    planner: steering.planner,
    inject: () => steering.snapshot().work.inject,
    limits,
    held,
    reached: reach.told,
    random: () => 0.5, // chance is drawn by the faults themselves
    isDraining: () => state.isDraining,
  }
}

/** The admin port and, where asked for, the port that is only read. */
async function startPorts(shared: Shared, stopping: Stopping): Promise<{ admin: Address; metrics: Address | null }> {
  const { settings, log, journal, steering, workPort, state, keep } = shared
  const whyNotReady = (): string | null => (state.isDraining ? 'draining' : null)
  const render = (accept: string) => {
    journal.flush()
    return shared.metrics.render(accept)
  }
  const workSocket = keep(createWorkSocket({ workPort, clock }))
  const routes = adminRoutes({
    version: productVersion(),
    render,
    whyNotReady,
    listCalls: ({ isOpen }) => journal.calls(isOpen ? { open: true } : {}),
    findCall: journal.call,
    listPresets,
    showPath: steering.showPath,
    control: steering,
    scenario: shared.experiments,
    takeProbeMessage: workPort.takeProbeMessage,
  })
  const live = keep(liveRoute(liveFeed(shared.live)))
  const upgrades = [{ path: '/api/v1/work', summary: 'Work reports over WebSocket', take: workSocket.take }, live]
  const admin = keep(await startAdmin({ ...settings.admin, clock, log, upgrades, routes }))
  const { listen } = settings.metrics
  if (listen === null) return { admin: admin.address, metrics: null }
  const readOnly = metricsRoutes({ render, whyNotReady, drain: stopping.drain })
  const metrics = keep(await startMetricsPort({ listen, routes: readOnly, clock, log }))
  return { admin: admin.address, metrics: metrics.address }
}

function stoppingOf({ settings, journal, experiments, state }: Shared, listener: Listener, opened: Closable[]): Stopping {
  return createStopping({
    clock,
    drainMs: settings.drainMs,
    listener,
    isAwaited: (exchangeId) => isAwaited(journal.view(exchangeId), journal.views),
    begun() {
      state.isDraining = true
      experiments.shutDown()
    },
    async close() {
      await journal.close() // its last spans go out before the receivers close
      for (const part of opened.reverse()) await part.close()
    },
  })
}
