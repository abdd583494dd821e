/** The official conformance suite against a URL, as a process of its own; what it said, check by check. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../source-tree.ts'

export type Revision = '2025-11-25' | '2026-07-28'

/** Sorted `check-id STATUS`, e.g. `server-accepts-multiple-post-streams SUCCESS`. */
export type ScenarioResult = readonly string[]

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const HOOK = join(import.meta.dirname, 'hook-register.mjs')
/** `server-NAME-2026-11-29T16-20-40-948Z` */
const FOLDER = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/

/** Every scenario the revision requires, and those it lists without scoring. Throws with the suite's output where it did not run. */
export async function runConformance({
  url,
  requirements,
}: {
  readonly url: URL
  readonly requirements: Revision
}): Promise<Map<string, ScenarioResult>> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const local = new URL(url)
    local.hostname = 'localhost' // the suite's check of Host wants the name
    const args = ['--import', HOOK, SUITE, 'server', '--url', local.href, '--requirements', requirements, '-o', folder]
    const suite = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    const hear = (text: Buffer): void => {
      said += text
    }
    suite.stdout.on('data', hear)
    suite.stderr.on('data', hear)
    await once(suite, 'close') // its exit code counts failed checks too
    const results = readResults(folder)
    if (results.size === 0) throw new Error(`the conformance suite gave no results:\n${said.slice(-4_000)}`)
    return results
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readResults(folder: string): Map<string, ScenarioResult> {
  const results = new Map<string, ScenarioResult>()
  for (const name of readdirSync(folder).sort()) {
    const scenario = FOLDER.exec(name)?.[1]
    if (scenario === undefined) continue
    const checks = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as { id: string; status: string }[]
    results.set(scenario, checks.map(({ id, status }) => `${id} ${status}`).sort())
  }
  return results
}

/** Checks with FAILURE, as `scenario: check`. */
export function failuresOf(results: ReadonlyMap<string, ScenarioResult>): string[] {
  return [...results].flatMap(([scenario, checks]) =>
    checks.filter((check) => check.endsWith(' FAILURE')).map((check) => `${scenario}: ${check}`),
  )
}
