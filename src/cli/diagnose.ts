/** `diagnose`: who cut the recorded calls that the sidecar did not cut. */
import { presetHops } from '../config/presets.ts'
import { createDiagnosis } from '../predict/diagnosis.ts'
import { findingAsJson } from '../predict/diagnosis-json.ts'
import { knownLimits } from '../predict/known-limits.ts'
import type { Command } from './command.ts'
import { EVENTS_FLAG, readEventsFile } from './events-file.ts'

export const diagnoseCommand: Command = {
  name: 'diagnose',
  says: 'Say who cut recorded calls when it was not the sidecar: closes that have a time in common, and the hops known to cut then',
  flags: [EVENTS_FLAG],
  switches: [{ name: 'json', says: 'The findings as JSON, with the line of each' }],
  examples: [['diagnose --events calls.jsonl', 'a line for each limit that shows']],
  async run(args, world) {
    const records = readEventsFile('diagnose', args, world)
    if (records === null) return 2
    const diagnosis = createDiagnosis(() => knownLimits(presetHops()))
    for (const record of records) diagnosis.take(record)
    const lines = diagnosis.lines()
    if (args.switches.has('json')) world.out.print(JSON.stringify({ findings: diagnosis.findings().map(findingAsJson) }, null, 2))
    else world.out.print(lines.length > 0 ? lines.join('\n') : `Nobody else cut any of these ${records.length} calls.`)
    return 0
  },
}
