/** Scenarios in the running sidecar: what they may steer, what they hear, and who may end them. */
import type { ScenarioPorts } from '../admin/routes/scenario.ts'
import { readScenarioJson } from '../config/scenario-file.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { formatDuration } from '../core/units.ts'
import type { Journal } from '../journal/journal.ts'
import type { Sink } from '../journal/sink.ts'
import type { ScenarioReport } from '../scenario/report.ts'
import type { ScenarioRunner } from '../scenario/runner.ts'
import { createScenarioRunner } from '../scenario/runner.ts'
import type { Scenario } from '../scenario/schema.ts'
import type { Metrics } from '../sinks/metrics/index.ts'
import type { Steering } from './steering.ts'

export interface Experiments extends ScenarioPorts {
  /** When it has ended. Throws where another runs, or all is stopped. */
  play(scenario: Scenario): Promise<ScenarioReport>
  /** The sidecar is about to stop. */
  shutDown(): void
  /** Everything was stopped: a running scenario is over. */
  stopped(): void
}

export interface ExperimentsAsked {
  readonly clock: Clock
  readonly log: Log
  readonly steering: Steering
  readonly journal: Pick<Journal, 'calls'>
  readonly metrics: Pick<Metrics, 'setScenario'>
}

export function createExperiments(asked: ExperimentsAsked, heard: { runner: ScenarioRunner | null }): Experiments {
  const { steering, journal, metrics, log, clock } = asked
  const runner = createScenarioRunner({
    clock,
    control: steering.control,
    waitMs: () => steering.snapshot().work.waitMs,
    unsettled: (fromWallMs, untilWallMs) => journal.calls().filter((call) => isUnsettled(call, fromWallMs, untilWallMs)).length,
    phaseChanged(scenario, active) {
      metrics.setScenario({ name: scenario.name, phases: scenario.phases.map(({ name }) => name), active })
      const phase = scenario.phases.find(({ name }) => name === active)
      log.info(phase === undefined ? 'the scenario is over: pass-through' : 'the scenario enters a phase', {
        scenario: scenario.name,
        ...(phase === undefined ? {} : { phase: phase.name, for: formatDuration(phase.forMs) }),
      })
    },
  })
  heard.runner = runner

  function start(scenario: Scenario): string | null {
    if (steering.control.state().isStopped) return 'name: everything is stopped: POST /api/v1/resume first'
    return runner.start(scenario)
      ? null
      : `name: the scenario "${runner.report()?.name ?? ''}" is not over: DELETE /api/v1/scenario ends it`
  }
  return {
    read: readScenarioJson,
    start,
    end: () => runner.end('operator'),
    report: runner.report,
    play(scenario) {
      const refusal = start(scenario)
      const ended = runner.ended()
      if (refusal !== null || ended === null) return Promise.reject(new Error(refusal ?? 'the scenario did not start'))
      return ended
    },
    shutDown: () => runner.end('shutdown'),
    stopped() {
      if (runner.isRunning()) runner.end('operator', 'everything was stopped')
    },
  }
}

/** What settles is told to whoever runs then: the journal is there before the runner. */
export function scenarioSink(heard: { readonly runner: ScenarioRunner | null }): Sink {
  return {
    name: 'scenario',
    settled: (record, { isToolCall, orphanMs, isDuplicate }) => heard.runner?.take({ record, isToolCall, orphanMs, isDuplicate }),
  }
}

function isUnsettled({ method, work, openedAt }: ReturnType<Journal['calls']>[number], fromWallMs: number, untilWallMs: number): boolean {
  const openedWallMs = Date.parse(openedAt)
  return method === 'tools/call' && work.outcome === 'pending' && openedWallMs >= Math.floor(fromWallMs) && openedWallMs <= untilWallMs
}
