/** `predict` as users type it. */
import { describe, expect, test } from 'vitest'
import { createProgressBar } from '../../src/cli/progress-bar.ts'
import { callRecord } from '../support/call-record.ts'
import { typed } from '../support/cli-world.ts'

const quiet = (id: string, endMs: number) =>
  callRecord({
    id,
    closedMs: endMs,
    timeline: [
      [0, 'headers', 200],
      [endMs, 'event', 200, 'result'],
      [endMs, 'server-over', 'clean'],
    ],
  })
const files = {
  'calls.jsonl': [quiet('c1', 5_000), quiet('c2', 90_000)].map((record) => `${JSON.stringify(record)}\n`).join(''),
  'path.yaml': 'path:\n  - hop: cloudflare\n  - hop: nginx\n    with: { idle: { after: 20s } }\n',
  'bad.yaml': 'path:\n  - hop: ngin\n',
  'none.jsonl': `${JSON.stringify(callRecord({ kind: 'get_sse', requestId: null }))}\n`,
}
const predict = (line: string) => typed(`predict ${line}`, { files })

describe('predict', () => {
  test('all presets, a line each [predict.cli]', async () => {
    const { code, out, err } = await predict('--events calls.jsonl')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^nginx +1 +1 +0 +60\.0 s +idle +200, then cut off +a progress event every 30s$/m)
    expect(out).toMatch(/^cloudflare +2 +0 +0 +-$/m)
    expect(out).toContain('2 calls against 43 paths: --all lists each, --json gives all of it to programs.')
  })
  test("paths of one's own: each --hop is one, the calls that it cuts listed", async () => {
    const { code, out } = await predict('--events calls.jsonl --hop app-service --hop cloudflare,nginx:idle.after=20s')
    expect(code).toBe(0)
    expect(out).toMatch(/^cloudflare,nginx:idle\.after=20s +1 +1 +0 +20\.0 s +nginx idle/m)
    expect(out).toMatch(
      /^c2 +render +cloudflare,nginx:idle\.after=20s +cut +20\.0 s +nginx idle +200, 0 events, then cut off +fin at 20\.0 s +a progress event every 10s$/m,
    )
    expect(out).not.toMatch(/^c1 /m)
  })
  test('the path of a configuration, and every call of it', async () => {
    const { out } = await predict('--events calls.jsonl --config path.yaml --all')
    expect(out).toMatch(/^path\.yaml +1 +1 +0 +20\.0 s/m)
    expect(out).toMatch(/^c1 +render +path\.yaml +survives +-/m)
  })
  test('--json [predict.cli]', async () => {
    const { out } = await predict('--events calls.jsonl --hop nginx --json')
    const { predictions, paths } = JSON.parse(out) as { predictions: object[]; paths: object[] }
    expect(predictions).toMatchObject([
      { call: 'c1', path: 'nginx', verdict: 'survives', atMs: null, seen: { status: 200, hasResult: true, ending: 'clean' } },
      {
        call: 'c2',
        verdict: 'cut',
        atMs: 60_000,
        hop: 'nginx',
        cause: 'idle_timeout',
        told: { atMs: 60_000, ending: 'fin' },
        advice: 'a progress event every 30s',
      },
    ])
    expect(paths).toMatchObject([{ path: 'nginx', survives: 1, cut: 1, unknown: 0 }])
  })
  test('--fail-on is for CI [predict.cli]', async () => {
    expect((await predict('--events calls.jsonl --hop nginx --fail-on cut')).code).toBe(1)
    expect((await predict('--events calls.jsonl --hop app-service --fail-on unknown')).code).toBe(0)
  })
  test.each([
    ['', 'predict: expected --events FILE'],
    ['--events missing.jsonl', 'missing.jsonl: expected a file of calls, but there is no such file'],
    ['--events calls.jsonl --hop ngin', '--hop: unknown hop "ngin"; did you mean "nginx"?'],
    ['--events calls.jsonl --config bad.yaml', 'bad.yaml:2 path[0].hop: unknown hop "ngin"'],
    ['--events calls.jsonl --fail-on cuts', '--fail-on: expected cut or unknown, got "cuts"'],
    ['--events none.jsonl', 'predict: none of the 1 records is a call'],
  ])('bad usage: %s', async (line, expected) => {
    const { code, err, out } = await predict(line)
    expect(code).toBe(2)
    expect(out).toBe('')
    expect(err).toContain(expected)
  })
})

test('a bar where people watch, and none in a pipe [predict.progress-bar]', () => {
  let shown = ''
  const printer = { write: (text: string) => (shown += text), print: () => undefined, paint: (_: unknown, text: string) => text }
  const piped = createProgressBar(printer, 1_000, 'calls')
  piped.at(500)
  piped.clear()
  expect(shown).toBe('')
  const watched = createProgressBar({ ...printer, isTerminal: true }, 1_000, 'calls')
  for (let done = 1; done <= 1_000; done += 1) watched.at(done)
  watched.clear()
  expect(shown.split('\r')).toHaveLength(103) // once a percent, and the line is cleared
  expect(shown).toContain(' 50%  500 of 1000 calls')
  expect(shown.endsWith('\r\x1b[K')).toBe(true)
})
