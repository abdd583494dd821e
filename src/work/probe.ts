/**
 * What an MCP server imports to report its work: `import { trackWork } from 'impatient-hop/probe'`.
 *
 * ```ts
 * server.registerTool('render', { inputSchema }, trackWork.handler(async (args, context) => { … }))  // either SDK
 * await trackWork.run(context, async () => { … })                                                    // a piece of a handler
 * const work = trackWork({ traceparent, requestId }); …; work.end('ok')                              // anywhere
 * ```
 * Reports go to IMPATIENT_HOP_WORK_URL, else ws://127.0.0.1:4318/work; the value `off` sends nothing. A sidecar that is
 * absent, slow or restarted changes nothing for the handler: nothing here throws, waits, or keeps the process alive.
 */
import { createProbeLink, type ProbeCounts, type ProbeTime } from './probe-link.ts'

export type { ProbeCounts } from './probe-link.ts'

export type Outcome = 'ok' | 'error' | 'aborted'

/** Which request the work is for: said outright, or the context an SDK gives its handlers (v1's `extra`, v2's `ctx`). */
export interface WorkSubject {
  /** The W3C traceparent that came with the request. Without one nothing is reported: nobody could say whose work it is. */
  readonly traceparent?: string | null | undefined
  /** The JSON-RPC id. */
  readonly requestId?: string | number | null | undefined
  readonly signal?: AbortSignal | undefined
  readonly _meta?: { readonly [key: string]: unknown } | undefined
  readonly requestInfo?: { readonly headers?: HeaderBag | undefined } | undefined
  readonly mcpReq?:
    | { readonly id?: string | number; readonly signal?: AbortSignal; readonly _meta?: { readonly [key: string]: unknown } | undefined }
    | undefined
  readonly http?: { readonly req?: { readonly headers: HeaderBag } | undefined } | undefined
}

/** The web's Headers, or Node's object of lower-case names. */
export type HeaderBag = { get(name: string): string | null } | { readonly [name: string]: string | string[] | undefined }

/** One piece of work under way. What comes after its first end is ignored. */
export interface Work {
  /** It is over; `aborted` where it stopped because it was told to. */
  end(outcome?: Outcome): void
  /** The same as `end('aborted')`. */
  abort(): void
}

export interface Probe {
  /** Reports a start; the caller reports the end. */
  (subject: WorkSubject): Work
  /** Reports start and end around `work`, and gives its result or its error on, untouched. */
  run<Result>(subject: WorkSubject, work: () => Result): Result
  /** The handler of an SDK, reporting; its last argument is the SDK's context. */
  handler<Args extends readonly unknown[], Result>(handler: (...args: Args) => Result): (...args: Args) => Result
  /** Waits until all is sent; false: it was not within `limitMs` (1,000). For the end of a short-lived process. */
  flush(limitMs?: number): Promise<boolean>
  counts(): ProbeCounts
  /** Sends no more. */
  close(): void
}

export interface ProbeOptions {
  /** Where reports go: `ws:`, or `http:` for the same; without a path `/work`. `off`: nowhere. */
  readonly url?: string
}

const DEFAULT_URL = 'ws://127.0.0.1:4318/work'

const realTime: ProbeTime = {
  nowMs: () => Date.now(),
  later: (delayMs, run) => void setTimeout(run, delayMs).unref(),
  wait(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return { cancel: () => clearTimeout(timer) }
  },
}

/** A probe of its own: for another address than the default, or in tests. An address that is none switches it off. */
export function createProbe({ url }: ProbeOptions = {}): Probe {
  const link = createProbeLink(addressOf(url ?? process.env['IMPATIENT_HOP_WORK_URL'] ?? DEFAULT_URL), realTime)

  function track(subject: WorkSubject): Work {
    const { traceparent, requestId } = readSubject(subject)
    let isOver = traceparent === null
    const report = (event: 'start' | 'end' | 'abort', outcome?: Outcome): void => {
      try {
        link.send(JSON.stringify({ event, traceparent, requestId, at: Date.now(), outcome }))
      } catch {
        // an id that is no JSON: nothing to report, and nothing for the handler to know
      }
    }
    const end = (outcome: Outcome = 'ok'): void => {
      if (isOver) return
      isOver = true
      report(outcome === 'aborted' ? 'abort' : 'end', outcome)
    }
    if (!isOver) report('start')
    return { end, abort: () => end('aborted') }
  }

  function run<Result>(subject: WorkSubject, work: () => Result): Result {
    const tracked = track(subject)
    const fail = (): void => tracked.end(isAborted(subject) ? 'aborted' : 'error')
    try {
      const result = work()
      if (isPromise(result)) result.then((value) => tracked.end(outcomeOf(value)), fail)
      else tracked.end(outcomeOf(result))
      return result
    } catch (error) {
      fail()
      throw error
    }
  }

  return Object.assign(track, {
    run,
    handler:
      <Args extends readonly unknown[], Result>(handler: (...args: Args) => Result) =>
      (...args: Args): Result =>
        run(contextIn(args), () => handler(...args)),
    flush: (limitMs = 1_000) => link.flush(limitMs),
    counts: link.counts,
    close: link.close,
  })
}

/** Made at the first use, so that importing this opens nothing. */
let shared: Probe | null = null
const theProbe = (): Probe => {
  shared ??= createProbe()
  return shared
}

export const trackWork: Probe = Object.assign((subject: WorkSubject): Work => theProbe()(subject), {
  run: <Result>(subject: WorkSubject, work: () => Result): Result => theProbe().run(subject, work),
  handler:
    <Args extends readonly unknown[], Result>(handler: (...args: Args) => Result) =>
    (...args: Args): Result =>
      theProbe().run(contextIn(args), () => handler(...args)),
  flush: (limitMs?: number): Promise<boolean> => theProbe().flush(limitMs),
  counts: (): ProbeCounts => theProbe().counts(),
  close: (): void => theProbe().close(),
})

function addressOf(text: string): URL | null {
  if (text === 'off' || text === '' || !URL.canParse(text)) return null
  const url = new URL(text.replace(/^http/, 'ws'))
  if (url.protocol !== 'ws:' && url.protocol !== 'wss:') return null
  if (url.pathname === '/') url.pathname = '/work'
  url.hash = ''
  return url
}

/** The header before `_meta`: it is the one that the sidecar set, unless it was told to set the other. */
function readSubject(subject: WorkSubject): { traceparent: string | null; requestId: string | number | null } {
  try {
    const { mcpReq, requestInfo, http } = subject
    const meta = mcpReq?._meta ?? subject._meta
    const inHeader = headerOf(http?.req?.headers, 'traceparent') ?? headerOf(requestInfo?.headers, 'traceparent')
    const inMeta = meta?.['traceparent']
    const traceparent = subject.traceparent ?? inHeader ?? (typeof inMeta === 'string' ? inMeta : null)
    return { traceparent, requestId: subject.requestId ?? mcpReq?.id ?? null }
  } catch {
    return { traceparent: null, requestId: null } // a context of another shape than any SDK's
  }
}

function headerOf(headers: HeaderBag | undefined, name: string): string | null {
  if (headers === undefined) return null
  const value = typeof headers.get === 'function' ? headers.get(name) : (headers as { readonly [name: string]: unknown })[name]
  return typeof value === 'string' ? value : null
}

/** The last argument, if it looks like a context: handlers of tools without arguments get it alone. */
function contextIn(args: readonly unknown[]): WorkSubject {
  const last = args.at(-1)
  return typeof last === 'object' && last !== null ? (last as WorkSubject) : {}
}

const isAborted = ({ signal, mcpReq }: WorkSubject): boolean => (signal ?? mcpReq?.signal)?.aborted === true

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Promise<unknown>>).then === 'function'

/** A tool that failed says so in its result. */
const outcomeOf = (value: unknown): Outcome =>
  typeof value === 'object' && value !== null && (value as { readonly isError?: unknown }).isError === true ? 'error' : 'ok'
