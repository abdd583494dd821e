/** The demo's six calls: two tools, each once undisturbed, once left by its client, once cut by an idle timeout; and their records. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallRecord } from '../core/record.ts'
import type { ClientOutcome, DemoCall, DemoClient } from './client.ts'
import { connectDemoClient } from './client.ts'
import type { DemoTool } from './server.ts'
import type { DemoSidecar } from './sidecar.ts'
import type { Timing } from './timing.ts'

export type RunName = 'undisturbed' | 'client-leaves' | 'idle-timeout'
export const RUNS: readonly RunName[] = ['undisturbed', 'client-leaves', 'idle-timeout']
export const DEMO_TOOLS: readonly DemoTool[] = ['render_obedient', 'render_deaf']

export interface StoryLine {
  readonly run: RunName
  readonly tool: DemoTool
  /** Null: the sidecar knows no such call. */
  readonly record: CallRecord | null
  readonly client: ClientOutcome
}

/** `plain` has no hop in its path, `idle` one with an idle timeout. */
export interface Stages {
  readonly plain: DemoSidecar
  readonly idle: DemoSidecar
}

interface OpenCall {
  readonly run: RunName
  readonly tool: DemoTool
  readonly call: DemoCall
}

/** Longer than any work of the story: then what is known is told as it is. */
const SETTLING_MAX_MS = 10_000
const LOOK_EVERY_MS = 50

/** All six at once: each has its own connection, so none feels another. */
export async function runStory(stages: Stages, timing: Timing): Promise<readonly StoryLine[]> {
  const clients: DemoClient[] = []
  const open: OpenCall[] = []
  try {
    await warmUp(stages)
    for (const run of RUNS) {
      const client = await connectDemoClient(sidecarOf(run, stages).url, clientName(run))
      clients.push(client)
    }
    for (const [index, run] of RUNS.entries()) {
      for (const tool of DEMO_TOOLS) {
        const call = clients[index]?.call(tool, argumentsOf(run, timing), {
          leaveAfterMs: run === 'client-leaves' ? timing.leaveAfterMs : null,
        })
        if (call !== undefined) open.push({ run, tool, call })
      }
    }
    return await untilSettled(stages, open, timing.workMs + SETTLING_MAX_MS)
  } finally {
    await Promise.all(clients.map((client) => client.stop()))
  }
}

async function warmUp({ plain, idle }: Stages): Promise<void> {
  for (const { url } of [plain, idle]) {
    const client = await connectDemoClient(url, 'demo-warm-up')
    await client.warmUp('render_obedient', RUNS.length * DEMO_TOOLS.length).finally(client.stop)
  }
}

const sidecarOf = (run: RunName, { plain, idle }: Stages): DemoSidecar => (run === 'idle-timeout' ? idle : plain)
/** By which a record tells its run. */
const clientName = (run: RunName): string => `demo-${run}`

function argumentsOf(run: RunName, { workMs, progressEveryMs, silentAfterMs }: Timing): Readonly<Record<string, unknown>> {
  return { workMs, progressEveryMs, ...(run === 'idle-timeout' ? { silentAfterMs } : {}) }
}

async function untilSettled(stages: Stages, open: readonly OpenCall[], limitMs: number): Promise<readonly StoryLine[]> {
  for (const untilMs = performance.now() + limitMs; ; ) {
    const records = { plain: await stages.plain.calls(), idle: await stages.idle.calls() }
    const lines = open.map(({ run, tool, call }): StoryLine => {
      const own = run === 'idle-timeout' ? records.idle : records.plain
      const record = own.find((candidate) => candidate.tool === tool && candidate.client === clientName(run)) ?? null
      return { run, tool, record, client: call.outcome() }
    })
    if (lines.every(isSettled) || performance.now() > untilMs) return lines
    await sleep(LOOK_EVERY_MS)
  }
}

/** Over for the client and for the server; a call with a result also in the client's hands. */
function isSettled({ record, client }: StoryLine): boolean {
  if (record === null || record.closedMs === null || record.work.outcome === 'pending') return false
  return record.result !== 'sent' || client.is !== 'waiting'
}
