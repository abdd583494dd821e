/** A hop that asks again: the request really runs several times, each seen by the server, and the record says so. */
import { expect, test } from 'vitest'
import { createCaps } from '../../src/faults/caps.ts'
import { initialControl } from '../../src/faults/control.ts'
import { createFaultMemory } from '../../src/faults/memory.ts'
import { hopSchema } from '../../src/hops/hop-schema.ts'
import { resolveHop } from '../../src/hops/resolve.ts'
import { createLinePlanner } from '../../src/wire/line-planner.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { rawClient } from '../support/raw-client.ts'
import { rawServer } from '../support/raw-server.ts'
import { wireRig } from '../support/wire-rig.ts'

const ASK = 'POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{"id":7}'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

function plannerOf(file: unknown) {
  const hop = resolveHop(hopSchema.parse(file), { name: 'path[0]:custom', preset: 'custom' })
  const path = [hop]
  const state = initialControl({ rules: [], safety: {}, path }, { nowMs: 0, wallMs: 0 })
  const work = { graceMs: 2_000, afterCut: 'hang-up', waitMs: 60_000, inject: 'none' } as const
  const planner = createLinePlanner(state, { mode: 'act', path, work, seed: 1 }, { memory: createFaultMemory(), caps: createCaps() })
  return () => planner
}

test('on a loss: the same bytes on a fresh connection, until one answers [hops.retry-loss]', async () => {
  const bodies: string[] = []
  const server = await rawServer(async (connection) => {
    bodies.push((await connection.request()).body.toString())
    if (connection.index < 2) connection.rst()
    else await connection.send(OK)
  })
  const planner = plannerOf({ request: { retry: { on: ['loss'], tries: 3 } } })
  const rig = await wireRig(server.url, { planner })
  const client = await rawClient(rig.port)
  await client.send(ASK)
  expect((await client.response()).status).toBe(200)
  expect(bodies).toEqual(['{"id":7}', '{"id":7}', '{"id":7}'])
  expect(rig.facts().filter((fact) => fact.kind === 'notice')).toHaveLength(2)
})

test('no more than its tries, and then the loss is what it is', async () => {
  const server = await rawServer(async (connection) => {
    await connection.request()
    connection.rst()
  })
  const rig = await wireRig(server.url, { planner: plannerOf({ request: { retry: { on: ['loss'], tries: 2 } } }) })
  const client = await rawClient(rig.port)
  await client.send(ASK)
  expect((await client.response()).status).toBe(502)
  expect(server.connections).toHaveLength(2)
  expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'server_reset' } })
})

test('on a timeout: the wait begins anew, the total does not, and the server sees each attempt [hops.retry-timeout]', async () => {
  const clock = fakeClock()
  const server = await rawServer(async (connection) => connection.request())
  const file = { headers: { after: '2s', answer: { status: 504 } }, request: { retry: { on: ['timeout'], tries: 3 } } }
  const rig = await wireRig(server.url, { clock, planner: plannerOf(file) })
  const client = await rawClient(rig.port)
  await client.send(ASK)
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const connection = await server.connection(attempt)
    await connection.until('{"id":7}')
    clock.advance(2_000)
  }
  expect((await client.response()).status).toBe(504)
  expect(server.connections).toHaveLength(3)
  expect(await rig.fact('closed')).toMatchObject({ atMs: 6_000, cause: { kind: 'header_timeout' } })
})

test('once a head has come nothing is asked again', async () => {
  const server = await rawServer(async (connection) => {
    await connection.request()
    await connection.send('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal')
    connection.rst()
  })
  const rig = await wireRig(server.url, { planner: plannerOf({ request: { retry: { on: ['loss', 'timeout'], tries: 5 } } }) })
  const client = await rawClient(rig.port)
  await client.send(ASK)
  expect((await rig.fact('closed')).cause.kind).toBe('server_reset')
  expect(server.connections).toHaveLength(1)
})
