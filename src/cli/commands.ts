/** The commands there are, in the order help lists them. */
import { callsCommand } from './calls.ts'
import type { Command } from './command.ts'
import { completionCommand } from './completion.ts'
import { demoCommand } from './demo.ts'
import { hopsCommand } from './hops.ts'
import { predictCommand } from './predict.ts'
import { probeCommand } from './probe.ts'
import { runCommand } from './run.ts'
import { schemaCommand } from './schema.ts'
import { validateCommand } from './validate.ts'

export const COMMANDS: readonly Command[] = [
  runCommand,
  demoCommand,
  predictCommand,
  hopsCommand,
  callsCommand,
  validateCommand,
  schemaCommand,
  probeCommand,
  completionCommand,
]
