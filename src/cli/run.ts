/** `run`: the sidecar itself, until Ctrl-C. */
import type { AppPorts, RunningApp } from '../app-types.ts'
import { RUN_FLAGS } from '../config/flags.ts'
import type { Loaded } from '../config/load.ts'
import { loadSettings } from '../config/load.ts'
import { readScenarioFile } from '../config/scenario-file.ts'
import type { Settings } from '../config/snapshot.ts'
import { formatDuration } from '../core/units.ts'
import type { ScenarioReport } from '../scenario/report.ts'
import { reportLines } from '../scenario/report.ts'
import type { Scenario } from '../scenario/schema.ts'
import type { Command } from './command.ts'
import { PRODUCT, productVersion } from './product.ts'
import { refusalInWords } from './refusals.ts'
import type { Spokesman } from './spokesman.ts'
import { createSpokesman } from './spokesman.ts'
import { startupBlock } from './startup-block.ts'
import type { World } from './world.ts'

export const runCommand: Command = {
  name: 'run',
  isDefault: true,
  says: 'Run the sidecar in front of an MCP server (the default command)',
  flags: RUN_FLAGS,
  examples: [
    ['--upstream http://127.0.0.1:3000', 'watch only: who closes what, and when'],
    ['--upstream http://127.0.0.1:3000 --hop cloudflare,nginx', 'be as impatient as these two'],
    ['--upstream http://127.0.0.1:3000 --hop nginx:idle.after=20s', 'with one limit of it changed'],
    ['--upstream http://127.0.0.1:3000 --idle-timeout 60s --ending rst --events -', 'one limit of your own; a JSON line per call'],
  ],
  async run({ flags }, world) {
    const load = () => loadSettings({ flags, env: world.env, readFile: world.readFile })
    const loaded = load()
    if ('errors' in loaded) {
      for (const line of [...loaded.errors, ...(loaded.warnings ?? [])]) world.err.print(`${PRODUCT}: ${line}`)
      return 2
    }
    const { settings } = loaded
    const scenario = scenarioOf(settings, world)
    if (scenario === 'wrong') return 2
    const spokesman = createSpokesman(settings, world)
    const { log, tell } = spokesman
    for (const warning of loaded.warnings) log.warn(warning)
    const app = await start(settings, world, spokesman, load)
    if (app === null) return 3
    for (const warning of app.warnings) log.warn(warning)
    tell(startupBlock(settings, app.addresses, productVersion(), spokesman.paint))
    const forgetHangup = app.reload === undefined ? undefined : world.onHangup?.(app.reload)
    const played = scenario === null ? null : (app.play?.(scenario) ?? null)
    await untilStopped(app, settings, world, { tell, played })
    forgetHangup?.()
    tell(app.summaryLines())
    if (played === null) return 0
    const report = await played
    tell(reportLines(report))
    return report.verdict === 'passed' ? 0 : 1
  },
}

/** Its mistakes are printed. Null: none was asked for. */
function scenarioOf({ scenario: name }: Settings, world: World): Scenario | 'wrong' | null {
  if (name === undefined) return null
  const read = readScenarioFile(name, world.readFile)
  if ('scenario' in read) return read.scenario
  for (const error of read.errors) world.err.print(`${PRODUCT}: ${error}`)
  return 'wrong'
}

/** Null where the machine refuses: a port is taken, a file cannot be written. The line is printed. */
async function start(settings: Settings, world: World, { log, complain }: Spokesman, load: () => Loaded): Promise<RunningApp | null> {
  const ports: AppPorts = { log, writeOut: world.out.write, load }
  try {
    return await world.startApp(settings, ports)
  } catch (error) {
    const line = refusalInWords(error, settings)
    if (line === null) throw error
    complain(line)
    return null
  }
}

interface Told {
  readonly tell: Spokesman['tell']
  readonly played: Promise<ScenarioReport> | null
}

/** The first signal drains, the second cuts what is open, the third ends at once; the end of a scenario is a first without a signal. */
function untilStopped(app: RunningApp, settings: Settings, world: World, { tell, played }: Told): Promise<void> {
  return new Promise((resolve, reject) => {
    let signals = 0
    const stop = (): void => void app.stop().finally(forget).then(resolve, reject)
    const forget = world.onSignal((signal) => {
      signals += 1
      if (signals > 2) {
        forget()
        return world.dieOf(signal)
      }
      if (signals === 2) {
        tell([`${signal}: cutting what is open. Once more ends at once, without a summary.`])
        return app.hurry()
      }
      tell([`${signal}: no new connections; ${waitsFor(app.openCalls(), settings.drainMs)}`])
      stop()
    })
    played?.then(() => {
      if (signals > 0) return
      signals = 1
      stop()
    }, reject)
  })
}

const waitsFor = (calls: number, drainMs: number): string =>
  calls === 0
    ? 'no call is open.'
    : `waiting for ${calls === 1 ? '1 open call' : `${calls} open calls`}, ${formatDuration(drainMs)} at most. Once more cuts ${calls === 1 ? 'it' : 'them'}.`
