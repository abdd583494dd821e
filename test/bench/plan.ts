/** What a run does, in which order: every measure of every target once per repetition, so that a noisy moment meets all alike. Pure. */

import { turned } from './actors/turns.ts'

export interface Step {
  readonly measure: string
  readonly clientArgs: readonly string[]
  /** The proxy's idle limit; null: none. Targets without one are passed over. */
  readonly idleMs: number | null
  readonly limitMs: number
  /** About how long it takes, for the progress line. */
  readonly aboutMs: number
  /** In how many repetitions it is made. */
  readonly repetitions: number
  /** Only these targets; absent: all. */
  readonly only?: readonly string[]
  /**
   * All targets stand together, and one client measures them in turn so many times, after it has warmed each: what is compared is seconds
   * apart, and each of these rounds is a repetition. Absent: each target has fresh processes every time.
   */
  readonly rounds?: number
  /** About how long the warming of one target takes. */
  readonly firstMs?: number
  /** The target stands twice, and the client is given both: a proxy is compared with itself, each of the client's rounds a repetition. */
  readonly isTwice?: boolean
}

const START_MS = 900
/** Of those that stand together. */
const MANY = 5
const CLIENT_MS = 500

const step = (
  measure: string,
  more: Partial<Step> & { readonly clientArgs: readonly string[]; readonly aboutMs: number; readonly repetitions: number },
): Step => ({
  measure,
  idleMs: null,
  limitMs: 60_000 + 2 * MANY * ((more.firstMs ?? 0) + (more.rounds ?? 1) * more.aboutMs),
  ...more,
})

/** Never measured in another minute than what they are compared with. */
const COMPARED = ['direct', 'sidecar', 'http-proxy', 'sidecar-loaded', 'sidecar-direct']
const PEERS = ['sidecar-reports', 'nginx', 'haproxy', 'toxiproxy']
const BODIES = ['direct', 'sidecar', 'http-proxy']
const LEFT = ['sidecar', 'http-proxy', 'nginx']
const OTHERS = ['sidecar-direct', 'nginx', 'haproxy', 'toxiproxy']

/**
 * Processes are warmed first, for V8 compiles what such a load needs for some seconds: so many requests, events, leavings of each. And
 * again before each window: in the seconds of the others V8 gives the room of the young back, and makes it anew.
 */
const RTT = {
  ...{ clientArgs: ['--first', '20000', '--warm', '500', '--warm-count', '2000', '--ms', '700', '--count', '2000'], aboutMs: 2_500 },
  ...{ firstMs: 5_000, repetitions: 2, rounds: 4, only: COMPARED },
}
const EVENTS = {
  ...{ clientArgs: ['--first', '50000', '--warm', '400', '--warm-count', '1', '--ms', '700'], aboutMs: 1_400 },
  ...{ firstMs: 4_200, repetitions: 2, rounds: 6, only: COMPARED },
}
const EVENTS_ALONE = { clientArgs: ['--warm', '3000', '--ms', '1000'], aboutMs: 4_200 }
const RTT_ALONE = { clientArgs: ['--warm', '700', '--ms', '1000'], aboutMs: 4_700 }
const BULK = { clientArgs: ['--times', '2'], aboutMs: 2_200 }
/** Six pages first: those of a process that has just begun are slow to make. */
const SCRAPED = ['--scrapes-first', '6']
const LEAVE = { repetitions: 1, only: LEFT, firstMs: 5_500 }
const SILENT = { ...LEAVE, rounds: 5, clientArgs: ['--first', '4000', '--mode', 'silent', '--wait', '400'], aboutMs: 4_600 }
const ACTIVE = { ...LEAVE, rounds: 7, clientArgs: ['--first', '4000', '--mode', 'active', '--wait', '400'], aboutMs: 1_500 }

export const FULL: readonly Step[] = [
  step('rtt', RTT),
  step('rtt', { ...RTT_ALONE, repetitions: 2, only: PEERS }),
  step('events', EVENTS),
  step('events', { ...EVENTS_ALONE, repetitions: 2, only: PEERS }),
  step('bulk', { ...BULK, repetitions: 5, only: BODIES }),
  step('bulk', { ...BULK, repetitions: 1, only: OTHERS }),
  step('cut', { clientArgs: [], idleMs: 2_000, aboutMs: 4_900, repetitions: 5, only: ['sidecar'] }),
  step('cut', { clientArgs: SCRAPED, idleMs: 2_000, aboutMs: 11_000, repetitions: 2, only: ['sidecar-scraped'] }),
  step('cut', { clientArgs: [], idleMs: 2_000, aboutMs: 4_900, repetitions: 1, only: ['sidecar-loaded', ...OTHERS] }),
  step('cut', { clientArgs: ['--load', 'bulk'], idleMs: 2_000, aboutMs: 5_500, repetitions: 2, only: ['sidecar'] }),
  step('cut', { clientArgs: ['--load', 'abort'], idleMs: 2_000, aboutMs: 5_500, repetitions: 2, only: ['sidecar'] }),
  step('cut', {
    clientArgs: ['--load', 'open', '--idle-ms', '7000', ...SCRAPED],
    idleMs: 7_000,
    limitMs: 180_000,
    aboutMs: 26_000,
    repetitions: 1,
    only: ['sidecar-scraped'],
  }),
  step('abort', SILENT),
  step('abort', ACTIVE),
  step('idle', {
    clientArgs: [],
    limitMs: 180_000,
    aboutMs: 17_000,
    repetitions: 1,
    only: ['sidecar', 'sidecar-direct', 'http-proxy', ...OTHERS],
  }),
  step('growth', {
    ...{ clientArgs: ['--warm', '200', '--ms', '600', '--warm-count', '1500', '--count', '3000', '--rounds', '5'], isTwice: true },
    ...{ limitMs: 180_000, aboutMs: 64_000, repetitions: 1, only: ['sidecar'] },
  }),
  step('memory', { clientArgs: ['--exchanges', '100000'], limitMs: 300_000, aboutMs: 22_000, repetitions: 1, only: ['sidecar'] }),
]

/** The whole promise on memory, in place of the tenth of it that a full run has time for. */
export const MILLION: Step = step('memory', {
  clientArgs: ['--exchanges', '1000000'],
  limitMs: 1_800_000,
  aboutMs: 250_000,
  repetitions: 1,
  only: ['sidecar'],
})

/** Those that the goals are about. */
export const QUICK_TARGETS: readonly string[] = ['direct', 'sidecar', 'sidecar-loaded', 'sidecar-scraped', 'http-proxy']

export const QUICK: readonly Step[] = [
  step('rtt', {
    ...{ clientArgs: ['--first', '8000', '--warm', '250', '--warm-count', '1', '--ms', '450', '--count', '1000'], aboutMs: 1_500 },
    ...{ firstMs: 2_500, repetitions: 1, rounds: 2, only: COMPARED },
  }),
  step('events', {
    ...{ clientArgs: ['--first', '12000', '--warm', '250', '--warm-count', '1', '--ms', '700'], aboutMs: 1_300 },
    ...{ firstMs: 1_500, repetitions: 1, rounds: 2, only: COMPARED },
  }),
  step('bulk', { clientArgs: ['--times', '1', '--mb', '50'], aboutMs: 300, repetitions: 1, only: ['direct', 'sidecar', 'http-proxy'] }),
  step('cut', {
    clientArgs: ['--streams', '60', '--idle-ms', '1000'],
    idleMs: 1_000,
    aboutMs: 2_800,
    repetitions: 1,
    only: ['sidecar', 'sidecar-scraped'],
  }),
  step('abort', {
    clientArgs: ['--mode', 'silent', '--streams', '100', '--wait', '300'],
    aboutMs: 1_800,
    repetitions: 1,
    only: ['sidecar', 'http-proxy'],
  }),
  step('abort', {
    clientArgs: ['--mode', 'active', '--streams', '100', '--wait', '300'],
    aboutMs: 800,
    repetitions: 1,
    only: ['sidecar', 'http-proxy'],
  }),
  step('idle', { clientArgs: ['--streams', '1000', '--hold', '1000'], aboutMs: 2_200, repetitions: 1, only: ['sidecar', 'http-proxy'] }),
]

export interface Planned {
  readonly repetition: number
  readonly step: Step
  /** One, or all that stand together. */
  readonly targets: readonly string[]
  /** About how long all of it takes. */
  readonly aboutMs: number
}

export interface PlanAsked {
  readonly steps: readonly Step[]
  readonly targets: readonly { readonly name: string; readonly cutsIdle: boolean; readonly measures?: readonly string[] }[]
  /** Replaces each step's own number. */
  readonly repetitions: number | null
}

/** Targets change places from one repetition to the next: none is always the one after the same other. */
export function planOf({ steps, targets, repetitions }: PlanAsked): readonly Planned[] {
  const most = Math.max(0, ...steps.map((one) => repetitions ?? one.repetitions))
  const planned: Planned[] = []
  for (let repetition = 1; repetition <= most; repetition += 1) {
    for (const one of steps) {
      if (repetition > (repetitions ?? one.repetitions)) continue
      const names = turned(targets, repetition - 1)
        .filter(({ name, cutsIdle, measures }) => {
          if ((one.idleMs !== null && !cutsIdle) || one.only?.includes(name) === false) return false
          return measures === undefined || measures.includes(one.measure)
        })
        .map(({ name }) => name)
      if (one.rounds === undefined) {
        for (const name of names) planned.push({ repetition, step: one, targets: [name], aboutMs: START_MS + one.aboutMs })
      } else if (names.length > 0) {
        planned.push({ repetition, step: one, targets: names, aboutMs: CLIENT_MS + names.length * togetherMs(one) })
      }
    }
  }
  return planned
}

const togetherMs = ({ rounds = 1, aboutMs, firstMs = 0 }: Step): number => START_MS + firstMs + rounds * aboutMs

export const aboutMsOf = (planned: readonly Planned[]): number => planned.reduce((sum, { aboutMs }) => sum + aboutMs, 0)
