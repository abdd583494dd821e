/** Plays a scenario: its phases by the clock, its figures from settled calls, its end in pass-through whatever happens. */
import type { Clock, Timer } from '../core/clock.ts'
import { isoOf } from '../core/iso-time.ts'
import type { PhaseLayer } from '../faults/scenario-layer.ts'
import { judge } from './expectation.ts'
import type { Measures, SettledCall } from './measures.ts'
import { addCall, noMeasures } from './measures.ts'
import type { EndedBy, PhaseReport, ScenarioReport } from './report.ts'
import { figuresOf, verdictOf } from './report.ts'
import type { Scenario } from './schema.ts'

export interface RunnerPorts {
  readonly clock: Clock
  readonly control: { enterPhase(phase: PhaseLayer): void; leaveScenario(): void }
  /** How many `tools/call` opened in that time, by the wall, have not settled. */
  unsettled(fromWallMs: number, untilWallMs: number): number
  /** How long a call waits for its work report. */
  waitMs(): number
  /** For metrics and people; null: none is active. */
  phaseChanged(scenario: Scenario, phase: string | null): void
}

export interface ScenarioRunner {
  /** False: one is running already. */
  start(scenario: Scenario): boolean
  /** A call has settled. */
  take(settled: SettledCall): void
  /** Ends it early; nothing where none runs. */
  end(by: EndedBy, why?: string): void
  isRunning(): boolean
  /** The one that runs, or the last; null: there was none. */
  report(): ScenarioReport | null
  /** When the one that runs now, or the last, has ended. Null: there was none. */
  ended(): Promise<ScenarioReport> | null
}

const SETTLED_LOOK_MS = 100

export function createScenarioRunner(ports: RunnerPorts): ScenarioRunner {
  let run: Run | null = null
  return {
    start(scenario) {
      if (run !== null && run.state() !== 'ended') return false
      run = createRun(scenario, ports)
      run.begin()
      return true
    },
    take: (settled) => run?.take(settled),
    end: (by, why) => run?.end(by, why ?? null),
    isRunning: () => run !== null && run.state() === 'running',
    report: () => run?.report() ?? null,
    ended: () => run?.whenEnded ?? null,
  }
}

type Run = ReturnType<typeof createRun>

interface PlayedPhase {
  readonly measures: Measures
  startedMs: number | null
  endedMs: number | null
}

function createRun(scenario: Scenario, ports: RunnerPorts) {
  const { clock, control } = ports
  const startedMs = clock.nowMs()
  const startedWallMs = clock.wallMs()
  const all = noMeasures()
  const played = scenario.phases.map((): PlayedPhase => ({ measures: noMeasures(), startedMs: null, endedMs: null }))
  let state: ScenarioReport['state'] = 'running'
  let current = -1
  let timer: Timer | null = null
  let phasesOverMs = Infinity // since the start; calls opened later are not of the scenario
  let endedBy: EndedBy | null = null
  let why: string | null = null
  let endedAtMs: number | null = null
  let unsettled = 0
  let tellEnded: (report: ScenarioReport) => void = () => undefined
  const whenEnded = new Promise<ScenarioReport>((resolve) => {
    tellEnded = resolve
  })
  const sinceStart = (): number => clock.nowMs() - startedMs

  /** Whatever breaks in here ends in pass-through. */
  function guarded(act: () => void): void {
    try {
      act()
    } catch (error) {
      crash(error)
    }
  }
  function enterNext(): void {
    closePhase()
    current += 1
    const phase = scenario.phases[current]
    const own = played[current]
    if (phase === undefined || own === undefined) return leave('complete', null)
    own.startedMs = sinceStart()
    control.enterPhase({ hops: phase.hops, rules: phase.rules })
    ports.phaseChanged(scenario, phase.name)
    // By the start of the scenario, so that a late timer shifts no later phase.
    const dueMs = scenario.phases.slice(0, current + 1).reduce((sum, { forMs }) => sum + forMs, 0)
    timer = clock.after(Math.max(0, dueMs - sinceStart()), () => guarded(enterNext))
  }
  function closePhase(): void {
    const own = played[current]
    if (own !== undefined && own.startedMs !== null) own.endedMs ??= sinceStart()
  }
  function leave(by: EndedBy, reason: string | null): void {
    timer?.cancel()
    state = 'settling' // first: what leaving sets off must not end it again
    endedBy = by
    why = reason
    closePhase()
    phasesOverMs = sinceStart()
    control.leaveScenario()
    ports.phaseChanged(scenario, null)
    const untilMs = by === 'shutdown' ? clock.nowMs() : clock.nowMs() + (scenario.settleMs ?? ports.waitMs() + SETTLED_LOOK_MS)
    waitForCalls(untilMs)
  }
  function waitForCalls(untilMs: number): void {
    unsettled = ports.unsettled(startedWallMs, startedWallMs + phasesOverMs)
    if (unsettled === 0 || clock.nowMs() >= untilMs) return finish()
    timer = clock.after(Math.min(SETTLED_LOOK_MS, untilMs - clock.nowMs()), () => guarded(() => waitForCalls(untilMs)))
  }
  function finish(): void {
    state = 'ended'
    endedAtMs = clock.wallMs()
    tellEnded(report())
  }
  function crash(error: unknown): void {
    timer?.cancel()
    state = 'ended'
    endedBy = 'crash'
    why = error instanceof Error ? error.message : String(error)
    endedAtMs = clock.wallMs()
    try {
      closePhase()
      control.leaveScenario()
      ports.phaseChanged(scenario, null)
    } finally {
      tellEnded(report())
    }
  }
  function take(settled: SettledCall): void {
    if (state === 'ended') return
    const openedMs = Date.parse(settled.record.openedAt) - Math.floor(startedWallMs)
    if (openedMs < 0 || openedMs > phasesOverMs) return
    addCall(all, settled)
    const own = played.findLast((phase) => phase.startedMs !== null && openedMs >= Math.floor(phase.startedMs))
    if (own !== undefined) addCall(own.measures, settled)
    if (state !== 'running') return
    const met = scenario.stopWhen.find((condition) => judge(condition, all).verdict === 'held')
    if (met === undefined) return
    const reason = `${met.text}: ${judge(met, all).told}`
    // Not inside the telling of a settled call: leaving touches other exchanges.
    clock.after(0, () => guarded(() => (state === 'running' ? leave('stop-condition', reason) : undefined)))
  }
  function phaseReport(index: number): PhaseReport {
    const [phase, own] = [scenario.phases[index], played[index]]
    const measures = own?.measures ?? noMeasures()
    const { startedMs: from = null, endedMs: until = null } = own ?? {}
    return {
      name: phase?.name ?? '',
      state: from === null ? 'waiting' : until === null ? 'running' : 'over',
      startedMs: from,
      endedMs: until,
      figures: figuresOf(measures),
      expect: (phase?.expect ?? []).map((expectation) => judge(expectation, measures, unsettled)),
    }
  }
  function report(): ScenarioReport {
    const phases = scenario.phases.map((_, index) => phaseReport(index))
    const expect = scenario.expect.map((expectation) => judge(expectation, all, unsettled))
    const judgements = [...expect, ...phases.flatMap((phase) => phase.expect)]
    return {
      name: scenario.name,
      state,
      verdict: state === 'ended' && endedBy !== null ? verdictOf(judgements, endedBy) : null,
      startedAt: isoOf(startedWallMs),
      endedAt: endedAtMs === null ? null : isoOf(endedAtMs),
      endedBy,
      why,
      phases,
      figures: figuresOf(all),
      expect,
      unsettled,
    }
  }
  return {
    whenEnded,
    state: () => state,
    begin: () => guarded(enterNext),
    take: (settled: SettledCall) => guarded(() => take(settled)),
    report,
    end(by: EndedBy, reason: string | null) {
      if (state === 'running') guarded(() => leave(by, reason))
      else if (state === 'settling' && by === 'shutdown') guarded(finish)
    },
  }
}
