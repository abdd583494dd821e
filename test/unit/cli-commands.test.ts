/** The other commands: hops, calls, validate, schema, completion, demo; and the help of each. */

import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { fieldsInWords } from '../../src/cli/hop-words.ts'
import { plain } from '../../src/cli/paint.ts'
import { listPresets } from '../../src/config/presets.ts'
import type { CallRecord } from '../../src/core/record.ts'
import { hopSchema } from '../../src/hops/hop-schema.ts'
import { callRecord } from '../support/call-record.ts'
import { fakeApp, typed } from '../support/cli-world.ts'

test.each(COMMANDS.map((command) => [command.name, command] as const))(
  'help of %s has an example [cli.help-examples]',
  async (name, command) => {
    const { code, out } = await typed(`${name} --help`)
    expect(code).toBe(0)
    const flat = out.replaceAll(/\s+/g, ' ')
    expect(flat).toContain('Examples:')
    for (const [line] of command.examples) for (const word of line.split(' ')) expect(flat.split('Examples:')[1]).toContain(word)
    for (const flag of [...(command.flags ?? []), ...(command.switches ?? [])]) expect(out).toContain(`--${flag.name} `)
    expect(out).not.toMatch(/\[(string|array|boolean)\]/)
  },
)
test('examples are typed as they stand: no flag, command or hop in them is unknown [cli.help-examples]', async () => {
  for (const { examples, name } of COMMANDS) {
    for (const [line] of examples) {
      const words = line.replace(/ >.*$/, '')
      const { err } = await typed(words, {
        startApp: () => Promise.reject(Object.assign(new Error('started'), { code: 'X', syscall: 'x' })),
        runDemo: async () => 0,
        get: async () => ({ status: 200, text: '{"calls":[],"faults":[],"path":[]}' }),
        send: async () => ({ status: 200, text: '{"name":"a","cut":1,"path":[],"effective":{}}' }),
        files: {
          'faults.yaml': 'name: a\ndo: { refuse: {} }\n',
          'impatient-hop.yaml': 'upstream: http://h\n',
          'calls.jsonl': JSON.stringify(callRecord({ timeline: [[4, 'headers', 200]] })),
        },
      })
      if (name === 'run') expect(err).toBe('impatient-hop: started\n')
      else expect(err, line).not.toMatch(/unknown (flag|command|hop)|expected|cannot be read/)
    }
  }
})

describe('hops', () => {
  test('lists every preset with its limits [cli.hops]', async () => {
    const { code, out } = await typed('hops')
    expect(code).toBe(0)
    const lines = out.trimEnd().split('\n')
    expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual(listPresets())
    expect(lines.find((line) => line.startsWith('cloudflare '))).toMatch(/1m40s +1m40s +- +- +documented +Cloudflare$/)
    expect(out).not.toContain('cannot be read')
  })
  test('shows one: limits, how each is known, sources [cli.hops]', async () => {
    const { code, out } = await typed('hops show nginx')
    expect(code).toBe(0)
    expect(out).toMatch(/^nginx: nginx, HTTP\/1\.1 upstream/)
    expect(out).toMatch(/ {2}idle +after 1m · .*\[measured\]/)
  })
  test('every field is told with its unit, and what is known by report only is said [cli.hops]', () => {
    const file = hopSchema.parse({
      title: 'Mine',
      idle: { after: '90s', answer: { status: 504, body: 'gone' }, upstream: { afterWrites: 2 } },
      total: 'none',
      clientSend: { after: '250ms', confidence: 'reported' },
      request: { bodyMax: '1MiB', retry: { on: ['timeout', 'loss'], tries: 3 }, confidence: 'documented' },
      source: ['the manual', 'a test'],
      checked: '2026-11-29',
      confidence: 'measured',
    })
    expect(fieldsInWords('mine', file, plain)).toEqual([
      'mine: Mine',
      '  idle          after 1m30s · answer { status 504 · body 4 characters } · upstream { afterWrites 2 } [measured]',
      '  total         none [measured]',
      '  clientSend    after 250ms [reported]',
      '  request       bodyMax 1MiB · retry { on timeout, loss · tries 3 } [documented]',
      '  checked       2026-11-29',
      '  source        the manual',
      '                a test',
      'Known by report only, neither measured nor documented: clientSend.',
    ])
    expect(fieldsInWords('bare', {}, plain)).toEqual(['bare'])
  })
  test.each([
    ['hops show ngnix', 'hops show: unknown hop "ngnix"; did you mean "nginx"?'],
    ['hops show ../../package', 'hops show: unknown hop "../../package"'],
    ['hops show', 'hops show: expected the name of a hop, got nothing'],
    ['hops shwo nginx', 'hops: expected show, compare or page, got "shwo"'],
  ])('%s is one line and exit code 2', async (line, said) => {
    const { code, out, err } = await typed(line)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(said)
  })
})

const record = {
  id: 'c42',
  openedAt: '2026-11-29T10:00:00.000Z',
  kind: 'call',
  method: 'tools/call',
  tool: 'ren\u001b[2Jder',
  status: 200,
  closedMs: 2_003,
  closedBy: 'sidecar',
  cause: 'idle_timeout',
  hop: 'nginx',
  fault: null,
  result: 'none',
  work: { outcome: 'orphaned', afterCloseMs: 4_001 },
} as CallRecord

describe('calls', () => {
  const asked: { url: string; headers: Readonly<Record<string, string>> }[] = []
  const answering = (status: number, text: string) => ({
    get: async (url: string, headers: Readonly<Record<string, string>>) => {
      asked.push({ url, headers })
      return { status, text }
    },
  })
  const one = answering(200, JSON.stringify({ calls: [record] }))

  test('a line a call: who closed it, when, and how long the work went on [cli.calls]', async () => {
    const { code, out } = await typed('calls', one)
    expect(code).toBe(0)
    expect(out.split('\n')[1]).toBe(
      'c42  2026-11-29T10:00:00.000Z  ren?[2Jder  200     sidecar (idle_timeout, nginx)  2.0 s  none    orphaned    4.0 s',
    )
    expect(asked.at(-1)).toEqual({ url: 'http://127.0.0.1:8475/api/v1/calls', headers: {} })
    expect(JSON.parse((await typed('calls --json', one)).out)).toEqual([record])
    const none = answering(200, '{"calls":[]}')
    expect([(await typed('calls', none)).out, (await typed('calls --open', none)).out]).toEqual(['No calls yet.\n', 'No open calls.\n'])
  })
  const shown = async (more: Partial<CallRecord>): Promise<Record<string, string>> => {
    const calls = [callRecord({ id: 'c1' }), callRecord({ id: 'c2', ...more })]
    const { out } = await typed('calls', { ...answering(200, JSON.stringify({ calls })), wallMs: Date.parse('2026-11-29T10:00:08.000Z') })
    const [titles = '', , line = ''] = out.split('\n')
    const cells = (text: string): string[] => text.split(/ {2,}/)
    return Object.fromEntries(cells(titles).map((title, index) => [title, cells(line)[index] ?? '']))
  }
  test('a call given up by notification shows when, so that its going on can be understood [cli.calls-tell]', async () => {
    const work = { source: 'probe', startedMs: 3, endedMs: 6_003, outcome: 'orphaned', afterCloseMs: 4_003 } as const
    expect(await shown({ abandonedMs: 2_000, abandonedBy: 'notification', work })).toMatchObject({
      'GIVEN UP': '2.0 s, by notification',
      WORK: 'orphaned',
      'WENT ON': '4.0 s',
    })
  })
  test('work is of tools; an orphan that runs shows how long so far [cli.calls-tell]', async () => {
    const pending = { source: 'probe', startedMs: 3, endedMs: null, outcome: 'pending', afterCloseMs: null } as const
    expect(await shown({ method: 'initialize', tool: null })).toMatchObject({ WHAT: 'initialize', WORK: '-', 'WENT ON': '-' })
    const running = await shown({ closedMs: 3_000, abandonedMs: 3_000, abandonedBy: 'close', result: 'none', work: pending })
    expect(running).toMatchObject({ WORK: 'running', 'WENT ON': '5.0 s so far' })
    expect(running).not.toHaveProperty('GIVEN UP')
  })
  test('what shadow mode would have cut has a column, where there is any [cli.calls-tell]', async () => {
    const wouldCut = [{ hop: 'nginx', cause: 'idle_timeout', atMs: 1_000 } as const]
    expect((await shown({ wouldCut }))['WOULD BE CUT']).toBe('nginx idle at 1.0 s')
    expect(await shown({})).not.toHaveProperty('WOULD BE CUT')
  })
  test('asks where it is told to, with the token [cli.calls]', async () => {
    await typed('calls --open --admin http://10.0.0.7:1', { ...one, env: { IMPATIENT_ADMIN_TOKEN: 't' } })
    expect(asked.at(-1)).toEqual({ url: 'http://10.0.0.7:1/api/v1/calls?open=true', headers: { Authorization: 'Bearer t' } })
    await typed('calls', { ...one, env: { IMPATIENT_ADMIN: '0.0.0.0:99' } })
    expect(asked.at(-1)?.url).toBe('http://127.0.0.1:99/api/v1/calls')
    await typed('calls --admin [::1]:5', { ...one, env: { IMPATIENT_ADMIN: ':99' } })
    expect(asked.at(-1)?.url).toBe('http://[::1]:5/api/v1/calls')
  })
  test.each([
    ['calls', () => Promise.reject(new TypeError('fetch failed')), 3, 'no sidecar answers at http://127.0.0.1:8475: start one with'],
    ['calls', async () => ({ status: 401, text: '' }), 2, 'wants its token: set IMPATIENT_ADMIN_TOKEN'],
    ['calls', async () => ({ status: 500, text: '{"detail":"of itself"}' }), 3, 'answered 500: of itself'],
    ['calls', async () => ({ status: 200, text: '<html>' }), 3, 'answered no JSON'],
    ['calls', async () => ({ status: 200, text: '{}' }), 3, 'the answer has no calls'],
    ['calls --admin http://h/api', async () => ({ status: 200, text: '{}' }), 2, '--admin: expected an origin'],
    [
      'calls --admin',
      async () => ({ status: 200, text: '{}' }),
      2,
      '--admin: expected an origin such as http://127.0.0.1:3000, got nothing',
    ],
  ])('%s where it cannot: one line [cli.calls] (%#)', async (line, get, code, said) => {
    const typedOut = await typed(line, { get })
    expect({ code: typedOut.code, out: typedOut.out }).toEqual({ code, out: '' })
    expect(typedOut.err).toContain(said)
    expect(typedOut.err.trimEnd().split('\n')).toHaveLength(1)
  })
})

test('validate: valid is said on stdout; a mistake is a line with its place, and exit code 2 [cli.validate]', async () => {
  const files = {
    'good.yaml': 'upstream: http://h\n',
    'lacks.yaml': 'mode: act\n',
    'bad.yaml': 'mode: act\npath:\n  - hop: nginx\n    with: { idle: { aftr: 3s } }\n',
  }
  expect(await typed('validate good.yaml', { files })).toEqual({ code: 0, out: 'good.yaml: a valid configuration\n', err: '' })
  const lacks = await typed('validate lacks.yaml', { files })
  expect([lacks.code, lacks.out]).toEqual([0, 'lacks.yaml: a valid configuration\n'])
  expect(lacks.err).toMatch(/^impatient-hop: lacks\.yaml: no upstream: give --upstream/)
  const { code, out, err } = await typed('validate bad.yaml', { files })
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(/^impatient-hop: bad\.yaml:4 path\[0\]\.with\.idle\.aftr: unknown key "aftr"; did you mean "after"\?\n$/)
  expect((await typed('validate none.yaml', { files })).err).toContain(
    'none.yaml: expected a configuration file, but there is no such file',
  )
})
test('schema prints JSON alone; completion a script for this command [cli.schema] [cli.completion]', async () => {
  expect(JSON.parse((await typed('schema')).out).title).toBe('impatient-hop')
  expect((await typed('completion')).out).toMatch(/complete .*impatient-hop/)
  const { out } = await typed('--get-yargs-completions impatient-hop hops show ngin')
  expect(out).toContain('nginx-gzip')
})

test('demo: runs with a sidecar of its own, and its code is the command’s', async () => {
  const stops: string[] = []
  const { code, out } = await typed('demo --serve', {
    startApp: async () => fakeApp({ stop: async () => void stops.push('stopped') }),
    runDemo: async ({ isServing }, { startSidecar, print }) => {
      const sidecar = await startSidecar({} as never)
      print(`${isServing} ${sidecar.url} ${sidecar.adminUrl}`)
      await sidecar.stop()
      return 1
    },
  })
  expect({ code, out, stops }).toEqual({ code: 1, out: 'true http://127.0.0.1:8080/ http://127.0.0.1:8475/\n', stops: ['stopped'] })
})
