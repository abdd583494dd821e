/** What disturbs: the path's limits in force, and the faults. */
import type { GaugeAbout } from './about.ts'
import type { Family } from './family.ts'
import { now, top } from './promql.ts'

export const LIMIT: GaugeAbout = {
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
  panels: [
    {
      id: 'limits-in-force',
      kind: 'table',
      title: 'Limits in force',
      description:
        'The shortest limit of each kind over the path, the hop that sets it, and in how many sidecars. A call that is longer or more silent than this is cut.',
      unit: 's',
      queries: [{ expr: now(LIMIT, 'min', { by: ['limit', 'hop'] }), legend: '' }],
    },
    {
      id: 'disturbance',
      kind: 'timeline',
      title: 'Disturbance active',
      description: 'When exchanges could be disturbed, and by what: the path’s hops, faults, a scenario. One sidecar is enough.',
      unit: 'bool_yes_no',
      queries: [{ expr: now(ACTIVE, 'max', { by: ['source'] }), legend: '{{source}}' }],
    },
    {
      id: 'faults-enabled',
      kind: 'lines',
      title: 'Faults enabled',
      description: 'In how many sidecars each fault is enabled. A fault that stays after the experiment shows here.',
      unit: 'short',
      queries: [{ expr: top(now(ENABLED, 'sum', { by: ['fault'] })), legend: '{{fault}}' }],
    },
    {
      id: 'faults-expire',
      kind: 'table',
      title: 'Faults expire',
      description:
        'When each fault removes itself, the latest of all sidecars. One that is enabled and not listed stays until it is removed.',
      unit: 'dateTimeFromNow',
      queries: [{ expr: `1000 * ${now(EXPIRES, 'max', { by: ['fault'] })}`, legend: '' }],
    },
  ],
  annotations: [
    {
      id: 'fault-on',
      title: 'Fault enabled',
      expr: now(ENABLED, 'max', { by: ['fault'] }),
      legend: '{{fault}} is enabled',
      color: 'orange',
    },
  ],
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
