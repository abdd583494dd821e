/** Hot reload of the whole sidecar: what a changed file does and does not do to open and new exchanges. */
import { renameSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { appRig, yamlOf } from '../support/app-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, progressEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'

const teapot = (name: string, status = 418) => `  - { name: ${name}, do: { respond: { status: ${status} } } }\n`
/** Streams on until it is told to end; others are answered at once. */
const server = () =>
  rawServer(async (connection) => {
    for (;;) {
      const { text } = await connection.request()
      if (text.includes('"stream"')) connection.send(sseHead + chunk(progressEvent(1)))
      else
        connection.send(
          `${headText(200, [
            ['Content-Type', 'application/json'],
            ['Content-Length', '2'],
          ])}{}`,
        )
    }
  })
const LIMIT = { timeout: 15_000, interval: 30 }
const isSaid = (rig: { log: readonly string[] }, what: RegExp) =>
  expect.poll(() => rig.log.filter((line) => what.test(line)).length, LIMIT).toBeGreaterThan(0)
async function statusNow(port: number): Promise<number> {
  const client = await rawClient(port)
  client.send(callText('short'))
  const { status } = await client.response()
  client.close()
  return status
}

test('a changed file touches no open exchange and steers the next; what the API did survives [faults2.reload-live]', async () => {
  const upstream = await server()
  const rig = await appRig(upstream.url, {
    yaml: 'faults:\n  - { name: later, when: { tool: stream }, do: { cut: { after: { events: 2 } } } }\n',
  })
  expect(await rig.metric('impatient_config_last_reload_successful')).toBe(1)
  const open = await rawClient(rig.port)
  open.send(callText('stream'))
  await open.until('"progress":1')
  expect((await rig.api('POST', '/faults', { name: 'mine', do: { headers: { response: { set: { 'X-Mine': '1' } } } } })).status).toBe(201)
  const next = yamlOf(upstream.url, `mode: act\nfaults:\n${teapot('now')}${teapot('mine', 599)}`)
  writeFileSync(`${rig.file}~`, next)
  renameSync(`${rig.file}~`, rig.file)
  await isSaid(rig, /read anew/)
  const names = (await rig.api('GET', '/faults')).json()['faults'] as { name: string; origin: string }[]
  expect(names.map(({ name, origin }) => [name, origin])).toEqual([
    ['now', 'file'],
    ['mine', 'api'],
  ])
  expect(await statusNow(rig.port)).toBe(418)
  for (const connection of upstream.connections) if (connection.text().includes('"stream"')) connection.send(chunk(progressEvent(2)))
  expect((await open.untilEnded()).how).toBe('fin') // by the fault it opened with, gone from the file since
  expect(open.text()).toContain('"progress":2')
})

test('a bad file changes nothing: the log names line and key, and the metric says so until a good one [faults2.reload-bad]', async () => {
  const upstream = await server()
  const rig = await appRig(upstream.url, { yaml: `faults:\n${teapot('a')}` })
  rig.write('faults:\n  - { name: a, do: { respond: { status: 9 } } }\n')
  await isSaid(rig, /^error: .*config\.yaml:6 faults\[0\]\.do\.respond\.status: expected a status/)
  expect(await rig.metric('impatient_config_last_reload_successful')).toBe(0)
  expect(await statusNow(rig.port)).toBe(418)
  rig.write('faults: [ { name: a, do')
  await isSaid(rig, /^error: .*config\.yaml:5/)
  rig.write('path: [ { hop: nginxx } ]\n')
  await isSaid(rig, /^error: .*config\.yaml:5 path\[0\].*nginxx/)
  expect(await statusNow(rig.port)).toBe(418)
  rig.write(`faults:\n${teapot('a', 503)}`)
  await isSaid(rig, /read anew/)
  expect([await rig.metric('impatient_config_last_reload_successful'), await statusNow(rig.port)]).toEqual([1, 503])
  expect(await rig.metric('impatient_config_last_reload_success_timestamp_seconds')).toBeGreaterThan(1_700_000_000)
})

test('stop outlives reloads, by file and by SIGHUP, until resume [faults2.reload-stop]', async () => {
  const upstream = await server()
  const rig = await appRig(upstream.url, { yaml: `faults:\n${teapot('a')}` })
  expect((await rig.api('POST', '/stop')).json()).toEqual({ stopped: true })
  rig.write(`faults:\n${teapot('b', 503)}`)
  await isSaid(rig, /read anew/)
  rig.app.reload?.()
  expect(await statusNow(rig.port)).toBe(200)
  await rig.api('POST', '/resume')
  expect(await statusNow(rig.port)).toBe(503)
})

test('path, safety, work and mode change; ports, admin and upstream are told to need a restart, and no secret is printed [faults2.reload-parts]', async () => {
  const upstream = await server()
  const rig = await appRig(upstream.url, { yaml: `faults:\n${teapot('a')}` })
  rig.write(
    `path: [ { hop: nginx } ]\nmode: shadow\nwork: { inject: none, grace: 5s }\nsafety: { cutsPerMinuteMax: 3 }\nmetrics: { tools: 3 }\nfaults:\n${teapot('a')}`,
  )
  await isSaid(rig, /read anew/)
  expect(rig.log.filter((line) => line.startsWith('warn'))).toEqual(['warn: metrics: a change of it needs a restart; the rest is taken'])
  expect(((await rig.api('GET', '/path')).json()['path'] as { preset: string }[]).map(({ preset }) => preset)).toEqual(['nginx'])
  expect(await statusNow(rig.port)).toBe(200) // shadow: decides, does not act
  const asked = upstream.connections.map((connection) => connection.text()).join('')
  expect(asked.match(/"short"/g)?.length).toBe(1)
  expect(asked).not.toMatch(/traceparent/i)
  writeFileSync(
    rig.file,
    yamlOf(upstream.url, '')
      .replace('127.0.0.1:0 }', '127.0.0.1:0, token: open-sesame }')
      .replace(upstream.url.origin, 'http://127.0.0.1:9'),
  )
  await isSaid(rig, /^warn: admin: a change/)
  await isSaid(rig, /^warn: upstream: a change/)
  expect(rig.log.join('\n')).not.toContain('sesame')
  expect((await rig.api('GET', '/faults')).status).toBe(200)
})

test('a rule that reads as before keeps its end and its counts through a reload [faults2.reload-live]', async () => {
  const upstream = await server()
  const rig = await appRig(upstream.url, { yaml: 'faults:\n  - { name: a, for: 1h, do: { respond: { status: 418 } } }\n' })
  await statusNow(rig.port)
  const faults = async () =>
    (await rig.api('GET', '/faults')).json()['faults'] as { name: string; expiresAt: string; tally: { fired: number } }[]
  const [before] = await faults()
  rig.write(
    'mode: act\nfaults:\n  - { name: a, for: 1h, do: { respond: { status: 418 } } }\n  - { name: b, for: 1h, do: { refuse: {} }, when: { connection: 99 } }\n',
  )
  await isSaid(rig, /read anew/)
  const [after, added] = await faults()
  expect([after?.tally.fired, added?.name]).toEqual([1, 'b'])
  expect(Math.abs(Date.parse(after?.expiresAt ?? '') - Date.parse(before?.expiresAt ?? ''))).toBeLessThan(50)
})
