/** The tools of the test servers, told once for both SDKs: what each does, and a note of every run. */
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

/** What a server saw of one tool call. Times are `performance.now()`. */
export interface ToolRun {
  readonly tool: string
  readonly startedMs: number
  /** When the handler returned or threw; null: still at work. */
  endedMs: number | null
  /** When its signal fired. In v2 it also fires some ms after a normal end. */
  abortedMs: number | null
  outcome: 'done' | 'stopped' | 'failed' | null
  /** Progress notifications the SDK took. */
  progressSent: number
}

/** What an SDK gives a handler, in the words of this file. */
export interface ToolContext {
  readonly signal: AbortSignal
  /** Absent where the caller asked for no progress. */
  readonly notifyProgress: ((progress: number, total: number) => Promise<void>) | null
}

export interface ToolAnswer {
  [key: string]: unknown
  content: { type: 'text'; text: string }[]
}
const text = (of: string): ToolAnswer => ({ content: [{ type: 'text', text: of }] })

export const pace = z.object({ everyMs: z.number().default(20), forMs: z.number().default(100), text: z.string().default('') })
export type Pace = z.infer<typeof pace>

/** Works for `forMs` in steps of `everyMs`, with progress unless silent; false: it obeyed its signal. */
async function work(
  { everyMs, forMs }: Pace,
  { signal, notifyProgress }: ToolContext,
  run: ToolRun,
  manner: { obeys: boolean; speaks: boolean },
): Promise<boolean> {
  const steps = Math.max(1, Math.round(forMs / everyMs))
  for (let step = 1; step <= steps; step += 1) {
    if (manner.obeys && signal.aborted) return false
    await sleep(everyMs, undefined, manner.obeys ? { signal } : {}).catch(() => undefined)
    if (manner.obeys && signal.aborted) return false
    if (!manner.speaks || notifyProgress === null) continue
    try {
      await notifyProgress(step, steps)
      run.progressSent += 1
    } catch {
      // the v2 SDK refuses notifications of an aborted call; the deaf work on
    }
  }
  return true
}

type Tool = (args: Pace, context: ToolContext, run: ToolRun) => Promise<ToolAnswer>

/** `slow`, `silent` and `deaf` never look at their signal. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  fast: async () => text('fast'),
  echo: async (args) => text(args.text),
  slow: async (args, context, run) => {
    await work(args, context, run, { obeys: false, speaks: true })
    return text('slow')
  },
  silent: async (args, context, run) => {
    await work(args, context, run, { obeys: false, speaks: false })
    return text('silent')
  },
  obedient: async (args, context, run) => {
    if (await work(args, context, run, { obeys: true, speaks: true })) return text('obedient')
    run.outcome = 'stopped'
    return text('stopped')
  },
  deaf: async (args, context, run) => {
    await work(args, context, run, { obeys: false, speaks: true })
    return text('deaf')
  },
  error: async () => {
    throw new Error('this tool fails on purpose')
  },
}

/** Runs a tool and keeps book of it in `runs`. */
export async function runTool(tool: string, args: Pace, context: ToolContext, runs: ToolRun[]): Promise<ToolAnswer> {
  const run: ToolRun = { tool, startedMs: performance.now(), endedMs: null, abortedMs: null, outcome: null, progressSent: 0 }
  runs.push(run)
  context.signal.addEventListener('abort', () => {
    run.abortedMs ??= performance.now()
  })
  try {
    const answer = await TOOLS[tool]?.(args, context, run)
    run.outcome ??= 'done'
    return answer ?? text('no such tool')
  } catch (problem) {
    run.outcome = 'failed'
    throw problem
  } finally {
    run.endedMs = performance.now()
  }
}
