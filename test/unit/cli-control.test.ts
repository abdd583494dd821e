/** The commands that steer a running sidecar: what each asks of the admin API, what it prints, how it ends. */
import { expect, test } from 'vitest'
import type { World } from '../../src/cli/world.ts'
import { appRig } from '../support/app-rig.ts'
import type { Asked } from '../support/cli-world.ts'
import { typed } from '../support/cli-world.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, progressEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'

type Sent = Parameters<NonNullable<World['send']>>[0]
/** Writes down what is sent, and answers it so. */
function answering(status: number, json: unknown, more: Asked = {}) {
  const sent: { method: string; url: string; headers: object; body: unknown }[] = []
  const text = typeof json === 'string' ? json : JSON.stringify(json)
  const asked: Asked = {
    get: async (url, headers) => {
      sent.push({ method: 'GET', url, headers, body: null })
      return { status, text }
    },
    send: async ({ body, ...rest }: Sent) => {
      sent.push({ ...rest, body: body === null ? null : JSON.parse(body) })
      return { status, text }
    },
    ...more,
  }
  return { asked, sent, bodies: () => sent.map(({ body }) => body) }
}
const added = { name: 'c', expiresAt: null }

test.each([
  ['faults add cut --name c --set after.events=3 --set ending=rst', { name: 'c', do: { cut: { after: { events: 3 }, ending: 'rst' } } }],
  [
    'faults add hide-disconnect --name c --announce --at server --for 10m',
    { name: 'c', do: { 'hide-disconnect': {} }, at: 'server', for: '10m', announce: true },
  ],
  [
    'faults add idle-timeout --name c --set after=60s --when tool=search_* --when header:x-tenant=7 --when nth=3,5 --when probability=0.25 --when method=tools/call',
    {
      name: 'c',
      when: { tool: 'search_*', headers: { 'x-tenant': '7' }, nth: [3, 5], probability: 0.25, method: 'tools/call' },
      do: { 'idle-timeout': { after: '60s' } },
    },
  ],
  [
    'faults add respond --name c --set status=503 --set headers.Retry-After=7 --until 2030-01-01T00:00:00Z',
    { name: 'c', do: { respond: { status: 503, headers: { 'Retry-After': 7 } } }, until: '2030-01-01T00:00:00Z' },
  ],
])('%s [faults2.cli-faults]', async (line, rule) => {
  const { asked, sent } = answering(201, added)
  const { code, out, err } = await typed(line, asked)
  expect([code, err, out]).toEqual([0, '', 'Added c: exchanges opened from now on meet it.\n'])
  expect(sent).toMatchObject([{ method: 'POST', url: 'http://127.0.0.1:8475/api/v1/faults', body: rule }])
})

test('faults add --file: one, a list, or a configuration; from a file or stdin, YAML or JSON [faults2.cli-faults]', async () => {
  const rule = { name: 'c', do: { refuse: {} } }
  for (const [name, text, count] of [
    ['f.yaml', '{ name: c, do: { refuse: {} } }', 1],
    ['f.json', JSON.stringify([rule, rule]), 2],
    ['f.yaml', 'faults:\n  - name: c\n    do: { refuse: {} }\nmode: act\n', 1],
    ['-', 'name: c\ndo:\n  refuse: {}\n', 1],
  ] as const) {
    const at = answering(201, added, name === '-' ? { input: text } : { files: { [name]: text } })
    expect((await typed(`faults add --file ${name}`, at.asked)).code).toBe(0)
    expect(at.bodies()).toEqual(Array.from({ length: count }, () => rule))
  }
  const none = await typed('faults add --file gone.yaml', answering(201, added).asked)
  expect([none.code, none.err]).toEqual([2, 'impatient-hop: --file: expected a file, but gone.yaml cannot be read\n'])
  const broken = await typed('faults add --file f.yaml', answering(201, added, { files: { 'f.yaml': 'a: [' } }).asked)
  expect([broken.code, broken.err]).toMatchObject([2, expect.stringMatching(/^impatient-hop: f\.yaml:1:5 a bracket is not closed/)])
})

test('faults list: a table with what matched and what never did; --json as the API has it [faults2.cli-faults]', async () => {
  const tally = { matched: 0, fired: 0, skipped: 0, exempt: 0, capped: 0 }
  const json = {
    stopped: true,
    faults: [
      {
        name: 'third',
        when: { tool: 'search_*', nth: [3] },
        do: { cut: { after: { events: 3 }, ending: 'rst' } },
        enabled: true,
        origin: 'file',
        expiresAt: null,
        tally,
      },
      {
        name: 'slow',
        do: { latency: { delay: '1s' } },
        enabled: false,
        origin: 'api',
        expiresAt: '2030-01-01T00:00:00.000Z',
        tally: { ...tally, matched: 9, fired: 7, capped: 2 },
      },
    ],
  }
  const { out, code } = await typed('faults list', answering(200, json).asked)
  expect([code, out.split('\n').map((line) => line.split(/ {2,}/))]).toEqual([
    0,
    [
      ['NAME', 'DOES', 'WHEN', 'FROM', 'ENDS', 'MATCHED', 'ACTED', 'NOTE'],
      ['third', 'cut after.events=3 ending=rst', 'tool=search_* nth=3', 'file', '-', '0', '0', 'never matched'],
      ['slow', 'latency delay=1s', 'every exchange', 'api', '2030-01-01T00:00:00.000Z', '9', '7', 'off, capped 2'],
      ['Stopped: none of them acts until impatient-hop resume.'],
      [''],
    ],
  ])
  expect((await typed('faults', answering(200, { faults: [] }).asked)).out).toBe('No faults.\n')
  expect(JSON.parse((await typed('faults list --json', answering(200, json).asked)).out)).toEqual(json)
})

test('path set, show and reset [faults2.cli-path]', async () => {
  const at = answering(200, { path: [], stopped: true, expiresAt: '2030-01-01T00:00:00.000Z' })
  const { code, out } = await typed('path set cloudflare,nginx:idle.after=20s:buffering.mode=full --for 10m', at.asked)
  expect([code, out]).toEqual([
    0,
    "client → server: no hop, no limit of its own\nstopped: nothing is in force until impatient-hop resume\nuntil 2030-01-01T00:00:00.000Z, then the file's\n",
  ])
  await typed('path set none', at.asked)
  await typed('path set --file p.yaml', { ...at.asked, files: { 'p.yaml': 'path:\n  - hop: nginx\n    with: { idle: { after: 5s } }\n' } })
  await typed('path reset', at.asked)
  expect(at.sent.map(({ method, body }) => [method, body])).toEqual([
    ['PUT', { path: [{ hop: 'cloudflare' }, { hop: 'nginx', with: { idle: { after: '20s' }, buffering: { mode: 'full' } } }], for: '10m' }],
    ['PUT', { path: [] }],
    ['PUT', { path: [{ hop: 'nginx', with: { idle: { after: '5s' } } }] }],
    ['DELETE', null],
  ])
})

test('stop, resume and cut with filters [faults2.cli-stop]', async () => {
  const at = answering(200, { stopped: true, cut: 3 })
  expect((await typed('stop', at.asked)).out).toMatch(/pass-through until impatient-hop resume/)
  expect((await typed('resume', at.asked)).out).toMatch(/^Resumed/)
  expect(
    (
      await typed(
        'cut --tool search_* --older-than 30s --kind call --client a --revision 2025-* --method tools/call --id c4 --ending rst',
        at.asked,
      )
    ).out,
  ).toBe('Cut 3 open streams.\n')
  await typed('cut --all', at.asked)
  expect(at.sent.map(({ url, body }) => [url.replace('http://127.0.0.1:8475/api/v1', ''), body])).toEqual([
    ['/stop', null],
    ['/resume', null],
    [
      '/cut',
      { tool: 'search_*', olderThan: '30s', kind: 'call', client: 'a', revision: '2025-*', method: 'tools/call', id: 'c4', ending: 'rst' },
    ],
    ['/cut', { all: true }],
  ])
  expect((await typed('cut --all', answering(200, { cut: 0 }).asked)).out).toBe('No open stream matches.\n')
})

test('the token comes by the environment, the place by --admin; neither is printed [faults2.cli-token]', async () => {
  const at = answering(401, '', { env: { IMPATIENT_ADMIN_TOKEN: 'open-sesame' } })
  const { code, out, err } = await typed('stop --admin http://10.0.0.7:99', at.asked)
  expect([code, out, err]).toEqual([2, '', 'impatient-hop: http://10.0.0.7:99 wants its token: set IMPATIENT_ADMIN_TOKEN\n'])
  expect(at.sent).toMatchObject([{ url: 'http://10.0.0.7:99/api/v1/stop', headers: { Authorization: 'Bearer open-sesame' } }])
  expect(out + err).not.toContain('sesame')
})

test.each([
  ['faults ad', /faults: expected list, add or remove, got "ad"; did you mean "?add/],
  ['faults add', /expected the kind of fault or --file/],
  ['faults add cut', /--name: expected the name/],
  ['faults add cutt --name c', /unknown kind of fault "cutt"; did you mean "?cut/],
  ['faults add cut --name c --set after', /--set: expected KEY=VALUE/],
  ['faults add cut --name c --when =x', /--when: expected KEY=VALUE/],
  ['faults remove', /expected the name of a fault/],
  ['path sett', /path: expected show, set or reset/],
  ['path set', /expected hops or --file/],
  ['path set nginx:idle=3', /path set: expected NAME/],
  ['cut --tool a --tool b --all', /--tool: expected one value/],
] as const)('%s is one line and exit code 2 [faults2.cli-mistakes]', async (line, message) => {
  const { code, err } = await typed(line, answering(200, {}).asked)
  expect(code).toBe(2)
  expect(err).toMatch(message)
  expect(err.trimEnd().split('\n').length).toBe(1)
})

test('what the sidecar refuses is its own line and 2; where none answers 3 [faults2.cli-mistakes]', async () => {
  const problem = {
    type: 'about:blank',
    title: 'Unprocessable Content',
    status: 422,
    detail: 'do.cut.after.time: expected a duration such as "30s", got 2',
  }
  const refused = await typed('faults add cut --name c --set after.time=2', answering(422, problem).asked)
  expect([refused.code, refused.err]).toEqual([2, `impatient-hop: ${problem.detail}\n`])
  expect((await typed('faults remove none', answering(404, { detail: 'name: no fault "none"' }).asked)).code).toBe(2)
  expect((await typed('stop', answering(503, 'busy').asked)).code).toBe(3)
  const away = async (): Promise<never> => {
    throw new Error('ECONNREFUSED')
  }
  const { code, err } = await typed('stop', { send: away })
  expect([code, err]).toMatchObject([3, expect.stringMatching(/no sidecar answers at/)])
})

test('against a running sidecar: add, list, path, cut, stop, resume, remove [faults2.cli-live]', async () => {
  const upstream = await rawServer(async (connection) => {
    await connection.request()
    connection.send(sseHead + chunk(progressEvent(1)))
  })
  const { adminPort, port } = await appRig(upstream.url, { env: { IMPATIENT_ADMIN_TOKEN: 'sesame' } })
  const real: Asked = {
    env: { IMPATIENT_ADMIN_TOKEN: 'sesame', IMPATIENT_ADMIN: `http://127.0.0.1:${adminPort}` },
    get: async (url, headers) => {
      const answer = await fetch(url, { headers })
      return { status: answer.status, text: await answer.text() }
    },
    send: async ({ url, method, headers, body }) => {
      const answer = await fetch(url, { method, headers, ...(body === null ? {} : { body }) })
      return { status: answer.status, text: await answer.text() }
    },
  }
  const run = async (line: string) => {
    const { code, out, err } = await typed(line, real)
    return `${code} ${out}${err}`.trimEnd()
  }
  expect(await run('faults add cut --name c --set after.events=99')).toMatch(/^0 Added c/)
  expect(await run('faults add cut --name c --set after.events=99')).toMatch(/^2 impatient-hop: name: a fault "c" is there already/)
  const client = await rawClient(port)
  client.send(callText())
  await client.until('"progress":1')
  expect(await run('faults list')).toMatch(/c +cut after\.events=99 +every exchange +api +- +1 +0/)
  expect(await run('path set nginx --for 10m')).toMatch(/client → nginx → server\nnginx +idle 1m\neffective: .*\nuntil 20/)
  expect(await run('path set nginxx')).toMatch(/^2 impatient-hop: path\[0\].*nginxx/)
  expect(await run('path reset')).toMatch(/no hop/)
  expect(await run('stop')).toMatch(/^0 Stopped/)
  expect(await run('path show')).toMatch(/stopped/)
  expect(await run('resume')).toMatch(/^0 Resumed/)
  expect(await run('cut --tool render')).toBe('0 Cut 1 open stream.')
  await client.untilEnded()
  expect(await run('faults remove c')).toMatch(/^0 Removed c/)
  expect(await run('faults remove c')).toMatch(/^2 impatient-hop: name: no fault "c"/)
})
