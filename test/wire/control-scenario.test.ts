/** Scenarios in the whole sidecar: by the API and by run --scenario, with real calls, an exit code, and pass-through at every end. */
import { expect, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import type { RunningApp } from '../../src/app-types.ts'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { problemOf } from '../support/admin-rig.ts'
import { appRig, yamlOf } from '../support/app-rig.ts'
import { cliWorld } from '../support/cli-world.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, resultEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'

const resultOf = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })
/** `stream` goes on until it is left, `late` gives its result after an event; others answer at once. */
const server = () =>
  rawServer(async (connection) => {
    for (;;) {
      const { text } = await connection.request()
      const { id } = JSON.parse(text) as { id: number }
      if (text.includes('"stream"')) connection.send(sseHead + chunk(progressEvent(1)))
      else if (text.includes('"late"')) connection.send(sseHead + chunk(progressEvent(1)) + chunk(resultEvent(id)) + lastChunk)
      else
        connection.send(
          headText(200, [
            ['Content-Type', 'application/json'],
            ['Content-Length', String(resultOf(id).length)],
          ]) + resultOf(id),
        )
    }
  })
const LIMIT = { timeout: 20_000, interval: 30 }
/** Calls until the client is told to stop; how they ended is no matter here. */
async function traffic(port: number, tool: string, until: () => boolean): Promise<number> {
  let calls = 0
  for (; !until(); calls += 1) {
    const client = await rawClient(port).catch(() => null)
    if (client === null) return calls
    client.send(callText(tool, { id: calls + 1 }))
    await client.response().catch(() => null)
    client.close()
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
  return calls
}

test('POST: phases act on calls, GET shows it, the metric names the phase, and it ends in pass-through [faults2.scenario-live]', async () => {
  const upstream = await server()
  const rig = await appRig(upstream.url, { yaml: 'work: { wait: 500ms }\n' })
  const scenario = {
    name: 'evening',
    phases: [
      { name: 'calm', for: '300ms' },
      {
        name: 'broken',
        for: '1500ms',
        faults: [{ name: 'cut', when: { tool: 'late' }, do: { cut: { before: 'result' } } }],
        expect: ['undelivered = 0'],
      },
    ],
    expect: ['violations = 0'],
  }
  let isOver = false
  const calling = traffic(rig.port, 'late', () => isOver)
  const started = await rig.api('POST', '/scenario', scenario)
  expect([started.status, started.json()]).toMatchObject([202, { name: 'evening', state: 'running', verdict: null }])
  expect(problemOf(await rig.api('POST', '/scenario', scenario))).toMatchObject({
    status: 409,
    detail: expect.stringMatching(/"evening" is not over/),
  })
  await expect.poll(() => rig.metric('impatient_scenario_phase_active{scenario="evening",phase="broken"}'), LIMIT).toBe(1)
  expect(await rig.metric('impatient_chaos_active{source="scenario"}')).toBe(1)
  const faults = (await rig.api('GET', '/faults')).json()['faults']
  expect(faults).toMatchObject([{ name: 'cut', origin: 'scenario' }])
  const report = async () => (await rig.api('GET', '/scenario')).json()
  await expect.poll(async () => (await report())['state'], LIMIT).toBe('ended')
  isOver = true
  expect(await calling).toBeGreaterThan(0)
  expect(await report()).toMatchObject({
    verdict: 'failed',
    endedBy: 'complete',
    phases: [{ name: 'calm', state: 'over' }, { expect: [{ verdict: 'broken' }] }],
    expect: [{ verdict: 'held' }],
  })
  expect(await rig.metric('impatient_scenario_phase_active{scenario="evening",phase="broken"}')).toBe(0)
  expect((await rig.api('GET', '/faults')).json()).toEqual({ stopped: true, faults: [] })
  expect((await rig.api('GET', '/path')).json()).toMatchObject({ path: [], stopped: true })
})

test("what an open exchange met in a phase leaves it at the phase's end; DELETE and stop end it early [faults2.scenario-live]", async () => {
  for (const way of ['DELETE', 'stop', 'phase'] as const) {
    const upstream = await server()
    const rig = await appRig(upstream.url)
    const phases = [{ name: 'hold', for: way === 'phase' ? '700ms' : '1h', faults: [{ name: 'hold', do: { buffer: { mode: 'full' } } }] }]
    expect((await rig.api('POST', '/scenario', { name: 's', phases, settle: '0s' })).status).toBe(202)
    const client = await rawClient(rig.port)
    client.send(callText('stream'))
    await client.until('\r\n\r\n')
    await expect
      .poll(
        async () => ((await rig.api('GET', '/faults')).json()['faults'] as { tally?: { fired: number } }[])[0]?.tally?.fired ?? 1,
        LIMIT,
      )
      .toBe(1)
    if (way === 'DELETE') expect((await rig.api('DELETE', '/scenario')).json()).toMatchObject({ state: 'ended', endedBy: 'operator' })
    else if (way === 'stop') await rig.api('POST', '/stop')
    await client.until('"progress":1')
    await expect.poll(async () => (await rig.api('GET', '/scenario')).json()['state'], LIMIT).toBe('ended')
    expect([way, (await rig.api('GET', '/scenario')).json()['endedBy']]).toEqual([way, way === 'phase' ? 'complete' : 'operator'])
    expect((await rig.api('GET', '/faults')).json()['stopped']).toBe(true)
    // Stopped, a scenario has nothing to play on.
    expect(problemOf(await rig.api('POST', '/scenario', { name: 's', phases }))).toMatchObject({
      status: 409,
      detail: expect.stringMatching(/resume/),
    })
  }
})

test('the API refuses a bad scenario with its key, and knows of none before the first [faults2.scenario-live]', async () => {
  const upstream = await server()
  const rig = await appRig(upstream.url)
  expect((await rig.api('GET', '/scenario')).status).toBe(404)
  expect((await rig.api('DELETE', '/scenario')).status).toBe(404)
  const bad = { name: 's', phases: [{ name: 'a', for: '1s', path: [{ hop: 'nginxx' }] }] }
  expect(problemOf(await rig.api('POST', '/scenario', bad))).toMatchObject({
    status: 422,
    key: expect.stringMatching(/^phases\[0\]\.path\[0\]/),
  })
  expect((await rig.api('GET', '/faults')).json()).toEqual({ stopped: false, faults: [] })
})

/** `run --scenario` with the real app in this process. */
async function runs(scenario: string, upstream: URL, { files = {} }: { files?: Record<string, string> } = {}) {
  const rigFolder: { app: RunningApp | null } = { app: null }
  const at = cliWorld({
    files: { 'c.yaml': yamlOf(upstream, 'work: { wait: 500ms }\n'), 's.yaml': scenario, ...files },
    startApp: async (settings, ports) => {
      const { load: _, ...rest } = ports // the file is in memory: nothing to watch
      rigFolder.app = await startApp(settings, rest)
      return rigFolder.app
    },
  })
  const words = ['run', '--config', 'c.yaml', '--scenario', 's.yaml', '--drain', '0s', '--log-level', 'warn']
  return { at, code: runCommandLine(words, COMMANDS, at.world), app: () => rigFolder.app }
}
const port = async (running: Awaited<ReturnType<typeof runs>>): Promise<number> => {
  await expect.poll(() => running.app() !== null, LIMIT).toBe(true)
  return running.app()?.addresses.listen.port ?? 0
}

test('run --scenario ends by itself: 0 where every expectation held, 1 where one failed or nothing was seen [faults2.scenario-exit]', async () => {
  const upstream = await server()
  const form = (faults: string) =>
    `name: s\nphases:\n  - name: one\n    for: 800ms\n    faults: ${faults}\nexpect: [ "undelivered = 0", "violations = 0" ]\n`
  const held = await runs(form('[]'), upstream.url)
  let isOver = false
  void held.code.then(() => (isOver = true))
  await traffic(await port(held), 'short', () => isOver)
  expect([await held.code, held.at.out()]).toEqual([0, expect.any(String)])
  expect(held.at.out()).toMatch(/scenario +s: passed, all phases played[\s\S]*ok +undelivered = 0: 0/)
  const failed = await runs(form('[ { name: cut, do: { cut: { before: result } } } ]'), upstream.url)
  isOver = false
  void failed.code.then(() => (isOver = true))
  await traffic(await port(failed), 'late', () => isOver)
  expect(await failed.code).toBe(1)
  expect(failed.at.out()).toMatch(/scenario +s: failed[\s\S]*FAILED +undelivered = 0: \d+/)
  const quiet = await runs(form('[]'), upstream.url)
  expect(await quiet.code).toBe(1)
  expect(quiet.at.out()).toMatch(/inconclusive[\s\S]*unknown +undelivered = 0: no tools\/call was seen/)
})

test('SIGTERM in the middle: open exchanges are let go first, the report says so, exit code 1 [faults2.scenario-exit]', async () => {
  const upstream = await server()
  const running = await runs(
    'name: s\nphases:\n  - { name: one, for: 1h, faults: [ { name: hold, do: { buffer: { mode: full } } } ] }\n',
    upstream.url,
  )
  const client = await rawClient(await port(running))
  client.send(callText('stream'))
  await client.until('\r\n\r\n')
  await expect.poll(() => upstream.connections.some((connection) => connection.text().includes('"stream"')), LIMIT).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 100))
  running.at.signal('SIGTERM')
  expect(await running.code).toBe(1)
  expect(client.text()).toContain('"progress":1') // held until then, let go in pass-through, cut as shutdown after
  expect(running.at.out()).toMatch(/scenario +s: inconclusive, ended early: the sidecar was stopped/)
})

test('a bad scenario file is a line per mistake and exit code 2, before anything listens [faults2.scenario-exit]', async () => {
  const upstream = await server()
  const running = await runs('name: s\nphases:\n  - name: one\n    for: 5\nexpect: [ "orphan < 2" ]\n', upstream.url)
  expect([await running.code, running.app(), running.at.out()]).toEqual([2, null, ''])
  expect(running.at.err().trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^impatient-hop: s\.yaml:4 phases\[0\]\.for: expected a duration/),
    expect.stringMatching(/^impatient-hop: s\.yaml:5 expect\[0\]: expected a duration such as 2s.*got "2"/),
  ])
})
