/** Steering the running sidecar: the control state, the planner compiled from it, and what a change does to open exchanges. */
import { readPathFrom } from '../config/api-path.ts'
import type { Settings, Snapshot } from '../config/snapshot.ts'
import type { Clock } from '../core/clock.ts'
import { isoOf } from '../core/iso-time.ts'
import type { CallRecord } from '../core/record.ts'
import { createCaps } from '../faults/caps.ts'
import type { Change, FromFile, Release } from '../faults/control.ts'
import { faultsInForce, inForce } from '../faults/control.ts'
import type { Controller } from '../faults/controller.ts'
import { createController } from '../faults/controller.ts'
import type { CutRequest } from '../faults/cut-filter.ts'
import { createCutFilter } from '../faults/cut-filter.ts'
import { createFaultMemory } from '../faults/memory.ts'
import type { EffectiveLimits } from '../hops/effective.ts'
import { effectiveLimits } from '../hops/effective.ts'
import type { Metrics } from '../sinks/metrics/index.ts'
import type { LinePlanner } from '../wire/line-planner.ts'
import { createLinePlanner } from '../wire/line-planner.ts'
import type { Listener } from '../wire/listener.ts'

/** What shows what is in force. */
export type SteeringMetrics = Pick<Metrics, 'setPath' | 'setFaults'>

export interface Steering {
  readonly control: Controller
  /** In force for exchanges opened now. */
  snapshot(): Snapshot
  /** The file was read anew: path, faults, safety, work and mode take effect for exchanges opened from now on. */
  reload(settings: Pick<Settings, 'snapshot' | 'faults'>): void
  readonly planner: () => LinePlanner
  readonly tally: ReturnType<typeof createFaultMemory>['tally']
  readonly readPath: typeof readPathFrom
  /** `stopped`: pass-through, whatever the rest says; then the path shown is empty. */
  showPath(): {
    readonly path: readonly unknown[]
    readonly effective: EffectiveLimits
    readonly origin: 'file' | 'api' | 'scenario'
    readonly expiresAt: string | null
    readonly stopped: boolean
  }
  cutOpen(asked: CutRequest): number
  /** The exchanges to which changes reach. */
  attach(listener: Listener, calls: () => readonly CallRecord[]): void
  /** Calls back whenever everything was stopped. */
  onStopped(run: () => void): void
  close(): void
}

export function createSteering(settings: Pick<Settings, 'snapshot' | 'faults'>, clock: Clock, metrics: SteeringMetrics): Steering {
  let { snapshot } = settings
  const memory = createFaultMemory()
  const caps = createCaps()
  let attached: { readonly listener: Listener; readonly calls: () => readonly CallRecord[] } | null = null
  const control: Controller = createController({ clock, from: fromFile(settings), changed })
  let planner = compile()
  let stopped: () => void = () => undefined
  show()

  function compile(): LinePlanner {
    return createLinePlanner(control.state(), snapshot, { memory, caps })
  }

  function changed({ releases, forgets }: Change): void {
    for (const name of forgets) memory.forget(name)
    planner = compile()
    show()
    release(releases)
    if (control.state().isStopped) stopped()
  }

  function release(releases: readonly Release[]): void {
    if (releases.length > 0) attached?.listener.release(releases)
  }

  function show(): void {
    const state = control.state()
    const { path } = inForce(state)
    const { nowMs, wallMs } = control.now()
    metrics.setPath(effectiveLimits(path), { presets: path.map(({ preset }) => preset), mode: snapshot.mode })
    metrics.setFaults(
      faultsInForce(state).map(({ rule, expiresAtMs }) => ({
        name: rule.name,
        isEnabled: rule.enabled !== false && !state.isStopped,
        expiresWallMs: expiresAtMs === null ? null : wallMs + (expiresAtMs - nowMs),
      })),
    )
  }

  return {
    control,
    snapshot: () => snapshot,
    reload(next) {
      // A seed that was drawn is drawn once: the same calls keep their fates.
      snapshot = { ...next.snapshot, seed: snapshot.seed }
      control.reload(fromFile(next))
    },
    planner: () => planner,
    tally: memory.tally,
    readPath: readPathFrom,
    showPath() {
      const state = control.state()
      const { path } = inForce(state)
      const { ownPath, scenario, isStopped } = state
      const { nowMs, wallMs } = control.now()
      const endsAtMs = ownPath?.expiresAtMs ?? null
      return {
        path,
        effective: effectiveLimits(path),
        origin: scenario?.hops != null ? 'scenario' : ownPath === null ? 'file' : 'api',
        expiresAt: endsAtMs === null ? null : isoOf(wallMs + (endsAtMs - nowMs)),
        stopped: isStopped,
      }
    },
    cutOpen(asked) {
      if (attached === null) return 0
      const isMeant = createCutFilter(asked)
      const wallMs = clock.wallMs()
      const meant = attached.calls().filter((record) => isMeant(record, wallMs - Date.parse(record.openedAt)))
      const ids = new Set(meant.map(({ id }) => id.replace(/\..*$/, '')))
      return attached.listener.cut(asked.ending ?? 'fin', { kind: 'operator', seat: null, detail: 'cut by an operator' }, (id) =>
        ids.has(id),
      )
    },
    attach(listener, calls) {
      attached = { listener, calls }
    },
    onStopped(run) {
      stopped = run
    },
    close: control.close,
  }
}

const fromFile = ({ snapshot, faults }: Pick<Settings, 'snapshot' | 'faults'>): FromFile => ({
  rules: faults?.rules ?? [],
  safety: faults?.safety ?? {},
  path: snapshot.path,
})
