/** The goals as data, and the gate that compares a run with them. Pure. */
import type { Row, Summary } from './summary.ts'
import { figureOf, pairedOf, pairedRatio, summarise } from './summary.ts'

export interface Goal {
  readonly id: string
  readonly says: string
  /** What was reached; null where the run did not measure it. */
  reached(rows: readonly Row[], summaries: readonly Summary[]): number | null
  readonly is: 'at-most' | 'at-least'
  readonly bound: number
}

const BASE = 'http-proxy'
const OWN = 'sidecar'
const SCRAPED = 'sidecar-scraped'

const against =
  (measure: string, figure: string, target = OWN, base = BASE) =>
  (rows: readonly Row[]) =>
    pairedRatio(rows, measure, figure, target, base)

const own =
  (measure: string, figure: string, target = OWN) =>
  (_rows: readonly Row[], summaries: readonly Summary[]) =>
    figureOf(summaries, measure, target, figure)

/** Against nginx, where the two have not the same number of repetitions. */
const ofMedians = (measure: string, figure: string) => (_rows: readonly Row[], summaries: readonly Summary[]) => {
  const [reached, base] = [figureOf(summaries, measure, OWN, figure), figureOf(summaries, measure, 'nginx', figure)]
  return reached === null || base === null || base === 0 ? null : reached / base
}

/** How many of those wanted; null where none were. */
const share =
  (measure: string, figure: string, target = OWN) =>
  (_rows: readonly Row[], summaries: readonly Summary[]) => {
    const wanted = figureOf(summaries, measure, target, 'wanted')
    const reached = figureOf(summaries, measure, target, figure)
    return wanted === null || reached === null ? null : reached / wanted
  }

/** What the proxy adds to direct: its median delay less the direct one, against that of the base. */
const addedDelay = (rows: readonly Row[]): number | null =>
  pairedOf(rows, 'events', 'p50Us', ['direct', OWN, BASE], ([direct = 0, sidecar = 0, base = 0]) =>
    base > direct ? (sidecar - direct) / (base - direct) : null,
  )

export const GOALS: readonly Goal[] = [
  { id: 'event-cpu', says: 'CPU per event against http-proxy', reached: against('events', 'cpuUsPerEvent'), is: 'at-most', bound: 1.1 },
  { id: 'event-delay', says: 'events p50 against http-proxy', reached: against('events', 'p50Us'), is: 'at-most', bound: 1.1 },
  { id: 'event-added', says: 'delay added to direct, p50, against http-proxy', reached: addedDelay, is: 'at-most', bound: 1.1 },
  { id: 'rps-64', says: 'requests/s of 64 clients against http-proxy', reached: against('rtt c=64', 'rps'), is: 'at-least', bound: 0.85 },
  { id: 'rps-1', says: 'requests/s of one client against http-proxy', reached: against('rtt c=1', 'rps'), is: 'at-least', bound: 0.85 },
  { id: 'idle-memory', says: 'KB per idle stream', reached: own('idle', 'kbPerStream'), is: 'at-most', bound: 32 },
  { id: 'idle-held', says: 'idle streams held, of those opened', reached: share('idle', 'held'), is: 'at-least', bound: 1 },
  { id: 'bulk', says: 'MB/s of a large body against http-proxy', reached: against('bulk', 'mbPerS'), is: 'at-least', bound: 0.95 },
  { id: 'cut-all', says: 'silent streams cut', reached: share('cut', 'cut'), is: 'at-least', bound: 1 },
  { id: 'cut-early', says: 'cuts too early', reached: own('cut', 'early'), is: 'at-most', bound: 0 },
  { id: 'cut-p50', says: 'cut late by, p50, ms', reached: own('cut', 'p50Ms'), is: 'at-most', bound: 1.5 },
  { id: 'cut-p99', says: 'cut late by, p99, ms', reached: own('cut', 'p99Ms'), is: 'at-most', bound: 5 },
  {
    id: 'abort-silent',
    says: 'leavings of silent streams that the server saw',
    reached: share('abort silent', 'seen'),
    is: 'at-least',
    bound: 1,
  },
  {
    id: 'abort-active',
    says: 'leavings of active streams that the server saw',
    reached: share('abort active', 'seen'),
    is: 'at-least',
    bound: 1,
  },
  { id: 'abort-silent-p99', says: 'seen after, silent, p99, ms', reached: own('abort silent', 'p99Ms'), is: 'at-most', bound: 6 },
  { id: 'abort-active-p99', says: 'seen after, active, p99, ms', reached: own('abort active', 'p99Ms'), is: 'at-most', bound: 12 },
  { id: 'memory', says: 'MB grown since the first 10,000 exchanges', reached: own('memory', 'grownMb'), is: 'at-most', bound: 32 },
  {
    id: 'loaded-event-cpu',
    says: 'CPU per event with 3 hops and 20 faults against none',
    reached: against('events', 'cpuUsPerEvent', 'sidecar-loaded', OWN),
    is: 'at-most',
    bound: 1.25,
  },
  {
    id: 'loaded-request-cpu',
    says: 'CPU per request with 3 hops and 20 faults against none',
    reached: against('rtt c=64', 'cpuUsPerRequest', 'sidecar-loaded', OWN),
    is: 'at-most',
    bound: 1.25,
  },
  {
    id: 'growth-event',
    says: 'CPU per event with 9,800 streams against 64',
    reached: own('growth', 'eventRatio'),
    is: 'at-most',
    bound: 1.3,
  },
  {
    id: 'growth-request',
    says: 'CPU per request with 9,800 streams open against none',
    reached: own('growth', 'requestRatio'),
    is: 'at-most',
    bound: 1.3,
  },
]

/** The second step: shown, and no gate. */
export const LATER_GOALS: readonly Goal[] = [
  {
    id: 'later-rps-64',
    says: 'requests/s of 64 clients against http-proxy',
    reached: against('rtt c=64', 'rps'),
    is: 'at-least',
    bound: 1,
  },
  { id: 'later-rps-1', says: 'requests/s of one client against http-proxy', reached: against('rtt c=1', 'rps'), is: 'at-least', bound: 1 },
  {
    id: 'later-event-cpu',
    says: 'CPU per event against toxiproxy',
    reached: against('events', 'cpuUsPerEvent', OWN, 'toxiproxy'),
    is: 'at-most',
    bound: 1,
  },
  {
    id: 'later-event-delay',
    says: 'events p50 against toxiproxy',
    reached: against('events', 'p50Us', OWN, 'toxiproxy'),
    is: 'at-most',
    bound: 1,
  },
  { id: 'later-idle', says: 'KB per idle stream', reached: own('idle', 'kbPerStream'), is: 'at-most', bound: 18 },
  {
    id: 'later-bulk',
    says: 'MB/s of a large body against nginx',
    reached: against('bulk', 'mbPerS', OWN, 'nginx'),
    is: 'at-least',
    bound: 0.9,
  },
  {
    id: 'later-cut-all',
    says: 'silent streams cut, 9,600 others open, scraped',
    reached: share('cut open', 'cut', SCRAPED),
    is: 'at-least',
    bound: 1,
  },
  { id: 'later-cut-early', says: 'of them too early', reached: own('cut open', 'early', SCRAPED), is: 'at-most', bound: 0 },
  { id: 'later-cut-p50', says: 'of them late by, p50, ms', reached: own('cut open', 'p50Ms', SCRAPED), is: 'at-most', bound: 1.5 },
  { id: 'later-cut-p99', says: 'of them late by, p99, ms', reached: own('cut open', 'p99Ms', SCRAPED), is: 'at-most', bound: 5 },
  {
    id: 'later-abort-silent',
    says: 'seen after, silent, p99 against nginx',
    reached: ofMedians('abort silent', 'p99Ms'),
    is: 'at-most',
    bound: 1.5,
  },
  {
    id: 'later-abort-active',
    says: 'seen after, active, p99 against nginx',
    reached: ofMedians('abort active', 'p99Ms'),
    is: 'at-most',
    bound: 1.5,
  },
  {
    id: 'later-loaded-event-cpu',
    says: 'CPU per event with 3 hops and 20 faults against none',
    reached: against('events', 'cpuUsPerEvent', 'sidecar-loaded', OWN),
    is: 'at-most',
    bound: 1.1,
  },
  {
    id: 'later-loaded-request-cpu',
    says: 'CPU per request with 3 hops and 20 faults against none',
    reached: against('rtt c=64', 'cpuUsPerRequest', 'sidecar-loaded', OWN),
    is: 'at-most',
    bound: 1.1,
  },
]

export type Verdict = 'met' | 'missed' | 'not measured'

export interface Judged {
  readonly goal: Goal
  readonly reached: number | null
  readonly verdict: Verdict
}

export function judge(rows: readonly Row[], goals: readonly Goal[] = GOALS): readonly Judged[] {
  const summaries = summarise(rows)
  return goals.map((goal) => {
    const reached = goal.reached(rows, summaries)
    if (reached === null) return { goal, reached, verdict: 'not measured' }
    const isMet = goal.is === 'at-most' ? reached <= goal.bound : reached >= goal.bound
    return { goal, reached, verdict: isMet ? 'met' : 'missed' }
  })
}

/** 1 where a goal was missed or left unmeasured, or something failed: silence is no success, nor is what was measured before the failure. */
export const exitCodeOf = (judged: readonly Judged[], failures: readonly string[] = []): 0 | 1 =>
  failures.length === 0 && judged.every(({ verdict }) => verdict === 'met') ? 0 : 1
