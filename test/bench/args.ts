/** What may be asked of a run; anything else is refused, for a run takes minutes. */
import { parseArgs } from 'node:util'

const HELP = `npm run bench -- [options]

Measures the sidecar beside bare http-proxy, nginx and haproxy (and toxiproxy where it is on the PATH).
About 14 minutes; the results go to test/bench/RESULTS.md.

  --quick            under 90 s, of the sidecar and http-proxy alone; writes no page
  --million          a million exchanges for the measure of memory, in place of 100,000: some minutes more
  --targets a,b      only these targets
  --measures a,b     only these measures: rtt, events, bulk, cut, abort, idle, growth, memory
  --reps N           so many repetitions of each
  --sidecar DIR      measure another build of the sidecar (its package, with dist)
  --beside DIR       measure a second build beside it
  --write            write the page although not all was measured
  --json FILE        where the rows go
  --help             this text
`

const OPTIONS = {
  quick: { type: 'boolean' },
  million: { type: 'boolean' },
  write: { type: 'boolean' },
  help: { type: 'boolean' },
  targets: { type: 'string' },
  measures: { type: 'string' },
  reps: { type: 'string' },
  sidecar: { type: 'string' },
  beside: { type: 'string' },
  json: { type: 'string' },
} as const

export type Asked = ReturnType<typeof parse>

const parse = (args: readonly string[]) => parseArgs({ args: [...args], options: OPTIONS, strict: true }).values

/** Null and why: it cannot be run so. */
export function asked(args: readonly string[]): { readonly values: Asked } | { readonly problem: string } | { readonly help: string } {
  try {
    const values = parse(args)
    if (values.help === true) return { help: HELP }
    if (values.reps !== undefined && !/^[1-9]\d*$/.test(values.reps))
      return { problem: `--reps: expected a number from 1 on, got "${values.reps}"` }
    return { values }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Ends the process where there is nothing to run: 0 after help, 2 after a mistake. */
export function readArgs(args: readonly string[]): Asked {
  const read = asked(args)
  if ('values' in read) return read.values
  if ('help' in read) {
    console.log(read.help)
    process.exit(0)
  }
  console.error(`bench: ${read.problem}\nTry --help.`)
  process.exit(2)
}
