/** The configuration file read anew: what may change while running takes effect, the rest is told to need a restart, a bad file changes nothing. */
import type { Loaded } from '../config/load.ts'
import { needRestart } from '../config/reload.ts'
import type { Settings } from '../config/snapshot.ts'
import type { FileWatch } from '../config/watch.ts'
import { watchFile } from '../config/watch.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../sinks/metrics/index.ts'
import type { Steering } from './steering.ts'

export interface ReloadAsked {
  readonly settings: Settings
  readonly load: (() => Loaded) | undefined
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'setReload'>
  readonly steering: Pick<Steering, 'reload'>
}

/** Null where there is no file to watch. */
export function watchSettings(asked: ReloadAsked): FileWatch | null {
  const { settings, load, clock, metrics } = asked
  metrics.setReload(true, clock.wallMs())
  if (settings.file === null || load === undefined) return null
  return watchFile({ file: settings.file, clock, changed: () => reload(asked, load) })
}

/** One reading. Never throws. */
export function reload({ settings, clock, log, metrics, steering }: ReloadAsked, load: () => Loaded): void {
  const loaded = attempt(load)
  if ('errors' in loaded) {
    for (const error of loaded.errors) log.error(`the configuration is not taken, what was in force stays: ${error}`)
    metrics.setReload(false, clock.wallMs())
    return
  }
  for (const warning of loaded.warnings) log.warn(warning)
  for (const key of needRestart(settings, loaded.settings)) log.warn(`${key}: a change of it needs a restart; the rest is taken`)
  steering.reload(loaded.settings)
  metrics.setReload(true, clock.wallMs())
  const { snapshot, faults } = loaded.settings
  log.info('the configuration was read anew', {
    file: settings.file,
    mode: snapshot.mode,
    path: snapshot.path.map(({ preset }) => preset).join(' '),
    faults: faults?.rules.length ?? 0,
  })
}

function attempt(load: () => Loaded): Loaded {
  try {
    return load()
  } catch (error) {
    return { errors: [error instanceof Error ? error.message : String(error)] }
  }
}
