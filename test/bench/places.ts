/** Where the benchmark finds the project and keeps what it makes. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
/** Built actors, configurations and the results of the last run. */
export const WORKSHOP = join(ROOT, 'node_modules/.impatient-bench')
export const LAST_RESULTS = join(WORKSHOP, 'results.json')
export const RESULTS_PAGE = join(ROOT, 'test/bench/RESULTS.md')
export const SIDECAR_DIR = ROOT
