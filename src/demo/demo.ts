/** The whole story on one machine: an MCP server, the sidecar, a client; what each saw, and what the server did for nobody. */
import type { CallRecord } from '../core/record.ts'
import type { DemoServer } from './server.ts'
import { startDemoServer } from './server.ts'
import type { DemoSidecar, StageTiming, StartSidecar } from './sidecar.ts'
import { startDemoSidecar } from './sidecar.ts'
import type { StoryLine } from './story.ts'
import { runStory } from './story.ts'
import type { Paint } from './table.ts'
import { orphanSentence, seconds, storyTable } from './table.ts'
import type { Timing } from './timing.ts'
import { DEMO_TIMING } from './timing.ts'

export type { StartSidecar } from './sidecar.ts'

export interface DemoPorts {
  readonly startSidecar: StartSidecar
  /** One or more lines, the last without its newline. */
  print(text: string): void
  readonly paint: Paint
  /** For `isServing`: resolves when the user has had enough. */
  untilStopped(): Promise<unknown>
  /** Writes the report of these records and says where; absent: there is none. */
  writeReport?(records: readonly CallRecord[]): Promise<string>
}

export interface DemoOptions {
  readonly isServing: boolean
  readonly timing?: Timing
}

/** 0: the story was told as measured; 1: something of it could not be measured; 3: it could not start. */
export type DemoCode = 0 | 1 | 3

export async function runDemo({ isServing, timing = DEMO_TIMING }: DemoOptions, ports: DemoPorts): Promise<DemoCode> {
  const started: { stop(): Promise<void> }[] = []
  try {
    const plain = await startStage(ports.startSidecar, { ...timing, idleTimeoutMs: null }, started)
    const idle = await startStage(ports.startSidecar, timing, started)
    ports.print(openingLines(timing).join('\n'))
    const lines = await runStory({ plain: plain.sidecar, idle: idle.sidecar }, timing)
    ports.print(['', ...storyTable(lines, timing, ports.paint), '', ...closingLines(lines, ports.paint)].join('\n'))
    const lost = [...plain.server.lostReports(), ...idle.server.lostReports()]
    for (const report of lost) ports.print(ports.paint('yellow', `a work report was lost: ${report}`))
    await sayWhereMore(lines, isServing ? idle.sidecar : null, ports)
    if (isServing) await ports.untilStopped()
    return lines.every(isMeasured) && lost.length === 0 ? 0 : 1
  } catch (problem) {
    ports.print(`demo: ${problem instanceof Error ? problem.message : String(problem)}`)
    return 3
  } finally {
    for (const { stop } of started.reverse()) await stop()
  }
}

interface Stage {
  readonly server: DemoServer
  readonly sidecar: DemoSidecar
}

/** A server with a sidecar in front of it, to which it reports. */
async function startStage(start: StartSidecar, timing: StageTiming, started: { stop(): Promise<void> }[]): Promise<Stage> {
  const server = await startDemoServer()
  started.push(server)
  const sidecar = await startDemoSidecar(start, server.origin, timing)
  started.push(sidecar)
  server.reportTo(sidecar.adminUrl)
  return { server, sidecar }
}

function openingLines({ workMs, progressEveryMs }: Timing): readonly string[] {
  return [
    'An MCP server (the real SDK, revision 2026-07-28), impatient-hop in front of it, and MCP clients.',
    `Six calls at once, each asking for ${seconds(workMs)} of work with progress every ${seconds(progressEveryMs)} …`,
  ]
}

function closingLines(lines: readonly StoryLine[], paint: Paint): readonly string[] {
  const out: string[] = []
  for (const { record } of lines) {
    const sentence = record === null ? null : orphanSentence(record)
    if (sentence !== null) out.push(paint('bold', sentence))
  }
  const told = lines.find(({ record }) => record?.work.outcome === 'orphaned' && record.toldMs !== null)?.record?.toldMs
  if (told !== undefined) {
    out.push(`The server was told (its connection closed, at ${seconds(told)} in the first of these) and its tool did not look.`)
  }
  const waiting = lines.filter(({ record, client }) => client.is === 'waiting' && record?.closedMs != null).length
  if (waiting > 0) {
    out.push(
      `The MCP client of the ${waiting === 1 ? 'cut call has' : `${waiting} cut calls has`} not noticed: it goes on waiting, until a timeout of its own.`,
    )
  }
  return out
}

async function sayWhereMore(lines: readonly StoryLine[], serving: DemoSidecar | null, { print, writeReport }: DemoPorts): Promise<void> {
  print('')
  if (writeReport !== undefined) {
    const records = lines.flatMap(({ record }) => (record === null ? [] : [record]))
    print(`report    ${await writeReport(records)}`)
  }
  if (serving === null) {
    print('metrics   gone with this demo; `demo --serve` keeps them up, `run` has them at http://127.0.0.1:8475/metrics')
    return
  }
  print(`metrics   ${new URL('/metrics', serving.adminUrl).href}`)
  print(`records   ${new URL('/api/v1/calls', serving.adminUrl).href}`)
  print(`MCP       ${new URL('/mcp', serving.url).href}   (the sidecar with the idle timeout; Ctrl-C ends)`)
}

const isMeasured = ({ record }: StoryLine): boolean =>
  record !== null && record.closedMs !== null && ['finished', 'stopped', 'orphaned'].includes(record.work.outcome)
