/** Holds the control state and ends on time what has an end. One change after the other: each call is done when it returns. */
import type { Clock, Timer } from '../core/clock.ts'
import type { Hop } from '../hops/hop.ts'
import type { Change, ControlState, FromFile, Now, Refusal, Release } from './control.ts'
import {
  addFault,
  endOf,
  expire,
  initialControl,
  isRefusal,
  nextEndMs,
  patchFault,
  reloadFile,
  removeFault,
  resetPath,
  resume,
  setPath,
  stop,
} from './control.ts'
import type { PhaseLayer } from './scenario-layer.ts'
import { enterPhase, leaveScenario } from './scenario-layer.ts'

export interface Controller {
  state(): ControlState
  now(): Now
  add(written: unknown): Refusal | null
  patch(name: string, patch: unknown): Refusal | null
  remove(name: string): Refusal | null
  setPath(hops: readonly Hop[], ends: { readonly for?: string | undefined; readonly until?: string | undefined }): void
  resetPath(): void
  reload(from: FromFile): void
  stop(): void
  resume(): void
  /** A scenario's next phase, in place of the one before. */
  enterPhase(phase: PhaseLayer): void
  /** A scenario is over: pass-through. */
  leaveScenario(): void
  /** No timer stays behind. */
  close(): void
}

export interface ControllerAsked {
  readonly clock: Clock
  readonly from: FromFile
  /** The new state is in force before the seats are released. */
  changed(change: Change): void
}

export function createController({ clock, from, changed }: ControllerAsked): Controller {
  const now = (): Now => ({ nowMs: clock.nowMs(), wallMs: clock.wallMs() })
  let state = initialControl(from, now())
  let timer: Timer | null = null
  arm()

  function arm(): void {
    timer?.cancel()
    const endMs = nextEndMs(state)
    timer = endMs === null ? null : clock.after(Math.max(0, endMs - clock.nowMs()), endDue)
  }
  function endDue(): void {
    put(expire(state, clock.nowMs()))
  }
  function put(change: Change): void {
    state = change.state
    arm()
    changed(change)
  }
  /** What is already over is not there to be changed. */
  function current(): ControlState {
    const change = expire(state, clock.nowMs())
    if (change.state !== state) put(change)
    return state
  }
  function attempt(result: Change | Refusal): Refusal | null {
    if (isRefusal(result)) return result
    put(result)
    return null
  }
  return {
    state: current,
    now,
    add: (written) => attempt(addFault(current(), written, now())),
    patch: (name, patch) => attempt(patchFault(current(), name, patch, now())),
    remove: (name) => attempt(removeFault(current(), name)),
    setPath: (hops, ends) => put(setPath(current(), hops, endOf(ends, now()))),
    resetPath: () => put(resetPath(current())),
    reload: (next) => put(reloadFile(current(), next, now())),
    stop: () => put(stop(current())),
    resume: () => put(resume(current())),
    enterPhase: (phase) => put(enterPhase(current(), phase)),
    leaveScenario: () => put(leaveScenario(current())),
    close() {
      timer?.cancel()
      timer = null
    },
  }
}

/** Whether a seat of an open exchange is to leave. `pathId`: the API's path it opened with, null for the file's. */
export function isReleased(releases: readonly Release[], seat: { readonly fault: string } | { readonly pathId: number | null }): boolean {
  return releases.some((release) => {
    if (release.is === 'all') return true
    if ('fault' in seat) return release.is === 'fault' && release.name === seat.fault
    return release.is === 'path' && release.id === seat.pathId
  })
}
