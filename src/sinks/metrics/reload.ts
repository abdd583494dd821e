/** The configuration file's last reload. */
import type { GaugeAbout } from './about.ts'
import type { Family } from './family.ts'
import { changesOf, now } from './promql.ts'

const SUCCESSFUL: GaugeAbout = {
  name: 'config_last_reload_successful',
  type: 'gauge',
  title: 'Last reload of the configuration was taken',
  help: 'Whether the configuration in force is what the file last said; 1 where there is no file.',
  labels: [],
  unit: 'bool',
}
const SUCCESS_AT: GaugeAbout = {
  name: 'config_last_reload_success_timestamp_seconds',
  type: 'gauge',
  title: 'Configuration taken',
  help: 'When the configuration in force was taken, in Unix seconds.',
  labels: [],
  unit: 'unix-time',
}

export const reloadFamily: Family = {
  about: [SUCCESSFUL, SUCCESS_AT],
  panels: [
    {
      id: 'config-taken',
      kind: 'stat',
      title: 'Configuration taken',
      description:
        'Share of sidecars that run what their configuration file says. The others refused its last change and say why in their log.',
      unit: 'percentunit',
      queries: [{ expr: now(SUCCESSFUL, 'avg'), legend: '' }],
      alarm: { below: 1 },
    },
  ],
  annotations: [
    {
      id: 'config-read',
      title: 'Configuration taken',
      expr: changesOf(SUCCESS_AT),
      legend: 'a changed configuration was taken',
      color: 'blue',
    },
  ],
  start(kit) {
    const successful = kit.gauge(SUCCESSFUL)
    const successAt = kit.gauge(SUCCESS_AT)
    successful.set({}, 1)
    return {
      reloaded({ isTaken, wallMs }) {
        successful.set({}, Number(isTaken))
        if (isTaken) successAt.set({}, wallMs / 1_000)
      },
    }
  },
}
