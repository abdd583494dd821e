/** The sidecar's data path alone, in front of a scripted server: sockets, seats, a clock, and every fact that was told. */
import type { Clock } from '../../src/core/clock.ts'
import type { Fact } from '../../src/core/fact.ts'
import type { SeatPlan } from '../../src/core/seat.ts'
import { factOf } from '../../src/core/unread.ts'
import type { ExchangePorts } from '../../src/wire/exchange.ts'
import type { LinePlanner } from '../../src/wire/line-planner.ts'
import type { Listener } from '../../src/wire/listener.ts'
import { startListener } from '../../src/wire/listener.ts'
import { realClock } from '../../src/wire/real-clock.ts'
import { createUpstreamOf } from '../../src/wire/upstream-engine.ts'
import { whenTestEnds } from './raw-socket.ts'
import { testedEngine } from './upstream-engine.ts'

export interface WireRig {
  readonly port: number
  readonly listener: Listener
  readonly ports: ExchangePorts
  /** Facts of the n-th exchange (0: the first), as told so far. */
  facts(exchange?: number): readonly Fact[]
  exchangeCount(): number
  /** Waits for the first fact of that kind in that exchange. */
  fact<K extends Fact['kind']>(
    kind: K,
    exchange?: number,
    isRight?: (fact: Extract<Fact, { kind: K }>) => boolean,
  ): Promise<Extract<Fact, { kind: K }>>
}

export interface WireRigOptions {
  readonly plans?: readonly SeatPlan[]
  readonly clock?: Clock
  readonly inject?: 'header' | 'none'
  readonly heldBytesPerExchange?: number
  readonly heldBytesTotal?: number
  /** In place of `plans`: what the configuration in force says. */
  readonly planner?: () => LinePlanner
  /** Hears every fact of every exchange as well, after it was written down. */
  readonly openRecord?: ExchangePorts['openRecord']
}

const WAIT_MS = 10_000

export async function wireRig(upstream: URL, options: WireRigOptions = {}): Promise<WireRig> {
  const exchanges: Fact[][] = []
  const waiters = new Set<() => void>()
  const clock = options.clock ?? realClock
  const ports: ExchangePorts = {
    clock,
    upstream: createUpstreamOf(testedEngine, upstream, clock),
    upstreamName: upstream.host,
    openRecord() {
      const facts: Fact[] = []
      exchanges.push(facts)
      const record = options.openRecord?.()
      return {
        id: record?.id ?? `c${exchanges.length}`,
        tell(told) {
          facts.push(factOf(told))
          record?.tell(told)
          for (const look of [...waiters]) look()
        },
      }
    },
    planner: options.planner ?? (() => plannerOf(options.plans ?? [])),
    inject: () => options.inject ?? 'none',
    limits: {
      heldBytesPerExchange: options.heldBytesPerExchange ?? 16_777_216,
      heldBytesTotal: options.heldBytesTotal ?? 268_435_456,
    },
    held: { totalBytes: 0 },
    reached: () => undefined,
    random: () => 0.5,
    isDraining: () => false,
  }
  const listener = await startListener({ host: '127.0.0.1', port: 0 }, ports)
  whenTestEnds(() => listener.close())
  return {
    port: listener.address.port,
    listener,
    ports,
    facts: (exchange = 0) => exchanges[exchange] ?? [],
    exchangeCount: () => exchanges.length,
    fact(kind, exchange = 0, isRight = () => true) {
      type Wanted = Extract<Fact, { kind: typeof kind }>
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const found = (exchanges[exchange] ?? []).find((fact): fact is Wanted => fact.kind === kind && isRight(fact as Wanted))
          if (found === undefined) return
          clearTimeout(timer)
          waiters.delete(look)
          resolve(found)
        }
        const timer = setTimeout(() => {
          waiters.delete(look)
          reject(new Error(`waited ${WAIT_MS} ms for "${kind}"; told: ${(exchanges[exchange] ?? []).map((fact) => fact.kind).join(', ')}`))
        }, WAIT_MS)
        waiters.add(look)
        look()
      })
    },
  }
}

/** Everybody is always seated, and nothing is capped. */
const plannerOf = (plans: readonly SeatPlan[]): LinePlanner => ({
  seatsNobody: plans.length === 0,
  needsBody: () => false,
  accept: () => null,
  seat: () => ({
    plans,
    shadows: [],
    notes: [],
    connect: null,
    retry: null,
    mayCut: () => true,
    namesReleasedBy: () => new Set(),
    close: () => undefined,
  }),
})
