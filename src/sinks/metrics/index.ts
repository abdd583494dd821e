/** The metrics: the list of families, and the sink that feeds them. */
import type { OpenMetricsContentType } from 'prom-client'
import { Registry } from 'prom-client'
import type { Fact } from '../../core/fact.ts'
import type { LedgerView, Moment } from '../../core/ledger.ts'
import type { EffectiveLimits } from '../../hops/effective.ts'
import { byKind } from '../../journal/by-kind.ts'
import type { Sink } from '../../journal/sink.ts'
import type { MetricAbout } from './about.ts'
import { bufferFamily } from './buffer.ts'
import { bytesFamily } from './bytes.ts'
import { callsFamily } from './calls.ts'
import { cancelToStopFamily } from './cancel-to-stop.ts'
import { cutsFamily } from './cuts.ts'
import { drainedFamily } from './drained.ts'
import { exchangesFamily } from './exchanges.ts'
import type { Family, FaultInForce, Meter, ReportedResult, ReportedSource, ScenarioPlayed } from './family.ts'
import { faultsFamily } from './faults.ts'
import type { Editions, Kit } from './kit.ts'
import { createKit } from './kit.ts'
import { createLabelCap, OTHER } from './label-cap.ts'
import { limitsToldFamily } from './limits-told.ts'
import { orphanWorkFamily } from './orphan-work.ts'
import type { Annotation, Panel } from './panel.ts'
import { pathFamily } from './path.ts'
import type { Causes } from './possible.ts'
import { createPossible } from './possible.ts'
import { processFamily } from './process.ts'
import { progressFamily } from './progress.ts'
import { reloadFamily } from './reload.ts'
import type { Rendered, Turn } from './render.ts'
import { createPage } from './render.ts'
import { responsesFamily } from './responses.ts'
import { retriesFamily } from './retries.ts'
import { scenarioFamily } from './scenario.ts'
import { silenceAtCloseFamily } from './silence-at-close.ts'
import { streamTimesFamily } from './stream-times.ts'
import { toolResultsFamily } from './tool-results.ts'
import { violationsFamily } from './violations.ts'
import { workByCauseFamily } from './work-by-cause.ts'
import { workInFlightFamily } from './work-in-flight.ts'
import { workOutcomesFamily } from './work-outcomes.ts'
import { workReportsFamily } from './work-reports.ts'
import { workTimesFamily } from './work-times.ts'

/** In the order of the page. A new metric is a file and a line here. */
export const FAMILIES: readonly Family[] = [
  ...[processFamily, reloadFamily, pathFamily, scenarioFamily],
  ...[exchangesFamily, callsFamily, cutsFamily, responsesFamily, streamTimesFamily, silenceAtCloseFamily],
  ...[workTimesFamily, workByCauseFamily, orphanWorkFamily, workOutcomesFamily, workInFlightFamily, workReportsFamily],
  ...[cancelToStopFamily, drainedFamily, toolResultsFamily, retriesFamily, violationsFamily],
  ...[faultsFamily, bufferFamily, progressFamily, bytesFamily, limitsToldFamily],
]
/** Every metric, for panels and for readers. */
export const METRICS: readonly MetricAbout[] = FAMILIES.flatMap(({ about }) => about)
/** Every panel and mark in time, for boards. */
export const PANELS: readonly Panel[] = FAMILIES.flatMap(({ panels }) => panels ?? [])
export const ANNOTATIONS: readonly Annotation[] = FAMILIES.flatMap(({ annotations }) => annotations ?? [])

export interface MetricsAsked {
  /** How many tools have a label of their own. */
  readonly toolsMax: number
  readonly version: string
  readonly gauges: { bufferedBytes(): number }
  /** Lets others have their turn while a page is made; absent: it is made in one go. */
  readonly turn?: Turn
}

export interface Metrics {
  readonly sink: Sink
  /** `accept`: the scraper's header; OpenMetrics only where it is asked for. */
  render(accept: string | undefined): Promise<Rendered>
  /** The path in force. `presets`: all of its hops; absent: those that set a limit. */
  setPath(limits: EffectiveLimits, more?: { readonly presets?: readonly string[]; readonly mode?: 'act' | 'shadow' }): void
  /** All faults in force; those not in the list are gone. */
  setFaults(faults: readonly FaultInForce[]): void
  setScenarioActive(isActive: boolean): void
  /** The phase that is being played; it counts as active as well. */
  setScenario(played: ScenarioPlayed): void
  setUpstreamUp(isUp: boolean): void
  setOtlpUp(isUp: boolean): void
  /** A configuration was read: at the start, and at each reload. */
  setReload(isTaken: boolean, wallMs: number): void
  /** Reports that draining and results give are counted here already. */
  countReport(source: ReportedSource, result: ReportedResult): void
  /** Lines that the events file did not take. */
  eventsDropped(count?: number): void
}

const HOPS_MAX = 50
const FAULTS_MAX = 50

interface State {
  isOtherTouched: boolean
  isUpstreamUp: boolean
  isOtlpReceiverUp: boolean
  eventsDropped: number
  chaos: { path: boolean; faults: boolean; scenario: boolean }
}

export function createMetrics({ toolsMax, version, gauges, turn = () => Promise.resolve() }: MetricsAsked): Metrics {
  const registry = new Registry<OpenMetricsContentType>()
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE) // before any metric: exemplars need it
  const state: State = {
    isOtherTouched: false,
    isUpstreamUp: false,
    isOtlpReceiverUp: false,
    eventsDropped: 0,
    chaos: { path: false, faults: false, scenario: false },
  }
  const possible = createPossible()
  const tools = createLabelCap(toolsMax)
  const scrapes: (() => void)[] = []
  const editions: Editions = new Map()
  const page = createPage({ registry, about: METRICS, turn, editions })
  const kit = createKit(registry, editions, {
    version,
    readings: {
      bufferedBytes: gauges.bufferedBytes,
      isUpstreamUp: () => state.isUpstreamUp,
      isOtlpReceiverUp: () => state.isOtlpReceiverUp,
      eventsDropped: () => state.eventsDropped,
      chaos: () => state.chaos,
    },
    tools,
    faults: createLabelCap(FAULTS_MAX),
    hops: createLabelCap(HOPS_MAX),
    possible,
    toolLabels: () => (state.isOtherTouched ? [...tools.names(), OTHER] : tools.names()),
    beforeScrape: (run) => scrapes.push(run),
  })
  const meters = FAMILIES.map((family) => family.start(kit))
  const tellCauses = (added: Causes): void => {
    for (const meter of meters) meter.causes?.(added)
  }
  tellCauses(possible.now)
  return {
    sink: sinkOf(meters, kit, state),
    render(accept) {
      for (const run of scrapes) run()
      return page.render(accept)
    },
    setPath(limits, { presets, mode = 'act' } = {}) {
      const named = presets ?? Object.values(limits).flatMap((least) => (least === null ? [] : [least.preset]))
      for (const preset of named) kit.hops.admit(preset)
      state.chaos.path = named.length > 0
      if (named.length > 0) tellCauses(possible.add('hop'))
      for (const meter of meters) meter.path?.({ limits, presets: [...new Set(named)], mode })
    },
    setFaults(faults) {
      for (const { name } of faults) kit.faults.admit(name)
      if (faults.length > 0) tellCauses(possible.add('fault'))
      state.chaos.faults = faults.some(({ isEnabled }) => isEnabled)
      for (const meter of meters) meter.faults?.(faults)
    },
    setScenarioActive(isActive) {
      state.chaos.scenario = isActive
    },
    setScenario(played) {
      state.chaos.scenario = played.active !== null
      for (const meter of meters) meter.scenario?.(played)
    },
    setUpstreamUp(isUp) {
      state.isUpstreamUp = isUp
    },
    setOtlpUp(isUp) {
      state.isOtlpReceiverUp = isUp
    },
    setReload(isTaken, wallMs) {
      for (const meter of meters) meter.reloaded?.({ isTaken, wallMs })
    },
    countReport(source, result) {
      for (const meter of meters) meter.reported?.(source, result)
    },
    eventsDropped(count = 1) {
      state.eventsDropped += count
    },
  }
}

/** Tools get their label before the families see what made them known. */
function sinkOf(meters: readonly Meter[], { tools }: Kit, state: State): Sink {
  const onFact = byKind(meters, ({ facts }, kind: Fact['kind']) => facts?.[kind] !== undefined)
  const onMoment = byKind(meters, ({ moments }, is: Moment['is']) => moments?.[is] !== undefined)
  const onSettled = meters.filter((meter) => meter.settled !== undefined)
  function touchTool(label: string): void {
    for (const meter of meters) meter.tool?.(label)
  }
  function touchOther({ calls }: LedgerView): void {
    if (!calls.some(({ method, tool }) => method === 'tools/call' && tools.labelOf(tool) === OTHER)) return
    state.isOtherTouched = true
    touchTool(OTHER)
  }
  return {
    name: 'metrics',
    facts: [...new Set(meters.flatMap(({ facts }) => Object.keys(facts ?? {}) as Fact['kind'][]))],
    moments: [...new Set([...meters.flatMap(({ moments }) => Object.keys(moments ?? {}) as Moment['is'][]), 'tools', 'began'] as const)],
    fact(view, fact) {
      const { kind } = fact
      for (const { facts } of onFact(kind)) (facts?.[kind] as Listener<Fact> | undefined)?.(view, fact)
    },
    moment(view, moment) {
      const { is } = moment
      if (is === 'tools') {
        for (const name of moment.names) if (tools.admit(name)) touchTool(name)
      } else if (is === 'began' && !state.isOtherTouched) touchOther(view)
      for (const { moments } of onMoment(is)) (moments?.[is] as Listener<Moment> | undefined)?.(view, moment)
    },
    settled(record, settlement) {
      for (const meter of onSettled) meter.settled?.(record, settlement)
    },
  }
}

type Listener<T> = (view: LedgerView, told: T) => void
