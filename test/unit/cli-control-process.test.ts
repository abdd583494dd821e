/** Control in processes of their own: SIGHUP, a fault from stdin, and a scenario that SIGTERM ends. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { yamlOf } from '../support/app-rig.ts'
import { whenTestEnds } from '../support/raw-socket.ts'

// A start takes seconds on a machine that does other things too.
vi.setConfig({ testTimeout: 180_000 })
const ROOT = join(import.meta.dirname, '../..')

function started(words: readonly string[], { input = '', env: more = {} }: { input?: string; env?: Record<string, string> } = {}) {
  const env = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('IMPATIENT_'))), ...more }
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts', ...words], { cwd: ROOT, env, stdio: 'pipe' })
  whenTestEnds(() => child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => (said.out += String(chunk)))
  child.stderr.on('data', (chunk) => (said.err += String(chunk)))
  child.stdin.end(input)
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const until = (stream: 'out' | 'err', text: RegExp) => expect.poll(() => said[stream], { timeout: 60_000, interval: 30 }).toMatch(text)
  return { child, said, ended, until }
}

test('SIGHUP rereads the file, stdin adds a fault, SIGTERM ends the scenario with its report and 1 [faults2.process]', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'control-'))
  whenTestEnds(() => rmSync(folder, { recursive: true, force: true }))
  const [file, scenario] = [join(folder, 'c.yaml'), join(folder, 's.yaml')]
  writeFileSync(file, yamlOf(new URL('http://127.0.0.1:9')))
  writeFileSync(scenario, 'name: long\nphases: [ { name: all day, for: 24h } ]\nexpect: [ "violations = 0" ]\n')
  const run = started(['run', '--config', file, '--scenario', scenario, '--drain', '0s'])
  await run.until('out', /seed +\d+\n/)
  await run.until('err', /enters a phase .*phase="all day"/)
  run.child.kill('SIGHUP')
  await run.until('err', /read anew/)
  const admin = /admin +(http:\/\/127\.0\.0\.1:\d+)/.exec(run.said.out)?.[1] ?? ''
  const add = started(['faults', 'add', '--file', '-'], { input: 'name: fromstdin\ndo: { refuse: {} }\n', env: { IMPATIENT_ADMIN: admin } })
  expect([await add.ended, add.said.out, add.said.err]).toEqual([0, 'Added fromstdin: exchanges opened from now on meet it.\n', ''])
  run.child.kill('SIGTERM')
  expect(await run.ended).toBe(1)
  expect(run.said.out).toMatch(/scenario +long: inconclusive, ended early: the sidecar was stopped/)
  expect(run.said.err).not.toMatch(/^\s+at /m)
})
