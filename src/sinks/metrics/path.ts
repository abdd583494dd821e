/** What disturbs: the path's limits in force, and the faults. */
import type { GaugeAbout } from './about.ts'
import type { Family } from './family.ts'

const LIMIT: GaugeAbout = {
  name: 'path_effective_limit_seconds',
  type: 'gauge',
  title: 'Limits in force',
  help: 'The shortest limit of the path, and the hop that sets it; absent where no hop has that limit.',
  labels: ['limit', 'hop'],
  unit: 's',
}
const ACTIVE: GaugeAbout = {
  name: 'chaos_active',
  type: 'gauge',
  title: 'Disturbance active',
  help: 'Whether an exchange opened now may be disturbed by the path, by faults, by a scenario.',
  labels: ['source'],
  unit: 'bool',
}
const ENABLED: GaugeAbout = {
  name: 'fault_enabled',
  type: 'gauge',
  title: 'Faults enabled',
  help: 'Whether the fault is enabled.',
  labels: ['fault'],
  unit: 'bool',
}
const EXPIRES: GaugeAbout = {
  name: 'fault_expires_timestamp_seconds',
  type: 'gauge',
  title: 'Fault expires',
  help: 'When the fault removes itself, in Unix seconds; absent for one that stays.',
  labels: ['fault'],
  unit: 'unix-time',
}

export const pathFamily: Family = {
  about: [LIMIT, ACTIVE, ENABLED, EXPIRES],
  start(kit) {
    const limit = kit.gauge(LIMIT)
    const enabled = kit.gauge(ENABLED)
    const expires = kit.gauge(EXPIRES)
    kit.gaugeReadAtScrape(ACTIVE, () => {
      const { path, faults, scenario } = kit.readings.chaos()
      return [
        [{ source: 'path' }, Number(path)],
        [{ source: 'faults' }, Number(faults)],
        [{ source: 'scenario' }, Number(scenario)],
      ]
    })
    return {
      path({ limits }) {
        limit.clear()
        for (const [name, least] of Object.entries(limits)) {
          if (least !== null) limit.set({ limit: name, hop: kit.hops.labelOf(least.preset) }, least.ms / 1_000)
        }
      },
      faults(faults) {
        enabled.clear()
        expires.clear()
        for (const { name, isEnabled, expiresWallMs } of faults) {
          const fault = kit.faults.labelOf(name)
          enabled.set({ fault }, Number(isEnabled))
          if (expiresWallMs !== null) expires.set({ fault }, expiresWallMs / 1_000)
        }
      },
    }
  },
}
