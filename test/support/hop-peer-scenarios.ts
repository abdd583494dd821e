/**
 * What is tried on a real proxy and on our preset of it alike. Limits are 1 s; times are ms since the request.
 * Events keep away from multiples of haproxy's 205 ms, where chance would decide which release takes them.
 */
import type { Script } from './hop-peer-upstream.ts'
import { headText, progressEvent, resultEvent } from './raw-http.ts'

export type ClientAct = 'fin' | 'rst' | 'half'

export interface Scenario {
  readonly name: string
  /** Its target begins so: `/refused` goes to a server that takes no connection. */
  readonly prefix?: string
  server(script: Script): Promise<void>
  /** What the client does, and when: `fin` closes its connection, `half` its own side only. */
  readonly client?: { readonly act: ClientAct; readonly atMs: number }
  /** How long both are watched. */
  readonly watchMs: number
  /** A limit ends it: nginx may be early. */
  readonly isCut?: true
}

const jsonHead = (bytes: number): string =>
  headText(200, [
    ['Content-Type', 'application/json'],
    ['Content-Length', String(bytes)],
  ])
const json = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${'x'.repeat(300)}"}]}}`

/** Events 1 to `count`, the first at `atMs`, the others each `everyMs` later. */
async function events(script: Script, count: number, atMs: number, everyMs: number, padding = ''): Promise<void> {
  for (let n = 1; n <= count; n += 1) {
    await script.at(atMs + (n - 1) * everyMs)
    script.stream(`${padding === '' ? '' : `: ${padding}\n`}${progressEvent(n)}`)
  }
}
/** The head and the first event at once. */
async function streamOf(script: Script, count: number, everyMs: number, padding = ''): Promise<void> {
  script.head()
  await events(script, count, 0, everyMs, padding)
}
async function finished(script: Script, atMs: number): Promise<void> {
  await script.at(atMs)
  script.stream(resultEvent())
  script.over()
}
const silent = async (): Promise<void> => undefined

const limits: readonly Scenario[] = [
  { name: 'silent before the head', watchMs: 1_700, isCut: true, server: silent },
  { name: 'three events, then silent', watchMs: 1_900, isCut: true, server: (script) => streamOf(script, 3, 90) },
  {
    name: 'a head, then silent',
    watchMs: 1_700,
    isCut: true,
    server: async (script) => script.head(),
  },
  {
    name: 'JSON of a promised length, a part',
    watchMs: 1_700,
    isCut: true,
    server: async (script) => script.send(jsonHead(json.length) + json.slice(0, 100)),
  },
  {
    name: 'JSON of a promised length, head only',
    watchMs: 1_700,
    isCut: true,
    server: async (script) => script.send(jsonHead(json.length)),
  },
  { name: 'an endless stream', watchMs: 2_900, isCut: true, server: (script) => streamOf(script, 11, 240) },
]

const losses: readonly Scenario[] = (['fin', 'rst'] as const).flatMap((how) => [
  {
    name: `the server's ${how} before the head`,
    watchMs: 700,
    async server(script) {
      await script.at(200)
      script[how]()
    },
  },
  {
    name: `the server's ${how} mid-stream`,
    watchMs: 1_000,
    async server(script) {
      await streamOf(script, 3, 90)
      await script.at(500)
      script[how]()
    },
  },
  {
    name: `the server's ${how} inside JSON of a promised length`,
    watchMs: 900,
    async server(script) {
      script.send(jsonHead(json.length) + json.slice(0, 100))
      await script.at(300)
      script[how]()
    },
  },
])

const leavings: readonly Scenario[] = (['fin', 'rst'] as const).flatMap((act): Scenario[] => [
  { name: `the client's ${act}, the server silent`, client: { act, atMs: 300 }, watchMs: 1_800, isCut: true, server: silent },
  {
    name: `the client's ${act} before a head that comes`,
    client: { act, atMs: 300 },
    watchMs: 2_000,
    async server(script) {
      await script.at(500)
      script.head()
      await events(script, 4, 700, 250)
    },
  },
  {
    name: `the client's ${act} mid-stream`,
    client: { act, atMs: 650 },
    watchMs: 2_300,
    server: (script) => streamOf(script, 8, 250),
  },
  {
    name: `the client's ${act} after the result`,
    client: { act, atMs: 600 },
    watchMs: 1_000,
    async server(script) {
      await streamOf(script, 2, 90)
      await finished(script, 170)
    },
  },
])

const halves: readonly Scenario[] = [
  {
    name: 'half-close before the head',
    client: { act: 'half', atMs: 300 },
    watchMs: 1_600,
    async server(script) {
      await script.at(500)
      script.head()
      await events(script, 2, 600, 150)
      await finished(script, 900)
    },
  },
  {
    name: 'half-close mid-stream',
    client: { act: 'half', atMs: 450 },
    watchMs: 1_800,
    async server(script) {
      await streamOf(script, 5, 170)
      await finished(script, 1_250)
    },
  },
]

const releases: readonly Scenario[] = [
  {
    name: 'ten events, 120 ms apart',
    watchMs: 1_700,
    async server(script) {
      await streamOf(script, 10, 120)
      await finished(script, 1_250)
    },
  },
  {
    name: 'six events, 150 ms apart',
    watchMs: 1_900,
    async server(script) {
      await streamOf(script, 6, 150)
      await finished(script, 1_050)
    },
  },
  {
    name: 'ten events of 1 kB, 120 ms apart',
    watchMs: 1_700,
    async server(script) {
      await streamOf(script, 10, 120, 'x'.repeat(880))
      await finished(script, 1_250)
    },
  },
  {
    name: 'events with X-Accel-Buffering: no',
    watchMs: 1_200,
    async server(script) {
      script.head([['X-Accel-Buffering', 'no']])
      await events(script, 5, 0, 120)
      await finished(script, 600)
    },
  },
  {
    name: 'a head, an event much later',
    watchMs: 1_400,
    async server(script) {
      script.head()
      await events(script, 1, 500, 0)
      await finished(script, 900)
    },
  },
  {
    name: 'JSON, whole',
    watchMs: 700,
    async server(script) {
      script.send(jsonHead(json.length) + json)
      script.over()
    },
  },
]

export const scenarios: readonly Scenario[] = [
  ...limits,
  ...losses,
  { name: 'a refused connection', prefix: '/refused', watchMs: 4_000, server: silent },
  ...leavings,
  ...halves,
  ...releases,
]

/** What tells event `n` in the text that arrived; the result is event 0. */
export const eventMark = (n: number): string => (n === 0 ? '"text":"done"' : `"progress":${n}}`)
export const EVENTS_MAX = 14
