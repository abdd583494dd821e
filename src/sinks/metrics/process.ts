/** The process: its version, whom it reaches, whether its file was taken. */
import type { GaugeAbout } from './about.ts'
import type { Family } from './family.ts'

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
  start(kit) {
    kit.gauge(BUILD).set({ version: kit.version, node_version: process.version }, 1)
    kit.gaugeReadAtScrape(UPSTREAM, () => [[{}, Number(kit.readings.isUpstreamUp())]])
    kit.gaugeReadAtScrape(RECEIVER, () => [[{}, Number(kit.readings.isOtlpReceiverUp())]])
    return {}
  },
}
