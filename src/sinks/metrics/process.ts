/** The process: its version, whom it reaches, whether its file was taken. */
import type { GaugeAbout } from './about.ts'
import type { Family } from './family.ts'
import { now } from './promql.ts'

const BUILD: GaugeAbout = {
  name: 'build_info',
  type: 'gauge',
  title: 'Version',
  help: 'Always 1; the versions are in the labels.',
  labels: ['version', 'node_version'],
  unit: 'count',
}
const UPSTREAM: GaugeAbout = {
  name: 'upstream_up',
  type: 'gauge',
  title: 'Server reachable',
  help: 'Whether the last attempt to reach the MCP server succeeded.',
  labels: [],
  unit: 'bool',
}
const RECEIVER: GaugeAbout = {
  name: 'otlp_receiver_up',
  type: 'gauge',
  title: 'Work reports can arrive',
  help: 'Whether the OTLP receiver is listening.',
  labels: [],
  unit: 'bool',
}

export const processFamily: Family = {
  about: [BUILD, UPSTREAM, RECEIVER],
  panels: [
    {
      id: 'sidecars',
      kind: 'stat',
      title: 'Sidecars',
      description: 'Sidecars that are scraped now.',
      unit: 'short',
      queries: [{ expr: now(BUILD, 'count'), legend: '' }],
    },
    {
      id: 'versions',
      kind: 'table',
      title: 'Versions',
      description: 'Sidecars by version; more than one row: a roll-out is under way, or was forgotten.',
      unit: 'short',
      queries: [{ expr: now(BUILD, 'count', { by: ['version', 'node_version'] }), legend: '' }],
    },
    {
      id: 'upstream-up',
      kind: 'stat',
      title: 'Servers reachable',
      description: 'Share of sidecars whose last attempt to reach their MCP server succeeded. The others answer 502.',
      unit: 'percentunit',
      queries: [{ expr: now(UPSTREAM, 'avg'), legend: '' }],
      alarm: { below: 1 },
    },
    {
      id: 'receiver-up',
      kind: 'stat',
      title: 'Work reports can arrive',
      description:
        'Share of sidecars whose OTLP receiver listens. Without it only probes and results tell of work, and the rest is unobserved.',
      unit: 'percentunit',
      queries: [{ expr: now(RECEIVER, 'avg'), legend: '' }],
      alarm: { below: 1 },
    },
  ],
  start(kit) {
    kit.gauge(BUILD).set({ version: kit.version, node_version: process.version }, 1)
    kit.gaugeReadAtScrape(UPSTREAM, () => [[{}, Number(kit.readings.isUpstreamUp())]])
    kit.gaugeReadAtScrape(RECEIVER, () => [[{}, Number(kit.readings.isOtlpReceiverUp())]])
    return {}
  },
}
