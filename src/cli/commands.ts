/** The commands there are, in the order help lists them. */
import { callsCommand } from './calls.ts'
import type { Command } from './command.ts'
import { completionCommand } from './completion.ts'
import { cutCommand } from './cut.ts'
import { demoCommand } from './demo.ts'
import { diagnoseCommand } from './diagnose.ts'
import { faultsCommand } from './faults.ts'
import { hopsCommand } from './hops.ts'
import { pathCommand } from './path.ts'
import { predictCommand } from './predict.ts'
import { probeCommand } from './probe.ts'
import { resumeCommand } from './resume.ts'
import { runCommand } from './run.ts'
import { schemaCommand } from './schema.ts'
import { stopCommand } from './stop.ts'
import { validateCommand } from './validate.ts'

export const COMMANDS: readonly Command[] = [
  runCommand,
  demoCommand,
  predictCommand,
  diagnoseCommand,
  hopsCommand,
  callsCommand,
  faultsCommand,
  pathCommand,
  stopCommand,
  resumeCommand,
  cutCommand,
  validateCommand,
  schemaCommand,
  probeCommand,
  completionCommand,
]
