/** `run`: the sidecar itself, until Ctrl-C. */
import type { AppPorts, RunningApp } from '../app-types.ts'
import { RUN_FLAGS } from '../config/flags.ts'
import { loadSettings } from '../config/load.ts'
import { readScenarioFile } from '../config/scenario-file.ts'
import type { Settings } from '../config/snapshot.ts'
import { PortTaken } from '../core/port-taken.ts'
import { formatDuration } from '../core/units.ts'
import type { ScenarioReport } from '../scenario/report.ts'
import { reportLines } from '../scenario/report.ts'
import type { Scenario } from '../scenario/schema.ts'
import { createLog } from '../sinks/log.ts'
import type { Command } from './command.ts'
import { PRODUCT, productVersion } from './product.ts'
import { startupBlock } from './startup-block.ts'
import type { Printer, World } from './world.ts'

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
      for (const error of loaded.errors) world.err.print(`${PRODUCT}: ${error}`)
      return 2
    }
    const { settings } = loaded
    const scenario = scenarioOf(settings, world)
    if (scenario === 'wrong') return 2
    const log = createLog({ ...settings.log, write: world.err.write })
    for (const warning of loaded.warnings) log.warn(warning)
    const app = await start(settings, world, { log, writeOut: world.out.write, load })
    if (app === null) return 3
    for (const warning of app.warnings) log.warn(warning)
    // Where stdout carries the events, a line for people would break whoever parses them.
    const printer = settings.events?.file === '-' ? world.err : world.out
    printer.print(startupBlock(settings, app.addresses, productVersion(), printer.paint).join('\n'))
    const forgetHangup = app.reload === undefined ? undefined : world.onHangup?.(app.reload)
    const played = scenario === null ? null : (app.play?.(scenario) ?? null)
    await untilStopped(app, settings, world, { printer, played })
    forgetHangup?.()
    printer.print(app.summaryLines().join('\n'))
    if (played === null) return 0
    const report = await played
    printer.print(reportLines(report).join('\n'))
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
async function start(settings: Settings, world: World, ports: AppPorts): Promise<RunningApp | null> {
  try {
    return await world.startApp(settings, ports)
  } catch (error) {
    if (!(error instanceof PortTaken) && !isSystemError(error)) throw error
    world.err.print(`${PRODUCT}: ${error.message}`)
    return null
  }
}

const isSystemError = (error: unknown): error is Error => error instanceof Error && 'syscall' in error && 'code' in error

/** The first signal drains, the second ends at once; so does the end of a scenario, without a signal. */
function untilStopped(
  app: RunningApp,
  settings: Settings,
  world: World,
  { printer, played }: { readonly printer: Printer; readonly played: Promise<ScenarioReport> | null },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isStopping = false
    const stop = (): void => void app.stop().finally(forget).then(resolve, reject)
    const forget = world.onSignal((signal) => {
      if (isStopping) {
        forget()
        world.dieOf(signal)
        return
      }
      isStopping = true
      printer.print(`${signal}: no new connections; open calls have ${formatDuration(settings.drainMs)}. Once more ends at once.`)
      stop()
    })
    played?.then(() => {
      if (isStopping) return
      isStopping = true
      stop()
    }, reject)
  })
}
