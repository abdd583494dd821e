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

test('the first signal drains and says what it waits for, then comes the summary [cli.summary]', async () => {
  const stopped = deferred<void>()
  const { out, signal, ended, deaths } = await running(`${UP} --drain 5s`, { stop: () => stopped.promise, openCalls: () => 2 })
  expect(out()).not.toContain('3 calls')
  signal('SIGTERM')
  expect(out()).toContain('SIGTERM: no new connections; waiting for 2 open calls, 5s at most. Once more cuts them.')
  expect(out()).not.toContain('3 calls')
  stopped.resolve()
  expect(await ended).toBe(0)
  expect(out().trimEnd().split('\n').at(-1)).toBe('3 calls')
  signal('SIGINT')
  expect(deaths).toEqual([])
})
test('with nothing to wait for it says so; one call is one [cli.summary]', async () => {
  for (const [calls, line] of [
    [0, 'SIGINT: no new connections; no call is open.'],
    [1, 'SIGINT: no new connections; waiting for 1 open call, 20s at most. Once more cuts it.'],
  ] as const) {
    const { out, signal, ended } = await running(UP, { openCalls: () => calls })
    signal('SIGINT')
    await ended
    expect(out().split('\n')).toContain(line)
  }
})
test('the second cuts what is open and the summary still comes; the third ends at once [cli.summary] [stop.hurry]', async () => {
  const stopped = deferred<void>()
  let hurried = 0
  const hurry = (): void => {
    hurried += 1
  }
  const { out, signal, ended, deaths } = await running(UP, { stop: () => stopped.promise, hurry, openCalls: () => 1 })
  signal('SIGINT')
  expect([hurried, deaths]).toEqual([0, []])
  signal('SIGINT')
  expect([hurried, deaths]).toEqual([1, []])
  signal('SIGTERM')
  expect([hurried, deaths]).toEqual([1, ['SIGTERM']])
  stopped.resolve()
  expect(await ended).toBe(0)
  expect(out()).toContain('3 calls')
})

test('with JSON logs stderr holds nothing but JSON: text for people is on stdout, or in the log where stdout is the events [cli.json-stderr]', async () => {
  const plainly = await running(`${UP} --log-format json`, { warnings: ['otlp: taken'] })
  plainly.signal('SIGINT')
  await plainly.ended
  expect(plainly.out()).toContain('listening')
  expect(plainly.out()).toContain('3 calls')
  const both = await running(`${UP} --log-format json --events - --log-level silent`)
  both.signal('SIGINT')
  await both.ended
  expect(both.out()).toBe('')
  const messages = both
    .err()
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { message: string }).message)
  expect(messages).toContain('listening http://127.0.0.1:8080')
  expect(messages.at(-1)).toBe('3 calls')
  for (const line of plainly.err().trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ level: 'warn', message: 'otlp: taken' })
  const taken = new PortTaken({ address: '127.0.0.1:1', key: 'listen', code: 'EACCES' })
  const refused = await typed(`${UP} --log-format json`, { startApp: () => Promise.reject(taken) })
  expect(JSON.parse(refused.err)).toMatchObject({ level: 'error', message: taken.message })
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
test('what the system refuses is one line with flag and remedy; our own mistake is not swallowed [cli.no-stack] [cli.system-words]', async () => {
  const refusedWith = async (code: string, file: string): Promise<string> => {
    const error = Object.assign(new Error(`${code}: open '${file}'`), { code, syscall: 'open', path: file })
    const { code: exit, out, err } = await typed(`${UP} --events ${file}`, { startApp: () => Promise.reject(error) })
    expect({ exit, out }).toEqual({ exit: 3, out: '' })
    return err
  }
  const expected = 'impatient-hop: --events: expected a file to append to, got '
  expect(await refusedWith('ENOENT', 'no/such.jsonl')).toBe(`${expected}"no/such.jsonl": there is no folder no: make it, or name another\n`)
  expect(await refusedWith('EISDIR', '/tmp')).toBe(`${expected}"/tmp": it is a folder: name a file in it\n`)
  expect(await refusedWith('EACCES', '/e')).toBe(`${expected}"/e": this user may not write it: name another, or change its rights\n`)
  const away = new PortTaken({ address: '10.9.9.9:8080', key: 'listen', code: 'EADDRNOTAVAIL' })
  expect((await typed(UP, { startApp: () => Promise.reject(away) })).err).toMatch(
    /^impatient-hop: listen: 10\.9\.9\.9:8080 is no address of this machine: expected one of its own/,
  )
  await expect(typed(UP, { startApp: () => Promise.reject(new TypeError('ours')) })).rejects.toThrow('ours')
})
test('what is ignored is told though the configuration is refused [config.unknown-variable]', async () => {
  const { code, err } = await typed('run', { env: { IMPATIENT_UPSTRAEM: 'http://h' } })
  expect(code).toBe(2)
  expect(err).toMatch(/^impatient-hop: upstream: .*\nimpatient-hop: ignored, for nothing reads it: IMPATIENT_UPSTRAEM .*\n$/)
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
