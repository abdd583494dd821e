/** `--events FILE` of the commands that read what a sidecar wrote: records, or the line that says why not. */

import { readText } from '../config/file.ts'
import type { Flag } from '../config/flags.ts'
import { environmentName } from '../config/flags.ts'
import type { CallRecord } from '../core/record.ts'
import { readEvents } from '../predict/read-events.ts'
import type { CommandArguments } from './command.ts'
import { PRODUCT } from './product.ts'
import type { World } from './world.ts'

export const EVENTS_FLAG: Flag = { name: 'events', takes: 'FILE|-', says: 'Calls as run --events wrote them, JSON lines; - is stdin' }

/** Null: what is wrong is printed already, and the command ends with 2. */
export function readEventsFile(name: string, { flags }: CommandArguments, world: World): readonly CallRecord[] | null {
  const refuse = (line: string): null => {
    world.err.print(`${PRODUCT}: ${line}`)
    return null
  }
  const given = flags['events'] ?? world.env[environmentName('events')]
  if (typeof given !== 'string' || given === '')
    return refuse(
      `${name}: expected --events FILE${Array.isArray(given) ? ' once' : ''}: for example ${PRODUCT} ${name} --events calls.jsonl`,
    )
  const text = readText(given === '-' ? '/dev/stdin' : given, world.readFile, 'a file of calls')
  if (typeof text !== 'string') return refuse(text.errors.join('\n'))
  const read = readEvents(text, given)
  if ('error' in read) return refuse(read.error)
  for (const warning of read.warnings) world.err.print(`${PRODUCT}: ${warning}`)
  return read.records
}
