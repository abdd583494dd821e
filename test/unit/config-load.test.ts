/** Settings put together: who wins, what is refused, and in which words. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: files write variables so
import { describe, expect, test } from 'vitest'
import type { FlagValues } from '../../src/config/given.ts'
import { loadSettings } from '../../src/config/load.ts'
import type { Settings } from '../../src/config/snapshot.ts'
import { fileReader } from '../support/cli-world.ts'

interface Given {
  readonly flags?: FlagValues
  readonly env?: Readonly<Record<string, string>>
  readonly file?: string
}
const load = ({ flags = {}, env = {}, file }: Given) =>
  loadSettings({
    flags: file === undefined ? flags : { config: 'c.yaml', ...flags },
    env,
    readFile: fileReader(file === undefined ? {} : { 'c.yaml': file }),
    drawSeed: () => 42,
  })
const settingsOf = (given: Given): Settings => {
  const loaded = load({ ...given, flags: { upstream: 'http://127.0.0.1:3000', ...given.flags } })
  if ('errors' in loaded) throw new Error(loaded.errors.join('\n'))
  return loaded.settings
}
const errorsOf = (given: Given): readonly string[] => {
  const loaded = load(given)
  return 'errors' in loaded ? loaded.errors : []
}
const warningsOf = (given: Given): readonly string[] => {
  const loaded = load({ ...given, flags: { upstream: 'http://127.0.0.1:3000', ...given.flags } })
  return 'errors' in loaded ? [...loaded.errors] : loaded.warnings
}

test('the defaults are those the documentation names', () => {
  expect(settingsOf({})).toEqual({
    listen: { host: '127.0.0.1', port: 8080 },
    upstream: new URL('http://127.0.0.1:3000'),
    upstreamEngine: 'http-proxy',
    admin: { listen: { host: '127.0.0.1', port: 8475 }, token: null },
    metrics: { listen: null, toolsMax: 50 },
    otlp: {
      listen: { host: '127.0.0.1', port: 4318 },
      grpc: { host: '127.0.0.1', port: 4317 },
      forwardTo: null,
      isDefault: true,
      isGrpcDefault: true,
    },
    events: null,
    drainMs: 20_000,
    log: { level: 'info', format: 'text' },
    limits: { heldBytesPerExchange: 16_777_216, heldBytesTotal: 268_435_456 },
    snapshot: {
      mode: 'act',
      path: [],
      work: { graceMs: 2_000, afterCut: 'hang-up', waitMs: 60_000, inject: 'header', match: [] },
      seed: 42,
    },
    file: null,
  })
})

test('flag over environment over file over default [config.precedence]', () => {
  const file = 'listen: :1\nmode: shadow\nwork: { grace: 1s, inject: meta, afterCut: drain, wait: 5s }\n'
  const env = { IMPATIENT_LISTEN: ':2', IMPATIENT_GRACE: '2500ms', IMPATIENT_MODE: '' }
  const { listen, snapshot } = settingsOf({ file, env, flags: { listen: ':3' } })
  expect(listen.port).toBe(3)
  expect(snapshot.work).toEqual({ graceMs: 2_500, inject: 'meta', afterCut: 'drain', waitMs: 5_000, match: [] })
  expect(snapshot.mode).toBe('shadow')
  expect(settingsOf({ file, env }).listen.port).toBe(2)
  expect(settingsOf({ file }).listen.port).toBe(1)
})
test('every flag reaches its setting', () => {
  const settings = settingsOf({
    flags: {
      admin: '127.0.0.1:1',
      'metrics-listen': ':2',
      otlp: 'none',
      'otlp-grpc': '127.0.0.1:3',
      events: '-',
      'events-max': '1MiB',
      drain: '0s',
      'log-level': 'debug',
      'log-format': 'json',
      seed: '7',
      mode: 'shadow',
      grace: '3s',
      'after-cut': 'drain',
      inject: 'both',
    },
  })
  expect(settings).toMatchObject({
    admin: { listen: { port: 1 } },
    metrics: { listen: { host: '0.0.0.0', port: 2 } },
    otlp: { listen: null, grpc: { port: 3 }, isDefault: false, isGrpcDefault: false },
    events: { file: '-', bytesMax: 1_048_576 },
    drainMs: 0,
    log: { level: 'debug', format: 'json' },
    snapshot: { seed: 7, mode: 'shadow', work: { graceMs: 3_000, afterCut: 'drain', inject: 'both' } },
  })
})
test('all of a file, JSON as well', () => {
  const file = JSON.stringify({
    upstream: 'https://mcp.example.com',
    metrics: { listen: '[::]:9465', tools: 5 },
    otlp: { grpc: 'none', forwardTo: 'http://collector:4318' },
    path: [{ hop: 'custom', with: { total: { after: '1m' } } }],
    faults: [],
    work: { match: [] },
  })
  const loaded = load({ file })
  expect('settings' in loaded ? loaded.settings : loaded.errors).toMatchObject({
    upstream: new URL('https://mcp.example.com'),
    metrics: { listen: { host: '::', port: 9465 }, toolsMax: 5 },
    otlp: { listen: { port: 4318 }, grpc: null, forwardTo: new URL('http://collector:4318'), isDefault: true, isGrpcDefault: false },
    snapshot: { path: [{ name: 'path[0]:custom', total: { afterMs: 60_000 } }] },
    file: 'c.yaml',
  })
})

test('the upstream engine: flag over variable over file; another is refused with those there are [engine.choice]', () => {
  const file = 'upstreamEngine: direct\n'
  const env = { IMPATIENT_UPSTREAM_ENGINE: 'http-proxy' }
  expect(settingsOf({ file }).upstreamEngine).toBe('direct')
  expect(settingsOf({ file, env }).upstreamEngine).toBe('http-proxy')
  expect(settingsOf({ file, env, flags: { 'upstream-engine': 'direct' } }).upstreamEngine).toBe('direct')
  expect(errorsOf({ flags: { upstream: 'http://h', 'upstream-engine': 'curl' } })[0]).toMatch(/^--upstream-engine: .*http-proxy.*direct/)
  expect(errorsOf({ file: 'upstream: http://h\nupstreamEngine: curl\n' })[0]).toMatch(/^c\.yaml:2 upstreamEngine: .*http-proxy.*direct/)
})

describe('the path', () => {
  const file = 'path:\n  - hop: caddy\n  - hop: nginx\n    with: { idle: { after: 20s } }\n'
  const presets = (settings: Settings) => settings.snapshot.path.map(({ preset }) => preset)

  test('from the file, client side first, with its changes', () => {
    const { path } = settingsOf({ file }).snapshot
    expect(path.map(({ name }) => name)).toEqual(['path[0]:caddy', 'path[1]:nginx'])
    expect(path[1]?.idle).toMatchObject({ afterMs: 20_000, counts: 'bytes' })
  })
  test("--hop replaces the file's, also as a list in a variable [config.hop-replaces-path] [config.mirror]", () => {
    expect(presets(settingsOf({ file, flags: { hop: ['envoy'] } }))).toEqual(['envoy'])
    const { path } = settingsOf({ file, env: { IMPATIENT_HOP: 'cloudflare,nginx:idle.after=5s' } }).snapshot
    expect(path.map(({ preset, idle }) => [preset, idle?.afterMs])).toEqual([
      ['cloudflare', 100_000],
      ['nginx', 5_000],
    ])
  })
  test('timers and buffer make one custom hop, last: nearest the server [config.custom-hop]', () => {
    const flags = { 'header-timeout': '1s', 'idle-timeout': '2s', 'max-duration': '3s', ending: 'rst', buffer: '4KiB' }
    const { path } = settingsOf({ file, flags }).snapshot
    expect(path.map(({ name }) => name)).toEqual(['path[0]:caddy', 'path[1]:nginx', 'path[2]:custom'])
    expect(path[2]).toMatchObject({
      headers: { afterMs: 1_000 },
      idle: { afterMs: 2_000, ending: 'rst' },
      total: { afterMs: 3_000, ending: 'rst' },
      buffering: { mode: { bytes: 4_096 } },
    })
    expect(settingsOf({ flags: { hop: ['nginx'], buffer: 'one-behind' } }).snapshot.path[1]).toMatchObject({
      preset: 'custom',
      buffering: { mode: 'one-behind' },
    })
  })
  test('what no hop has, or is none, is told with its place [cli.bad-file]', () => {
    const bad = 'upstream: http://h\npath:\n  - hop: caddy\n  - hop: ngnix\n  - hop: nginx\n    with:\n      idle: { after: 20 }\n'
    expect(errorsOf({ file: bad })).toEqual([
      expect.stringMatching(/^c\.yaml:7 path\[2\]\.with\.idle\.after: expected a duration such as "30s", got 20: .*write "20s"/),
      'c.yaml:4 path[1].hop: unknown hop "ngnix"; did you mean "nginx"?',
    ])
    expect(errorsOf({ file: bad.replace('20 }', '20s }') })).toEqual(['c.yaml:4 path[1].hop: unknown hop "ngnix"; did you mean "nginx"?'])
    const upstream = { upstream: 'http://h' }
    expect(errorsOf({ flags: { ...upstream, hop: ['ngnix', 'nginx:idle.aftr=3s', 'no hop'] } })).toEqual([
      expect.stringMatching(/^--hop: nginx:idle\.aftr: unknown key "aftr"; did you mean "after"\?/),
      expect.stringMatching(/^--hop: expected NAME or NAME:LIMIT\.after=DURATION.*got "no hop"/),
      '--hop: unknown hop "ngnix"; did you mean "nginx"?',
    ])
    expect(errorsOf({ flags: { ...upstream, hop: ['custom:idle.ending=rst'] } })[0]).toMatch(
      /^--hop: custom:idle\.after: expected a duration/,
    )
    expect(errorsOf({ flags: { ...upstream, buffer: 'ful' } })[0]).toMatch(
      /^--buffer: expected full, one-behind, a size.*did you mean "full"/,
    )
  })
  test('an ending without a cut of one’s own is worth a word', () => {
    expect(warningsOf({ flags: { ending: 'rst', hop: ['nginx'] } })).toEqual([expect.stringContaining('--ending has nothing to end')])
    expect(warningsOf({ flags: { ending: 'rst', 'idle-timeout': '1s' } })).toEqual([])
  })
})

describe('refusals', () => {
  test('no upstream: what to give, and how', () => {
    expect(errorsOf({})).toEqual([expect.stringMatching(/^upstream: expected the MCP server's origin, got nothing: give --upstream http/)])
  })
  test('several mistakes at once, in flags, environment and file [config.several-errors] [cli.bad-duration]', () => {
    const errors = errorsOf({
      file: 'lisen: :1\nmode: acts\nadmin:\n  listen: 8475\nmetrics: { tools: many }\n',
      flags: { 'idle-timeout': '60' },
      env: { IMPATIENT_GRACE: 'long' },
    })
    expect(errors).toEqual([
      expect.stringMatching(/^c\.yaml:1 lisen: unknown key "lisen"; did you mean "listen"\?/),
      expect.stringMatching(/^c\.yaml:2 mode: expected act, shadow, got "acts"; did you mean "act"\?/),
      expect.stringMatching(/^c\.yaml:4 admin\.listen: expected an address .*got 8475: write 127\.0\.0\.1:8475/),
      expect.stringMatching(/^c\.yaml:5 metrics\.tools: expected a number of tools, got "many"/),
      expect.stringMatching(/^--idle-timeout: expected a duration/),
      expect.stringMatching(/^IMPATIENT_GRACE: expected a duration/),
    ])
  })
  test('a file that is none, is away, or is not YAML [cli.bad-file]', () => {
    expect(errorsOf({ flags: { config: 'nope.yaml' } })).toEqual(['nope.yaml: expected a configuration file, but there is no such file'])
    expect(errorsOf({ file: 'listen: [\n' })[0]).toMatch(/^c\.yaml:2:1 a bracket is not closed/)
    expect(errorsOf({ file: '- a\n' })[0]).toMatch(/^c\.yaml:1 expected an object with listen, upstream/)
    expect(errorsOf({ file: 'listen: :1\nlisten: :2\n' })[0]).toBe('c.yaml:2:1 the key listen is given twice: keep one of them')
  })
  test('YAML that is none, and aliases that lead nowhere, round or without end: a line each, with line and column [config.yaml-words]', () => {
    const said = (file: string): readonly string[] => errorsOf({ file, flags: { upstream: 'http://h' } })
    expect(said('mode: *x\n')).toEqual(['c.yaml:1:7 *x stands for nothing: expected &x at an earlier place'])
    expect(said('mode: act\npath: &p [*p]\n')).toEqual(['c.yaml:2:11 *p stands for what it is part of: write its value here'])
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x]',
      ...[...'bcdefghi'].map((name, n) => `${name}: &${name} [${`*${'abcdefgh'[n]}, `.repeat(9)}]`),
    ]
    expect(said(bomb.join('\n'))).toEqual([
      'c.yaml:2:8 expected aliases (*name) that give 100 values at most: write out what they stand for',
    ])
    expect(said('mode: act\nadmin:\n\tlisten: :1\n')[0]).toBe('c.yaml:3:1 expected spaces before it, got a tab: indent with spaces')
    expect(said('path:\n  - hop: nginx: x\n')[0]).toMatch(/^c\.yaml:2:10 expected one "key: value" a line/)
    expect(said('mode: "act\n')[0]).toMatch(/^c\.yaml:\d:\d+ a quote is not closed/)
    expect(said('path: [1\n')[0]).toMatch(/^c\.yaml:\d:\d+ a bracket is not closed/)
    expect(said('mode: @act\n')[0]).toBe('c.yaml:1:7 a value cannot start with "@": put it in quotes')
    expect(said('mode: act\n---\nmode: act\n')[0]).toMatch(/^c\.yaml:2:1 expected one document/)
    expect(said(`path: ${'['.repeat(20_000)}`)).toHaveLength(1)
    expect(said('path:\n  - &n { hop: nginx }\n  - *n\n')).toEqual([])
  })
  test('an unknown hop and a name given twice are told together with what the schema refuses [config.several-errors]', () => {
    const file =
      'mode: acts\npath:\n  - hop: nignx\n    with: { idle: { aftr: 5s } }\n  - hop: cloudfare\nfaults:\n' +
      '  - { name: a, do: { refuse: {} } }\n  - { name: a, do: { cutt: {} } }\n'
    expect(errorsOf({ file })).toEqual([
      expect.stringMatching(/^c\.yaml:1 mode: /),
      expect.stringMatching(/^c\.yaml:4 path\[0\]\.with\.idle\.aftr: unknown key/),
      expect.stringMatching(/^c\.yaml:8 faults\[1\]\.do\.cutt: unknown key/),
      expect.stringMatching(/^c\.yaml:3 path\[0\]\.hop: unknown hop "nignx"/),
      expect.stringMatching(/^c\.yaml:5 path\[1\]\.hop: unknown hop "cloudfare"/),
      'c.yaml:8 faults[1].name: "a" is already the name of faults[0]: give each its own',
    ])
  })
  test('matchers of spans: an attribute and its value, or a pattern of the name [cli.span-matchers]', () => {
    const file = 'upstream: http://h\nwork:\n  match:\n    - { attribute: job.kind, equals: render }\n    - name: "job *"\n'
    expect(settingsOf({ file }).snapshot.work.match).toEqual([{ attribute: 'job.kind', equals: 'render' }, { name: 'job *' }])
    expect(errorsOf({ file: `${file}    - { attribute: job.kind }\n` })[0]).toMatch(/^c\.yaml:6 work\.match\[2\]/)
    expect(errorsOf({ file: 'upstream: http://h\nfaults: []\nsafety: {}\n' })).toEqual([])
  })
  test('an upstream with a path, in the file too [cli.upstream-path]', () => {
    expect(errorsOf({ file: 'upstream: http://h/mcp\n' })[0]).toMatch(
      /^c\.yaml:1 upstream: .*leave "\/mcp" out, the client's path is passed on/,
    )
    expect(errorsOf({ flags: { upstream: 'http://h/mcp' } })).toEqual([expect.stringMatching(/^--upstream: .*leave "\/mcp" out/)])
  })
  test('ports that meet, and an upstream that is the sidecar itself', () => {
    const upstream = { upstream: 'http://127.0.0.1:8080' }
    expect(errorsOf({ flags: upstream })[0]).toMatch(/^upstream: http:\/\/127\.0\.0\.1:8080 is where the sidecar itself listens/)
    expect(errorsOf({ flags: { upstream: 'http://localhost:80', listen: ':80' } })[0]).toMatch(/where the sidecar itself listens/)
    expect(errorsOf({ flags: { upstream: 'http://[::1]', listen: '[::]:80' } })[0]).toMatch(/where the sidecar itself listens/)
    expect(errorsOf({ flags: { upstream: 'http://10.0.0.1:8080' } })).toEqual([])
    expect(errorsOf({ flags: { upstream: 'http://h', admin: '127.0.0.1:8080' } })).toEqual([
      'admin.listen: 127.0.0.1:8080 is already used by listen: give each its own port',
    ])
    expect(errorsOf({ flags: { upstream: 'http://h', admin: '127.0.0.1:0', listen: '127.0.0.1:0' } })).toEqual([])
  })
})

describe('the admin port', () => {
  const open = { upstream: 'http://h', admin: '0.0.0.0:8475' }
  test('beyond loopback it needs a token [config.admin-token]', () => {
    expect(errorsOf({ flags: open })).toEqual([
      'admin.listen: 0.0.0.0:8475 is reachable from other machines and has no token: set IMPATIENT_ADMIN_TOKEN or admin.token, or listen on 127.0.0.1',
    ])
    expect(errorsOf({ flags: open, env: { IMPATIENT_ADMIN_TOKEN: '' } })).toHaveLength(1)
    expect(settingsOf({ flags: open, env: { IMPATIENT_ADMIN_TOKEN: 't' } }).admin.token).toBe('t')
    expect(settingsOf({ flags: open, file: 'admin: { token: "${T}" }', env: { T: 'x' } }).admin.token).toBe('x')
  })
  test('in Kubernetes that is a warning [config.admin-token]', () => {
    const loaded = load({ flags: open, env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } })
    expect('warnings' in loaded ? loaded.warnings : loaded.errors).toEqual([expect.stringContaining('has no token; allowed in Kubernetes')])
  })
})

describe('variables in a file', () => {
  test('an unset one is told beside the other mistakes, once [config.variables]', () => {
    const file = 'upstream: "${UP}"\nadmin:\n  token: "${NOPE}"\nmode: x\n'
    expect(errorsOf({ file })).toEqual([
      expect.stringMatching(/^c\.yaml:1 upstream: expected the environment variable UP to be set/),
      expect.stringMatching(/^c\.yaml:3 admin\.token: expected the environment variable NOPE to be set/),
      expect.stringMatching(/^c\.yaml:4 mode: /),
    ])
    const loaded = load({ file: 'upstream: "${UP}"', env: { UP: 'http://up:1' } })
    expect('settings' in loaded ? loaded.settings.upstream.origin : loaded.errors).toBe('http://up:1')
  })
  test('what is ignored is told of a configuration that is refused as well [config.unknown-variable]', () => {
    for (const file of ['mode: acts\n', 'mode: act\n']) {
      const loaded = load({ file, env: { IMPATIENT_UPSTRAEM: 'http://h' } })
      expect('errors' in loaded && loaded.warnings).toEqual([
        'ignored, for nothing reads it: IMPATIENT_UPSTRAEM (did you mean IMPATIENT_UPSTREAM?)',
      ])
    }
  })
  test('a variable the file refers to is no unknown one; others are one warning [config.unknown-variable]', () => {
    const file = 'admin: { token: "${IMPATIENT_SECRET}" }'
    expect(warningsOf({ file, env: { IMPATIENT_SECRET: 's' } })).toEqual([])
    expect(warningsOf({ env: { IMPATIENT_SECRET: 's', IMPATIENT_X: '1', IMPATIENT_HOP_PORT: 'tcp://x' } })).toEqual([
      'ignored, for nothing reads them: IMPATIENT_SECRET, IMPATIENT_X',
    ])
  })
})
