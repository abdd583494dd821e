/** What a run does, in which order: every measure of every target once per repetition, so that a noisy minute meets all alike. Pure. */

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
}

const START_MS = 900

const step = (
  measure: string,
  more: Partial<Step> & { readonly clientArgs: readonly string[]; readonly aboutMs: number; readonly repetitions: number },
): Step => ({
  measure,
  idleMs: null,
  limitMs: 60_000 + more.aboutMs * 2,
  ...more,
  aboutMs: more.aboutMs + START_MS,
})

/** Those that the goals are about: five times at least, and never in another minute than what they are compared with. */
const GOALS_OF = ['direct', 'sidecar', 'sidecar-loaded', 'http-proxy']
const PEERS = ['sidecar-reports', 'sidecar-direct', 'nginx', 'haproxy', 'toxiproxy']
const BODIES = ['direct', 'sidecar', 'http-proxy']
const OTHERS = ['sidecar-direct', 'nginx', 'haproxy', 'toxiproxy']

const RTT = { clientArgs: ['--warm', '700', '--ms', '1200'], aboutMs: 6_000 }
/** Streams live for minutes: what is asked is their cost once V8 has compiled what they need, which takes it three seconds. */
const EVENTS = { clientArgs: ['--warm', '4000', '--ms', '2200'], aboutMs: 6_400 }
const BULK = { clientArgs: ['--times', '2'], aboutMs: 2_200 }
const SILENT = { clientArgs: ['--mode', 'silent'], aboutMs: 6_300 }
/** Six pages first: those of a process that has just begun are slow to make. */
const SCRAPED = ['--scrapes-first', '6']
const ACTIVE = { clientArgs: ['--mode', 'active'], aboutMs: 2_500 }

export const FULL: readonly Step[] = [
  step('rtt', { ...RTT, repetitions: 5, only: GOALS_OF }),
  step('rtt', { ...RTT, repetitions: 2, only: PEERS }),
  step('events', { ...EVENTS, repetitions: 5, only: GOALS_OF }),
  step('events', { ...EVENTS, repetitions: 2, only: PEERS }),
  step('bulk', { ...BULK, repetitions: 5, only: BODIES }),
  step('bulk', { ...BULK, repetitions: 2, only: OTHERS }),
  step('cut', { clientArgs: [], idleMs: 2_000, aboutMs: 4_900, repetitions: 3, only: ['sidecar', 'sidecar-loaded'] }),
  step('cut', { clientArgs: SCRAPED, idleMs: 2_000, aboutMs: 11_000, repetitions: 3, only: ['sidecar-scraped'] }),
  step('cut', { clientArgs: [], idleMs: 2_000, aboutMs: 4_900, repetitions: 1, only: OTHERS }),
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
  step('abort', { ...SILENT, repetitions: 3, only: ['sidecar'] }),
  step('abort', { ...SILENT, repetitions: 1, only: ['direct', 'http-proxy', ...OTHERS] }),
  step('abort', { ...ACTIVE, repetitions: 3, only: ['sidecar'] }),
  step('abort', { ...ACTIVE, repetitions: 1, only: ['direct', 'http-proxy', ...OTHERS] }),
  step('idle', {
    clientArgs: [],
    limitMs: 180_000,
    aboutMs: 17_000,
    repetitions: 1,
    only: ['sidecar', 'sidecar-direct', 'http-proxy', ...OTHERS],
  }),
  step('growth', { clientArgs: [], limitMs: 180_000, aboutMs: 38_000, repetitions: 1, only: ['sidecar'] }),
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
  step('rtt', { clientArgs: ['--warm', '250', '--ms', '450', '--warm-count', '8000', '--count', '1000'], aboutMs: 3_000, repetitions: 2 }),
  step('events', { clientArgs: ['--warm', '400', '--ms', '1000'], aboutMs: 1_400, repetitions: 2 }),
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
  readonly target: string
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
    const turned = targets.map((_, at) => targets[(at + repetition - 1) % targets.length])
    for (const one of steps) {
      if (repetition > (repetitions ?? one.repetitions)) continue
      for (const target of turned) {
        if (target === undefined || (one.idleMs !== null && !target.cutsIdle)) continue
        if (one.only !== undefined && !one.only.includes(target.name)) continue
        if (target.measures !== undefined && !target.measures.includes(one.measure)) continue
        planned.push({ repetition, step: one, target: target.name })
      }
    }
  }
  return planned
}

export const aboutMsOf = (planned: readonly Planned[]): number => planned.reduce((sum, { step: { aboutMs } }) => sum + aboutMs, 0)
