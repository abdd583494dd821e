/** `npm run bench:gate`: the last run (or `--results FILE`) against the goals; exits 1 where one is missed or something failed, 3 where there was no run. */
import { readFileSync } from 'node:fs'
import { argOf } from './actors/wire-words.ts'
import { exitCodeOf, judge } from './goals.ts'
import type { Results } from './page.ts'
import { goalsTable } from './page.ts'
import { LAST_RESULTS } from './places.ts'

const file = argOf('results', LAST_RESULTS)
try {
  const { rows, about, failures } = JSON.parse(readFileSync(file, 'utf8')) as Results
  console.log(`${about.command}, ${about.startedAt}, load average ${about.loadBefore} to ${about.loadAfter}\n`)
  console.log(goalsTable(rows).join('\n'))
  for (const failure of failures) console.log(`failed: ${failure}`)
  process.exitCode = exitCodeOf(judge(rows), failures)
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  console.error(`bench:gate: no results at ${file}; run npm run bench first`)
  process.exitCode = 3
}
