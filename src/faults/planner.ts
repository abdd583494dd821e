/** Decides for each exchange which faults take a seat in its line. Time and chance come in as numbers. */
import { assertNever } from '../core/assert.ts'
import type { AskMeaning } from '../core/mcp/ask.ts'
import type { SeatPlan } from '../core/seat.ts'
import type { Request, Side } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import { wrapped } from './announce.ts'
import type { ExchangeCaps } from './caps.ts'
import { callKey, drawOf, randomOf } from './chance.ts'
import type { CompiledFault } from './compile-fault.ts'
import { compileFault } from './compile-fault.ts'
import type { Acceptance } from './fault.ts'
import type { FaultRule, Safety } from './fault-schema.ts'
import { createGlob } from './glob.ts'
import { pathOf } from './match.ts'
import type { FaultMemory } from './memory.ts'
import { createFaultMemory } from './memory.ts'

/** A rule in force; `expiresAtMs`: by the clock that `atMs` is read from; null: it has no end. */
export interface ActiveFault {
  readonly rule: FaultRule
  readonly expiresAtMs: number | null
}

export type FaultDecision =
  /** Take this seat. That it acted, the seat notes itself. */
  | { readonly name: string; readonly at: Side; readonly plan: SeatPlan; readonly decision: 'fired' }
  /** Nothing to seat; to be told and counted. */
  | {
      readonly name: string
      readonly at: Side
      readonly plan: null
      readonly decision: 'skipped' | 'exempt' | 'capped'
      readonly why: string
    }

export interface FaultPlanner {
  /** Whether a request with this head is to be held until its JSON body ends (1 MiB at most). */
  needsBody(head: Request): boolean
  /** In list order. `bodyText` null: not read, longer than 1 MiB, or encoded. `caps` absent: nothing is capped. */
  decide(
    ask: AskMeaning,
    head: Request,
    connection: number,
    atMs: number,
    more?: { readonly bodyText?: string | null; readonly caps?: ExchangeCaps | undefined },
  ): readonly FaultDecision[]
  /** For a connection that was just accepted, the `connection`-th; null: nothing is done to it. `mayCut` absent: always. */
  decideAccept(connection: number, atMs: number, mayCut?: () => boolean): { readonly name: string; readonly what: Acceptance } | null
}

export interface PlannerAsked {
  readonly rules: readonly ActiveFault[]
  readonly safety: Safety
  readonly seed: number
  /** Outlives the planner where the configuration changes. */
  readonly memory?: FaultMemory
}

const BODY_BYTES_MAX = 1_048_576
const NONE: readonly FaultDecision[] = []

export function createFaultPlanner({ rules, safety, seed, memory = createFaultMemory() }: PlannerAsked): FaultPlanner {
  const faults = rules.map(compileFault).filter((fault) => fault.isEnabled && fault.probability > 0)
  const exempt = (safety.exempt?.methods ?? []).map(createGlob)
  const isLive = (fault: CompiledFault, atMs: number): boolean => fault.expiresAtMs === null || atMs < fault.expiresAtMs
  const ofRequests = faults.filter(({ deed }) => deed.is !== 'accept')

  /** Its matching, its exemption or its chance depends on the body. */
  function dependsOnBody(fault: CompiledFault, head: Request): boolean {
    if (head.method !== 'POST') return false
    return fault.probability < 1 || fault.matcher.needsBody(head) || (exempt.length > 0 && exemptNeedsBody(head))
  }
  function decideOne(fault: CompiledFault, asked: Asked): FaultDecision | null {
    const { ask, head, path, connection, bodyText, atMs } = asked
    if (!isLive(fault, atMs) || !fault.matcher.mayMatch(head, path, connection)) return null
    if (bodyText === null && dependsOnBody(fault, head))
      return unseated(fault, 'skipped', 'the request is too long or encoded: what it asks cannot be read')
    return fault.matcher.matches(ask) ? matched(fault, asked) : null
  }
  function unseated(fault: CompiledFault, decision: 'skipped' | 'exempt' | 'capped', why: string): FaultDecision {
    memory.tell(fault.name, decision)
    return { name: fault.name, at: fault.at, plan: null, decision, why }
  }
  function matched(fault: CompiledFault, { ask, head, connection, bodyText, caps }: Asked): FaultDecision | null {
    if (isExempt(ask, exempt)) return unseated(fault, 'exempt', 'its method is exempt')
    const nth = memory.countMatch(fault.name)
    const key = callKey(head.method, ask.requests, bodyText)
    const times = memory.countCall(fault.name, key)
    if (fault.nth !== null && !fault.nth.has(nth)) return null
    if (fault.probability < 1 && drawOf(seed, fault.name, key, times) >= fault.probability) return null
    if (caps !== undefined && !caps.affect()) return unseated(fault, 'capped', 'safety.affectedMax is reached')
    const random = (): (() => number) => randomOf(seed, fault.name, 'jitter', key, times)
    if (fault.deed.is === 'next') {
      memory.expectNext(connection, fault.name)
      return null
    }
    return fault.deed.is === 'seat' ? seated(fault, fault.deed.plan, random) : null
  }
  function seated(fault: CompiledFault, plan: SeatPlan, random: () => () => number): FaultDecision {
    const fired = (): void => memory.tell(fault.name, 'fired')
    return { name: fault.name, at: fault.at, plan: wrapped(plan, { isAnnounced: fault.isAnnounced, random, fired }), decision: 'fired' }
  }
  /** What an earlier request on the connection left behind. */
  function leftBehind(connection: number, atMs: number): readonly FaultDecision[] {
    const names = memory.takeNext(connection)
    if (names.length === 0) return NONE
    return names.flatMap((name) => {
      const fault = faults.find((one) => one.name === name && isLive(one, atMs))
      return fault?.deed.is === 'next' ? [seated(fault, fault.deed.plan, () => randomOf(seed, name, connection))] : []
    })
  }
  return {
    needsBody(head) {
      if (!isReadable(head)) return false
      const path = pathOf(head.target)
      for (const fault of ofRequests) if (fault.matcher.mayMatch(head, path, null) && dependsOnBody(fault, head)) return true
      return false
    },
    decide(ask, head, connection, atMs, { bodyText = null, caps } = {}) {
      const asked: Asked = { ask, head, path: pathOf(head.target), connection, atMs, bodyText, caps }
      const left = leftBehind(connection, atMs)
      let made = NONE
      for (const fault of ofRequests) {
        const decision = decideOne(fault, asked)
        if (decision !== null) made = [...made, decision]
      }
      return left.length === 0 ? made : [...left, ...made.filter(({ name }) => !left.some((before) => before.name === name))]
    },
    decideAccept(connection, atMs, mayCut = () => true) {
      for (const fault of faults) {
        const { deed } = fault
        switch (deed.is) {
          case 'seat':
          case 'next':
            continue
          case 'accept':
            if (!isLive(fault, atMs) || (fault.connection !== null && fault.connection !== connection)) continue
            memory.countMatch(fault.name)
            if (fault.probability < 1 && drawOf(seed, fault.name, 'accept', connection) >= fault.probability) continue
            if (deed.what.is === 'refuse' && !mayCut()) {
              memory.tell(fault.name, 'capped')
              continue
            }
            memory.tell(fault.name, 'fired')
            return { name: fault.name, what: deed.what }
          default:
            assertNever(deed)
        }
      }
      return null
    },
  }
}

interface Asked {
  readonly ask: AskMeaning
  readonly head: Request
  readonly path: string
  readonly connection: number
  readonly atMs: number
  readonly bodyText: string | null
  readonly caps: ExchangeCaps | undefined
}

const exemptNeedsBody = ({ rawHeaders }: Request): boolean => headerOf(rawHeaders, 'mcp-method') === null

function isExempt(ask: AskMeaning, exempt: readonly ((method: string) => boolean)[]): boolean {
  return [...ask.requests, ...ask.notifications].some(({ method }) => exempt.some((matches) => matches(method)))
}

/** Whether its body could be read if it were held. */
function isReadable({ rawHeaders }: Request): boolean {
  return headerOf(rawHeaders, 'content-encoding') === null && Number(headerOf(rawHeaders, 'content-length') ?? 0) <= BODY_BYTES_MAX
}
