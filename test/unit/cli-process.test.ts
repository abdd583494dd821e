/** The real command line in a process of its own: exit codes, streams, and no stack trace, whatever was typed. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

// A start takes a second alone, and many on a machine that does other things too.
vi.setConfig({ testTimeout: 180_000 })

const ROOT = join(import.meta.dirname, '../..')
interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** From source, as `npx tsx src/main.ts`; the environment holds nothing of ours but `env`. */
function started(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const ours = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('IMPATIENT_')))
  return spawn(process.execPath, ['--import', 'tsx', 'src/main.ts', ...words], { cwd: ROOT, env: { ...ours, ...env }, stdio: 'pipe' })
}
function ran(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> {
  const child = started(words, env)
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  return new Promise((resolve, reject) => child.on('error', reject).on('close', (code) => resolve({ code, out, err })))
}
const noStack = ({ err }: Ended) => expect(err).not.toMatch(/^\s+at |node:internal|Error:|throw /m)

test('bad flags, values and files end with code 2 and a line each [cli.no-stack] [cli.unknown-flag] [cli.bad-duration] [cli.upstream-path]', async () => {
  const unknown = await ran(['--idle-timout', '60s'])
  expect(unknown).toEqual({ code: 2, out: '', err: 'impatient-hop: unknown flag --idle-timout: did you mean --idle-timeout?\n' })
  const bad = await ran(['run', '--upstream', 'http://127.0.0.1:3000/mcp', '--idle-timeout', '60', '--config', 'no/such.yaml'], {
    IMPATIENT_GRACE: '2',
  })
  expect({ ...bad, err: '' }).toEqual({ code: 2, out: '', err: '' })
  expect(bad.err.trimEnd().split('\n')).toHaveLength(4)
  expect(
    bad.err
      .trimEnd()
      .split('\n')
      .every((line) => line.startsWith('impatient-hop: ')),
  ).toBe(true)
  noStack(bad)
})
test('what was asked for is on stdout, with code 0, uncoloured where piped [cli.no-color]', async () => {
  const hops = await ran(['hops', 'show', 'nginx'])
  expect({ code: hops.code, err: hops.err }).toEqual({ code: 0, err: '' })
  expect(hops.out).toMatch(/^nginx: /)
  expect(hops.out).not.toContain('\u001b')
})
test('a reader that leaves early is no error [cli.no-stack]', async () => {
  const child = started(['hops'])
  let err = ''
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  child.stdout.destroy()
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect({ code, err }).toEqual({ code: 0, err: '' })
})
test('nobody at the admin port: one line, code 3 [cli.calls] [cli.no-stack]', async () => {
  // Port 1 is nobody's on a machine that is well.
  const calls = await ran(['calls', '--admin', 'http://127.0.0.1:1'])
  expect({ code: calls.code, out: calls.out }).toEqual({ code: 3, out: '' })
  expect(calls.err).toContain('no sidecar answers at http://127.0.0.1:1')
  noStack(calls)
})
