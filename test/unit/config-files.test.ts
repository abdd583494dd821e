/** The committed configuration files: the example is valid and runs, the JSON Schema is the one the code makes. */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { settingsJsonSchema } from '../../src/config/json-schema.ts'
import { loadSettings } from '../../src/config/load.ts'
import { validateFile } from '../../src/config/validate.ts'

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const EXAMPLE = 'config/impatient-hop.example.yaml'
const example = read(EXAMPLE)

/** As its reader would uncomment it: lines of configuration behind a `# `, prose left alone. */
const uncommented = example.replace(/^( *)# (( *)(- )?\w+:( |$).*)$/gm, '$1$2').replace(/^act: .*$|^ *yaml-language-server.*$/gm, '')

test('the example runs as it stands [config.example]', () => {
  const loaded = loadSettings({ flags: { config: EXAMPLE }, env: {}, readFile: read })
  expect('errors' in loaded ? loaded.errors : loaded.warnings).toEqual([])
  if ('settings' in loaded) expect(loaded.settings.snapshot.path.map(({ name }) => name)).toEqual(['path[0]:cloudflare', 'path[1]:nginx'])
})
test('what the example has commented out is valid as well [config.example]', () => {
  for (const key of ['token:', 'listen: 0.0.0.0:9465', 'otlp:', 'forwardTo:', 'hop: custom', 'mode: bytes'])
    expect(uncommented).toMatch(new RegExp(`^[^#]*${key}`, 'm'))
  expect(validateFile('example', { IMPATIENT_ADMIN_TOKEN: 't' }, () => uncommented)).toEqual({ kind: 'configuration' })
})
test('the committed JSON Schema is the generated one: impatient-hop schema > config/impatient-hop.schema.json [cli.schema]', () => {
  expect(read('config/impatient-hop.schema.json')).toBe(settingsJsonSchema())
})
test('the JSON Schema is draft 7, takes the example, and refuses what the code refuses [cli.schema]', () => {
  const schema = JSON.parse(settingsJsonSchema())
  expect(schema.$schema).toBe('http://json-schema.org/draft-07/schema#')
  const accepts = new Ajv({ strict: false, formats: { 'date-time': true } }).compile(schema)
  for (const text of [example, uncommented]) expect([accepts(parse(text)), accepts.errors]).toEqual([true, null])
  for (const bad of [
    { lisen: 'x' },
    { mode: 'acts' },
    { path: [{ hop: 'x', with: { idle: { after: 30 } } }] },
    { faults: [{}] },
    { safety: { affectedMax: 50 } },
  ])
    expect(accepts(bad)).toBe(false)
})
test('a hop of one’s own is told from a configuration [cli.validate]', () => {
  const validate = (text: string) => validateFile('h.yaml', {}, () => text)
  expect(validate('title: mine\nidle: { after: 5s }\n')).toEqual({ kind: 'hop' })
  expect(validate('title: mine\nidle: { aftr: 5s }\n')).toEqual({
    errors: [expect.stringMatching(/^h\.yaml:2 idle\.aftr: unknown key "aftr"/)],
  })
  expect(validate('path: [{ hop: nope }]\n')).toEqual({ errors: [expect.stringMatching(/^h\.yaml:1 path\[0\]\.hop: unknown hop "nope"/)] })
  const note = 'h.yaml: no upstream: give --upstream http://127.0.0.1:3000, or upstream: in this file'
  expect(validate('')).toEqual({ kind: 'configuration', notes: [note] })
})
test('validate refuses what run refuses [cli.validate]', () => {
  const validate = (text: string) => validateFile('c.yaml', {}, () => text)
  expect(validate('upstream: http://h\nadmin: { listen: 0.0.0.0:8475 }\n')).toEqual({
    errors: [expect.stringMatching(/^admin\.listen: 0\.0\.0\.0:8475 is reachable from other machines and has no token/)],
  })
  expect(validate('upstream: http://127.0.0.1:8080\n')).toEqual({
    errors: [expect.stringMatching(/is where the sidecar itself listens/)],
  })
  expect(validate('listen: 127.0.0.1:8475\n')).toEqual({ errors: [expect.stringMatching(/^admin\.listen: .* is already used by listen/)] })
  expect(validate('mode: acts\npath: [{ hop: nope }]\n')).toEqual({
    errors: [expect.stringMatching(/^c\.yaml:1 mode/), expect.stringMatching(/^c\.yaml:2 path\[0\]\.hop: unknown hop "nope"/)],
  })
})
test('faults are checked: their form, their names, and what safety keeps out [cli.validate]', () => {
  const validate = (text: string) => validateFile('f.yaml', {}, () => text)
  const rule = (name: string, more = '') => `  - { name: ${name}, do: { cut: { after: { events: 3 }, ending: rst } }${more} }\n`
  expect(validate(`upstream: http://h\nfaults:\n${rule('a')}${rule('b', ', for: 10m')}`)).toEqual({ kind: 'configuration' })
  expect(validate(`faults:\n${rule('a')}  - { name: b, do: { cutt: {} } }\n`)).toEqual({
    errors: [expect.stringMatching(/^f\.yaml:3 faults\[1\]\.do\.cutt: unknown key "cutt"; did you mean "cut"\?/)],
  })
  expect(validate(`safety: { requireUntil: true }\nfaults:\n${rule('a', ', for: 10m')}${rule('a')}`)).toEqual({
    errors: [
      'f.yaml:4 faults[1].name: "a" is already the name of faults[0]: give each its own',
      expect.stringMatching(/^f\.yaml:4 faults\[1\]\.for: expected an end/),
    ],
  })
})
