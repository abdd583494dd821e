#!/usr/bin/env node
/** Starts the command line. */
import { runCommandLine } from './cli/command-line.ts'
import { COMMANDS } from './cli/commands.ts'
import { tuneHeap } from './cli/heap.ts'
import { processWorld } from './cli/process-world.ts'

tuneHeap()

process.exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, processWorld())
