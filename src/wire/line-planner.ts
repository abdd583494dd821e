/** From the configuration in force to the seats of one exchange: the hops of the path, and the faults that match it. */
import type { Snapshot } from '../config/snapshot.ts'
import { drainSeat } from '../core/drain-seat.ts'
import type { AskMeaning } from '../core/mcp/ask.ts'
import { readAsk } from '../core/mcp/ask.ts'
import type { Note, SeatPlan } from '../core/seat.ts'
import type { Cause, Request } from '../core/signal.ts'
import type { Caps } from '../faults/caps.ts'
import type { ControlState, Release } from '../faults/control.ts'
import { inForce } from '../faults/control.ts'
import { isReleased } from '../faults/controller.ts'
import type { Acceptance } from '../faults/fault.ts'
import type { FaultMemory } from '../faults/memory.ts'
import type { FaultDecision } from '../faults/planner.ts'
import { createFaultPlanner } from '../faults/planner.ts'
import { compileHop, compileLine, connectLimit } from '../hops/compile.ts'
import type { Hop } from '../hops/hop.ts'
import { tunnelHop } from '../hops/tunnel.ts'
import type { RetryPlan } from './retry.ts'

/** How long the server may take to accept the connection, and the cause of the loss then. */
export interface ConnectLimit {
  readonly afterMs: number
  readonly cause: Cause
}

export interface SeatAsked {
  /** Null where only the head is known. */
  readonly ask: AskMeaning | null
  readonly head: Request
  /** Read only where a fault needs it. */
  readonly bodyText: () => string | null
  readonly connection: number
  /** The path's hops carry a WebSocket session as tunnels. */
  readonly isSession: boolean
  readonly atMs: number
}

/** Who sits on one exchange's line, for as long as it lives. */
export interface Seating {
  readonly plans: readonly SeatPlan[]
  /** Each decides beside the line and acts on nothing; `mode: shadow`. */
  readonly shadows: readonly { readonly name: string; readonly plans: readonly SeatPlan[] }[]
  /** Decisions that gave no seat, to be told. */
  readonly notes: readonly { readonly seat: string; readonly note: Note }[]
  readonly connect: ConnectLimit | null
  /** Of the hop next to the server. */
  readonly retry: RetryPlan | null
  mayCut(cause: Cause, atMs: number): boolean
  /** The seats that leave by these releases. */
  namesReleasedBy(releases: readonly Release[]): ReadonlySet<string>
  /** The exchange is over. */
  close(): void
}

/** One state of the configuration, compiled; every exchange takes seats of its own from the same plans. */
export interface LinePlanner {
  /** Whatever is asked, nobody sits on its line. */
  readonly seatsNobody: boolean
  /** Only then does the request wait until its body was read. */
  needsBody(head: Request): boolean
  seat(asked: SeatAsked): Seating
  /** What is done to a connection that was just accepted; null: nothing. */
  accept(connection: number, atMs: number): { readonly name: string; readonly what: Acceptance } | null
}

export interface PlannerPorts {
  readonly memory: FaultMemory
  readonly caps: Caps
}

const DRAIN = 'drain'

export function createLinePlanner(state: ControlState, { mode, work, seed }: Snapshot, { memory, caps }: PlannerPorts): LinePlanner {
  const { faults, path, pathId } = inForce(state)
  const hasFaults = faults.length > 0
  const isActing = mode === 'act'
  const rules = createFaultPlanner({ rules: faults, safety: state.safety, seed, memory })
  const limit = isActing ? connectLimit(path) : null
  const retry = isActing ? (path.at(-1)?.request?.retry ?? null) : null
  const pathPlans = plansOf(path, isActing)
  const tunnelPlans = plansOf(path.map(tunnelHop), isActing)
  const pathNames = new Set(path.map(({ name }) => name))
  const drains = isActing && work.afterCut === 'drain' && (hasFaults || path.length > 0) ? [drainSeat()] : []

  /** Nobody sits, nothing is decided: one seating for all. */
  const free: Seating | null = hasFaults || path.length > 0 ? null : freeSeating(caps)

  function seat({ ask, head, bodyText, connection, isSession, atMs }: SeatAsked): Seating {
    if (free !== null) {
      caps.enter()
      return free
    }
    const share = caps.open(state.safety)
    const decisions = hasFaults
      ? rules.decide(ask ?? readAsk(head, null), head, connection, atMs, { bodyText: bodyText(), caps: isActing ? share : undefined })
      : []
    const seated = decisions.length === 0 ? NONE : decisions.filter((decision) => decision.plan !== null)
    const { acting, shadows } = isSession ? tunnelPlans : pathPlans
    return {
      plans: isActing ? lineOf(seated, acting, drains) : [],
      shadows: isActing ? [] : [...shadows, ...seated.map(({ name, plan }) => ({ name, plans: plan === null ? [] : [plan] }))],
      notes: decisions.length === 0 ? [] : decisions.flatMap((decision) => noteOf(decision, isActing)),
      connect: limit,
      retry,
      mayCut: (_, atMs) => share.mayCut(atMs),
      namesReleasedBy: (releases) =>
        new Set([
          ...seated.map(({ name }) => name).filter((fault) => isReleased(releases, { fault })),
          ...(isReleased(releases, { pathId }) ? pathNames : []),
          ...(releases.some(({ is }) => is === 'all') ? [DRAIN] : []),
        ]),
      close: share.close,
    }
  }

  return {
    seatsNobody: free !== null,
    needsBody: (head) => hasFaults && rules.needsBody(head),
    seat,
    accept: (connection, atMs) =>
      hasFaults && isActing ? rules.decideAccept(connection, atMs, () => caps.open(state.safety).mayCut(atMs)) : null,
  }
}

const NONE: readonly FaultDecision[] = []
const NO_NAMES: ReadonlySet<string> = new Set()

const freeSeating = ({ leave }: Caps): Seating => ({
  plans: [],
  shadows: [],
  notes: [],
  connect: null,
  retry: null,
  mayCut: () => true,
  namesReleasedBy: () => NO_NAMES,
  close: leave,
})

interface PathPlans {
  readonly acting: readonly SeatPlan[]
  readonly shadows: readonly { readonly name: string; readonly plans: readonly SeatPlan[] }[]
}

function plansOf(path: readonly Hop[], isActing: boolean): PathPlans {
  if (isActing) return { acting: compileLine(path, []), shadows: [] }
  return { acting: [], shadows: path.map((hop) => ({ name: hop.preset, plans: compileHop(hop) })) }
}

/** The faults at either end of the path, in the order a response meets them. */
function lineOf(decisions: readonly FaultDecision[], path: readonly SeatPlan[], drains: readonly SeatPlan[]): readonly SeatPlan[] {
  if (decisions.length === 0 && drains.length === 0) return path
  const at = (side: 'client' | 'server'): SeatPlan[] =>
    decisions.flatMap((decision) => (decision.at === side && decision.plan !== null ? [decision.plan] : [])).toReversed()
  return [...at('client'), ...path, ...at('server'), ...drains]
}

function noteOf(decision: FaultDecision, isActing: boolean): { seat: string; note: Note }[] {
  if (decision.plan === null) return [{ seat: decision.name, note: { is: 'decided', what: decision.decision, why: decision.why } }]
  return isActing ? [] : [{ seat: decision.name, note: { is: 'decided', what: 'shadow' } }]
}
