#!/usr/bin/env node
/** Starts the command line. */
import v8 from 'node:v8'
import { runCommandLine } from './cli/command-line.ts'
import { COMMANDS } from './cli/commands.ts'
import { processWorld } from './cli/process-world.ts'

// A call outlives some collections of the young, and so may take what it is made of for long-lived: V8 would then make such objects old
// from their birth, and each keeps what it points to until the next full collection (measured: half of all that survived did so by this).
v8.setFlagsFromString('--no-allocation-site-pretenuring')

process.exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, processWorld())
