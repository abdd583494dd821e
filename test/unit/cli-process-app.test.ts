/** `run` in a process of its own: it listens, it refuses a taken port, it ends on a signal with its summary. */
import { spawn } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

// A start takes a second alone, and many on a machine that does other things too.
vi.setConfig({ testTimeout: 180_000 })

const ROOT = join(import.meta.dirname, '../..')
/** Free ports, but where a test wants its own. */
const ports = ({ listen = 0, admin = 0 }): readonly string[] => [
  ...['--listen', `127.0.0.1:${listen}`, '--admin', `127.0.0.1:${admin}`],
  ...['--otlp', 'none', '--otlp-grpc', 'none', '--upstream', 'http://127.0.0.1:9'],
]

function started(words: readonly string[]) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('IMPATIENT_')))
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts', 'run', ...words], { cwd: ROOT, env, stdio: 'pipe' })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err += chunk
  })
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal })),
  )
  const until = async (stream: 'out' | 'err', text: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = text.exec(said[stream])
      if (found !== null) return found
      if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${said.out}${said.err}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return { child, said, ended, until }
}

test('a taken port is one line and exit code 3 [cli.port-taken] [cli.no-stack]', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  try {
    for (const [key, words] of [
      ['listen', ports({ listen: port })],
      ['admin.listen', ports({ admin: port })],
    ] as const) {
      const { said, ended } = started(words)
      expect(await ended).toEqual({ code: 3, signal: null })
      expect(said.out).toBe('')
      expect(said.err.trimEnd().split('\n')).toEqual([
        expect.stringMatching(new RegExp(`^impatient-hop: ${key}: 127\\.0\\.0\\.1:${port} is already taken`)),
      ])
    }
  } finally {
    taken.close()
  }
})
test('run listens, answers 502 where the upstream is away, and ends on a signal with its summary [cli.summary] [cli.startup-block]', async () => {
  const { child, said, ended, until } = started([...ports({}), '--hop', 'nginx', '--idle-timeout', '5s'])
  try {
    const [, url = ''] = await until('out', /listening {2}(http:\/\/127\.0\.0\.1:\d+)/)
    await until('out', /seed +\d+\n/)
    expect(said.out).toContain('effective  headers 5s (custom) · idle 5s (custom) · total none')
    expect((await fetch(`${url}/mcp`)).status).toBe(502)
    child.kill('SIGINT')
    expect(await ended).toEqual({ code: 0, signal: null })
    expect(said.out).toMatch(/SIGINT: no new connections[^\n]*\n.+/s)
    expect(said.err).not.toMatch(/^\s+at /m)
  } finally {
    child.kill('SIGKILL')
  }
})
