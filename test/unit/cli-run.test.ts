/** `run` from the outside: what it prints where, how it starts, stops, and fails to. */
import { expect, test } from 'vitest'
import type { RunningApp } from '../../src/app-types.ts'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { plain } from '../../src/cli/paint.ts'
import { EFFECTIVE_SENTENCE, startupBlock } from '../../src/cli/startup-block.ts'
import { loadSettings } from '../../src/config/load.ts'
import type { Settings } from '../../src/config/snapshot.ts'
import { PortTaken } from '../../src/core/port-taken.ts'
import { faultRuleSchema } from '../../src/faults/fault-schema.ts'
import type { Asked } from '../support/cli-world.ts'
import { cliWorld, deferred, fakeApp, typed } from '../support/cli-world.ts'

const UP = '--upstream http://127.0.0.1:3000'

/** Runs until the app is up, hands out the means to stop it. */
async function running(line: string, app: Partial<RunningApp> = {}, asked: Asked = {}) {
  const started = deferred<Settings>()
  const at = cliWorld({
    ...asked,
    startApp: async (settings, { writeOut }) => {
      queueMicrotask(() => started.resolve(settings))
      writeOut('')
      return fakeApp(app)
    },
  })
  const ended = runCommandLine(line.split(' '), COMMANDS, at.world)
  const settings = await Promise.race([started.promise, ended.then((code) => Promise.reject(new Error(`${code}: ${at.err()}`)))])
  // The block is printed in the turn after the app is there.
  await new Promise(setImmediate)
  return { ...at, ended, settings }
}

test('one block: where it listens, what it plays, the limits that count [cli.startup-block]', async () => {
  const { out, err, signal, ended } = await running(`${UP} --hop cloudflare,nginx --seed 7 --listen 127.0.0.1:0`)
  expect(out().split('\n').slice(1)).toEqual([
    '  listening  http://127.0.0.1:8080',
    '  upstream   http://127.0.0.1:3000',
    '  admin      http://127.0.0.1:8475',
    '  mode       act',
    '  path       client → cloudflare → nginx → server',
    '             cloudflare  idle 1m40s',
    '             nginx       idle 1m',
    '  effective  headers 1m (nginx) · idle 1m (nginx) · total none',
    `             ${EFFECTIVE_SENTENCE}`,
    '  faults     none',
    '  work       grace 2s · after a cut hang-up · trace context in header',
    '  seed       7',
    '',
  ])
  expect(out()).toMatch(/^impatient-hop \d+\.\d+\.\d+\n/)
  expect(err()).toBe('')
  signal('SIGINT')
  expect(await ended).toBe(0)
})

const blockOf = (flags: Record<string, string | string[]>): string => {
  const loaded = loadSettings({ flags: { upstream: 'http://127.0.0.1:3000', ...flags }, env: {}, readFile: () => '' })
  if ('errors' in loaded) throw new Error(loaded.errors.join('\n'))
  const metrics = { host: '0.0.0.0', port: 9465 }
  return startupBlock(loaded.settings, { ...fakeApp().addresses, metrics, otlp: { host: '::1', port: 4318 } }, '1.2.3', plain).join('\n')
}
test('the sentence stands where more than one hop has a say, the hop where it sets a limit [cli.effective-limit]', () => {
  expect(blockOf({ hop: ['nginx'] })).not.toContain(EFFECTIVE_SENTENCE)
  expect(blockOf({ hop: ['custom', 'nginx'] })).not.toContain(EFFECTIVE_SENTENCE)
  const mixed = blockOf({ hop: ['cloudflare:total.after=29s', 'nginx'], 'idle-timeout': '45s' })
  expect(mixed).toContain('effective  headers 45s (custom) · idle 45s (custom) · total 29s (cloudflare)')
  expect(mixed).toContain(EFFECTIVE_SENTENCE)
  expect(blockOf({ hop: ['nginx', 'nginx:idle.after=20s'] })).toContain('idle 20s (path[1]:nginx)')
})
test('no hop: nothing that limits, nothing effective [cli.startup-block]', () => {
  const block = blockOf({ mode: 'shadow' })
  expect(block).toContain('path       client → server: no hop, no limit of its own')
  expect(block).toContain('mode       shadow: decides and counts, cuts nothing')
  expect(block).toContain('metrics    http://0.0.0.0:9465/metrics')
  expect(block).toContain('otlp       http://[::1]:4318')
  expect(block).not.toContain('effective')
  expect(blockOf({ buffer: '4KiB' })).toContain('custom  buffer 4KiB')
})
test('faults are named with what they do [cli.startup-block]', () => {
  const loaded = loadSettings({ flags: { upstream: 'http://h' }, env: {}, readFile: () => '' })
  if ('errors' in loaded) throw new Error(loaded.errors.join('\n'))
  const rules = [
    { name: 'a', do: { refuse: {} } },
    { name: 'b', do: { 'hide-disconnect': {} }, enabled: false },
  ].map((rule) => faultRuleSchema.parse(rule))
  const block = startupBlock({ ...loaded.settings, faults: { rules, safety: {} } }, fakeApp().addresses, '1.2.3', plain)
  expect(block).toContain('  faults     a (refuse), b (hide-disconnect, off)')
})
test('a token is never shown', async () => {
  const { out, err, signal, ended } = await running(`${UP} --log-level debug`, {}, { env: { IMPATIENT_ADMIN_TOKEN: 'hush' } })
  signal('SIGTERM')
  await ended
  expect(out()).toContain('admin      http://127.0.0.1:8475 (with a token)')
  expect(out() + err()).not.toContain('hush')
})

test('with --events - people read stderr, and stdout is for the events [cli.events-stdout]', async () => {
  const { out, err, signal, ended, settings } = await running(`${UP} --events -`)
  signal('SIGINT')
  expect(await ended).toBe(0)
  expect(settings.events).toEqual({ file: '-', bytesMax: 104_857_600 })
  expect(out()).toBe('')
  expect(err()).toContain('listening')
  expect(err()).toContain('3 calls')
})
test('the app may write events to stdout [cli.events-stdout]', async () => {
  const at = cliWorld({
    startApp: async (_settings, { writeOut }) => {
      writeOut('{"id":"c1"}\n')
      throw new PortTaken({ address: 'x', key: 'listen' })
    },
  })
  await runCommandLine([...UP.split(' '), '--events', '-'], COMMANDS, at.world)
  expect(at.out()).toBe('{"id":"c1"}\n')
})

test('the first signal drains, then comes the summary [cli.summary]', async () => {
  const stopped = deferred<void>()
  const { out, signal, ended, deaths } = await running(`${UP} --drain 5s`, { stop: () => stopped.promise })
  expect(out()).not.toContain('3 calls')
  signal('SIGTERM')
  expect(out()).toContain('SIGTERM: no new connections; open calls have 5s. Once more ends at once.')
  expect(out()).not.toContain('3 calls')
  stopped.resolve()
  expect(await ended).toBe(0)
  expect(out().trimEnd().split('\n').at(-1)).toBe('3 calls')
  signal('SIGINT')
  expect(deaths).toEqual([])
})
test('the second ends at once [cli.summary]', async () => {
  const { signal, deaths } = await running(UP, { stop: () => new Promise(() => undefined) })
  signal('SIGINT')
  expect(deaths).toEqual([])
  signal('SIGINT')
  expect(deaths).toEqual(['SIGINT'])
})

test('warnings of configuration and app go to the log [config.unknown-variable]', async () => {
  const { err, signal, ended } = await running(UP, { warnings: ['otlp: 127.0.0.1:4318 is taken'] }, { env: { IMPATIENT_WHATEVER: '1' } })
  signal('SIGINT')
  await ended
  expect(err()).toMatch(/warn {2}ignored, for nothing reads it: IMPATIENT_WHATEVER\n.* warn {2}otlp: 127\.0\.0\.1:4318 is taken\n$/)
})

test('a taken port is one line and exit code 3 [cli.port-taken] [cli.no-stack]', async () => {
  const taken = new PortTaken({ address: '127.0.0.1:8080', key: 'listen' })
  const { code, out, err } = await typed(UP, { startApp: () => Promise.reject(taken) })
  expect({ code, out }).toEqual({ code: 3, out: '' })
  expect(err).toBe(`impatient-hop: ${taken.message}\n`)
  expect(err).toContain('listen: 127.0.0.1:8080 is already taken')
})
test('what the system refuses is one line; our own mistake is not swallowed [cli.no-stack]', async () => {
  const refused = Object.assign(new Error("EACCES: permission denied, open '/events'"), { code: 'EACCES', syscall: 'open' })
  expect(await typed(UP, { startApp: () => Promise.reject(refused) })).toEqual({
    code: 3,
    out: '',
    err: "impatient-hop: EACCES: permission denied, open '/events'\n",
  })
  await expect(typed(UP, { startApp: () => Promise.reject(new TypeError('ours')) })).rejects.toThrow('ours')
})
test('bad values are lines, exit code 2, and nothing starts [cli.bad-duration] [cli.bad-file] [cli.no-stack]', async () => {
  const files = { 'c.yaml': 'mode: acts\n' }
  const { code, out, err } = await typed(`${UP}/mcp --config c.yaml --max-duration 5 --mode acts`, { files })
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^impatient-hop: c\.yaml:1 mode: expected act, shadow, got "acts"/),
    expect.stringMatching(/^impatient-hop: --max-duration: expected a duration .*got 5: a number needs a unit, write 5s or 5ms/),
    expect.stringMatching(/^impatient-hop: --upstream: .*leave "\/mcp" out/),
    expect.stringMatching(/^impatient-hop: --mode: expected act or shadow, got "acts": did you mean act\?/),
  ])
})
