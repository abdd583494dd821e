/** Faults, path, stop, resume and cut over the admin port. */
import { expect, test } from 'vitest'
import type { AdminPorts } from '../../src/admin/route-list.ts'
import type { Change } from '../../src/faults/control.ts'
import type { Controller } from '../../src/faults/controller.ts'
import { createController } from '../../src/faults/controller.ts'
import { createFaultMemory } from '../../src/faults/memory.ts'
import { ask, fakeClock, problemOf, started } from '../support/admin-rig.ts'
import { ruleOf } from '../support/fault-rig.ts'
import { hop } from '../support/line-rig.ts'

const CUT = { cut: { after: { events: 3 }, ending: 'rst' } }

interface Steered {
  readonly port: number
  readonly control: Controller
  readonly changes: Change[]
  readonly clock: ReturnType<typeof fakeClock>
  readonly cuts: unknown[]
}
async function steered(): Promise<Steered> {
  const clock = fakeClock()
  const changes: Change[] = []
  const cuts: unknown[] = []
  const control = createController({
    clock,
    from: { rules: [ruleOf(CUT, { name: 'from-file' })], safety: {}, path: [] },
    changed: (change) => changes.push(change),
  })
  const memory = createFaultMemory()
  memory.countMatch('from-file')
  const ports: Partial<AdminPorts> = {
    showPath: () => ({ path: (control.state().ownPath?.hops ?? []).map(({ name }) => name) }),
    control: {
      control,
      tally: memory.tally,
      readPath: (path) =>
        JSON.stringify(path).includes('nginxx')
          ? { problems: [{ path: [0, 'hop'], message: 'unknown hop "nginxx"' }] }
          : { hops: [hop('nginx')] },
      cutOpen: (asked) => cuts.push(asked),
    },
  }
  const { port } = await started({ over: ports })
  return { port, control, changes, clock, cuts }
}
const send = (port: number, method: string, path: string, body?: unknown) =>
  ask(port, `/api/v1${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })

test('faults: listed with origin, end and tally; added, patched, removed [admin.faults]', async () => {
  const { port, changes, clock } = await steered()
  const listed = (await send(port, 'GET', '/faults')).json()
  expect(listed).toEqual({
    stopped: false,
    faults: [
      {
        name: 'from-file',
        do: CUT,
        enabled: true,
        origin: 'file',
        expiresAt: null,
        tally: { matched: 1, fired: 0, skipped: 0, exempt: 0, capped: 0 },
      },
    ],
  })
  clock.passMs(1_000)
  const added = await send(port, 'POST', '/faults', { name: 'mine', do: CUT, for: '10m', when: { tool: 'a*' } })
  expect([added.status, added.json()]).toMatchObject([
    201,
    { name: 'mine', origin: 'api', expiresAt: '1970-01-01T00:10:01.000Z', for: '10m', when: { tool: 'a*' } },
  ])
  const patched = await send(port, 'PATCH', '/faults/mine', { enabled: false })
  expect([patched.status, patched.json()]).toMatchObject([200, { name: 'mine', enabled: false, for: '10m' }])
  expect(changes.at(-1)?.releases).toEqual([{ is: 'fault', name: 'mine' }])
  const removed = await send(port, 'DELETE', '/faults/from-file')
  expect([removed.status, removed.body]).toEqual([204, ''])
  expect((await send(port, 'GET', '/faults')).json()['faults']).toMatchObject([{ name: 'mine' }])
  clock.passMs(600_000)
  expect((await send(port, 'GET', '/faults')).json()['faults']).toEqual([])
})
test("faults: the caller's mistakes are problems that name the key [admin.faults] [admin.problem-json]", async () => {
  const { port, control } = await steered()
  const post = async (body: unknown) => problemOf(await send(port, 'POST', '/faults', body))
  expect(await post({ name: 'x', do: { cut: { after: { time: 2 } } } })).toMatchObject({
    status: 422,
    key: 'do.cut.after.time',
    detail: expect.stringMatching(/expected a duration such as/),
  })
  expect(await post({ name: 'x', do: CUT, whn: {} })).toMatchObject({
    status: 422,
    key: 'whn',
    detail: expect.stringMatching(/did you mean "when"/),
  })
  expect(await post([])).toMatchObject({ status: 422, key: 'body' })
  await send(port, 'POST', '/faults', { name: 'x', do: CUT })
  expect(await post({ name: 'x', do: CUT })).toMatchObject({ status: 409, key: 'name' })
  expect(problemOf(await send(port, 'DELETE', '/faults/none'))).toMatchObject({ status: 404, key: 'name' })
  expect(problemOf(await send(port, 'PATCH', '/faults/x', { do: {} }))).toMatchObject({ status: 422, key: 'do' })
  expect((await send(port, 'PUT', '/faults/x', {})).headers.allow).toBe('DELETE, PATCH')
  expect(control.state().api).toHaveLength(1)
})
test('concurrent edits end in one of the orders [faults.control]', async () => {
  const { port, control } = await steered()
  const statuses = await Promise.all(Array.from({ length: 20 }, (_, n) => send(port, 'POST', '/faults', { name: `x${n % 2}`, do: CUT })))
  expect(statuses.map(({ status }) => status).sort()).toEqual([...Array(2).fill(201), ...Array(18).fill(409)])
  await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      send(port, n % 2 === 0 ? 'DELETE' : 'POST', n % 2 === 0 ? '/faults/x0' : '/faults', { name: 'x0', do: CUT }),
    ),
  )
  expect(control.state().api.filter(({ rule }) => rule.name === 'x0').length).toBeLessThanOrEqual(1)
})
test('path: set for a time, refused with its key, reset [admin.path]', async () => {
  const { port, control, clock } = await steered()
  const set = await send(port, 'PUT', '/path', { path: [{ hop: 'nginx' }], for: '1m' })
  expect([set.status, set.json()]).toEqual([200, { path: ['nginx'] }])
  expect(control.state().ownPath?.expiresAtMs).toBe(60_000)
  expect(problemOf(await send(port, 'PUT', '/path', { path: [{ hop: 'nginxx' }] }))).toMatchObject({ status: 422, key: 'path[0].hop' })
  expect(problemOf(await send(port, 'PUT', '/path', { path: 'nginx' }))).toMatchObject({ status: 422, key: 'path' })
  clock.passMs(60_000)
  expect((await send(port, 'GET', '/path')).json()).toEqual({ path: [] })
  await send(port, 'PUT', '/path', { path: [{ hop: 'nginx' }] })
  expect((await send(port, 'DELETE', '/path')).json()).toEqual({ path: [] })
})
test('stop and resume answer at once, whatever the rate [admin.stop]', async () => {
  const { port, control, changes } = await steered()
  for (let n = 0; n < 401; n += 1) await send(port, 'GET', '/hops')
  expect((await send(port, 'GET', '/hops')).status).toBe(429)
  const stopped = await send(port, 'POST', '/stop')
  expect([stopped.status, stopped.json(), changes.at(-1)?.releases]).toEqual([200, { stopped: true }, [{ is: 'all' }]])
  expect((await send(port, 'DELETE', '/faults/from-file')).status).toBe(204)
  expect([(await send(port, 'POST', '/resume')).json(), control.state().isStopped]).toEqual([{ stopped: false }, false])
})
test('cut: filters or all, and how many [admin.cut]', async () => {
  const { port, cuts } = await steered()
  expect((await send(port, 'POST', '/cut', { tool: 'a*', ending: 'rst' })).json()).toEqual({ cut: 1 })
  expect((await send(port, 'POST', '/cut', { all: true })).json()).toEqual({ cut: 2 })
  expect(cuts).toEqual([{ tool: 'a*', ending: 'rst' }, { all: true }])
  expect(problemOf(await send(port, 'POST', '/cut', {}))).toMatchObject({
    status: 422,
    key: 'body',
    detail: expect.stringMatching(/all: true/),
  })
  expect(problemOf(await send(port, 'POST', '/cut', { olderThan: 5 }))).toMatchObject({ status: 422, key: 'olderThan' })
})
test('the OpenAPI document shows the control routes with the form of a fault [admin.openapi]', async () => {
  const { port } = await steered()
  const document = (await ask(port, '/api/v1/openapi.json')).json()
  const paths = document['paths'] as Record<
    string,
    Record<string, { requestBody?: { content: Record<string, { schema: { properties?: object } }> } }>
  >
  expect(Object.keys(paths['/api/v1/faults/{name}'] ?? {}).sort()).toEqual(['delete', 'patch'])
  expect(Object.keys(paths['/api/v1/faults']?.['post']?.requestBody?.content['application/json']?.schema.properties ?? {})).toContain(
    'until',
  )
  for (const path of ['/api/v1/path', '/api/v1/stop', '/api/v1/resume', '/api/v1/cut']) expect(Object.keys(paths)).toContain(path)
})
