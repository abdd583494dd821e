/** Scripted calls over real sockets, told to a real journal: what prediction and diagnosis are held against. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { CallRecord } from '../../src/core/record.ts'
import type { SeatPlan } from '../../src/core/seat.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createJournal } from '../../src/journal/journal.ts'
import { realClock } from '../../src/wire/real-clock.ts'
import { rawClient } from './raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, resultEvent, sseHead } from './raw-http.ts'
import type { RawServer } from './raw-server.ts'
import { rawServer } from './raw-server.ts'
import type { WireRig } from './wire-rig.ts'
import { wireRig } from './wire-rig.ts'

/** What the server writes, and so long after the request. */
export type Script = readonly (readonly [atMs: number, text: string])[]

/** A stream whose head comes at once: progress at these times, the result at the last. */
export const streaming = (progressMs: readonly number[], endMs: number): Script => [
  [0, sseHead],
  ...progressMs.map((atMs, n) => [atMs, chunk(progressEvent(n))] as const),
  [endMs, `${chunk(resultEvent())}${lastChunk}`],
]
/** A JSON answer, all of it at its time. */
export function answering(atMs: number): Script {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [] } })
  return [
    [
      atMs,
      `${headText(200, [
        ['Content-Type', 'application/json'],
        ['Content-Length', String(body.length)],
      ])}${body}`,
    ],
  ]
}

/** Plays the script that the tool's name stands for, one request after the other. */
export function scriptedServer(scriptOf: (tool: string) => Script): Promise<RawServer> {
  return rawServer(async (connection) => {
    while (connection.ended() === null) {
      const request = await connection.request(60_000)
      if (!request.isWhole) return
      const startMs = performance.now()
      for (const [atMs, text] of scriptOf(request.header('mcp-name') ?? '')) {
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, startMs + atMs - performance.now())))
        connection.send(text).catch(() => undefined)
      }
    }
  })
}

export interface JudgedRig {
  readonly rig: WireRig
  readonly journal: Journal
}

/** A data path with a journal of its own. Records are read with `journal.calls()`, settled or not. */
export async function judgedRig(upstream: URL, plans: readonly SeatPlan[] = []): Promise<JudgedRig> {
  const journal = createJournal({ clock: realClock, sinks: [], graceMs: 2_000, waitMs: 60_000, onSinkError: () => undefined })
  const rig = await wireRig(upstream, { plans, openRecord: journal.openExchange })
  return { rig, journal }
}

/** One call to its end, on a connection of its own. */
export async function callThrough({ port }: WireRig, tool: string, giveUpMs = 10_000): Promise<void> {
  const client = await rawClient(port)
  client.send(callText(tool, { more: [['Connection', 'close']] }))
  await client.untilEnded(giveUpMs).catch(() => undefined) // a silent drop has no end
  client.close()
}

/** The call of that tool, once both of its sides are over. */
export async function recordOf({ rig, journal }: JudgedRig, tool: string): Promise<CallRecord> {
  const index = journal.calls().findIndex((record) => record.tool === tool)
  await rig.fact('finished', index)
  const record = journal.calls()[index]
  if (record === undefined) throw new Error(`no call of ${tool}`)
  return record
}

/** How late this process was at worst, since it was asked. */
export function watchLag(): () => number {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  return () => delay.max / 1e6
}
