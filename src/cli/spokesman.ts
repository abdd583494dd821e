/** Who speaks for `run`, and where: text for people, or JSON lines where a collector reads stderr. */
import type { Settings } from '../config/snapshot.ts'
import type { Log } from '../core/log.ts'
import { createLog } from '../sinks/log.ts'
import { PRODUCT } from './product.ts'
import type { Printer, World } from './world.ts'

export interface Spokesman {
  readonly log: Log
  /** For people, unless everything is for machines: then nothing is painted. */
  readonly paint: Printer['paint']
  /** What happens, what it came to: lines without newlines. */
  tell(lines: readonly string[]): void
  /** Why the command ends. */
  complain(line: string): void
}

/**
 * Text goes to stdout; to stderr where stdout carries the events. With JSON logs stderr is a collector's: then what cannot go to
 * stdout goes into the log, a line a message.
 */
export function createSpokesman({ log: { level, format }, events }: Settings, world: World): Spokesman {
  const log = createLog({ level, format, write: world.err.write })
  const isOutTaken = events?.file === '-'
  if (format === 'json' && isOutTaken) {
    const always = createLog({ level: 'info', format, write: world.err.write })
    const tell = (lines: readonly string[]): void => {
      for (const line of lines) if (line.trim() !== '') always.info(line.trim().replaceAll(/ {2,}/g, ' '))
    }
    return { log, paint: (_, text) => text, tell, complain: (line) => always.error(line) }
  }
  const printer = isOutTaken ? world.err : world.out
  return {
    log,
    paint: printer.paint,
    tell: (lines) => printer.print(lines.join('\n')),
    complain(line) {
      if (format === 'json') createLog({ level: 'error', format, write: world.err.write }).error(line)
      else world.err.print(`${PRODUCT}: ${line}`)
    },
  }
}
