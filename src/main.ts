#!/usr/bin/env node
/** Starts the command line. */
import v8 from 'node:v8'
import { runCommandLine } from './cli/command-line.ts'
import { COMMANDS } from './cli/commands.ts'
import { processWorld } from './cli/process-world.ts'

// A call outlives some collections of the young, and so may take what it is made of for long-lived: V8 would then make such objects old
// from their birth, and each keeps what it points to until the next full collection (measured: half of all that survived did so by this).
v8.setFlagsFromString('--no-allocation-site-pretenuring')
// The young may have as much room as they have by now (8 MiB) and not twice that: the collector stops everything while it copies what is
// alive in it, and a cut that is due then is late (measured: 24 ms with 200 open streams, 10 ms so).
v8.setFlagsFromString('--semi-space-growth-factor=1')

process.exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, processWorld())
