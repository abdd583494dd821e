/** A hop's patience with a server that does not accept the connection, and what of it stays behind. */
import type { LookupFunction } from 'node:net'
import net from 'node:net'
import { expect, test } from 'vitest'
import { readPreset } from '../../src/config/presets.ts'
import { createCaps } from '../../src/faults/caps.ts'
import { initialControl } from '../../src/faults/control.ts'
import { createFaultMemory } from '../../src/faults/memory.ts'
import { composePath } from '../../src/hops/presets.ts'
import type { LinePlanner } from '../../src/wire/line-planner.ts'
import { createLinePlanner } from '../../src/wire/line-planner.ts'
import { leaveSocket } from '../../src/wire/parting.ts'
import { realClock } from '../../src/wire/real-clock.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { REFUSED_PORT } from '../support/free-port.ts'
import { rawClient } from '../support/raw-client.ts'
import { rawServer } from '../support/raw-server.ts'
import { wireRig } from '../support/wire-rig.ts'

const ASK = 'POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}'

function plannerOf(hop: string): LinePlanner {
  const presetOf = (name: string) => {
    const read = readPreset(name)
    return read !== null && 'value' in read ? read.value : null
  }
  const composed = composePath([{ name: hop }], presetOf, [])
  if ('problems' in composed) throw new Error(JSON.stringify(composed.problems))
  const state = initialControl({ rules: [], safety: {}, path: composed.hops }, { nowMs: 0, wallMs: 0 })
  const work = { graceMs: 2_000, afterCut: 'hang-up', waitMs: 60_000, inject: 'none' } as const
  return createLinePlanner(state, { mode: 'act', path: composed.hops, work, seed: 1 }, { memory: createFaultMemory(), caps: createCaps() })
}

test('a server that takes longer to accept than the hop waits: the answer of its connect limit [endings.connect-limit]', async () => {
  const clock = fakeClock()
  const server = await rawServer(() => undefined)
  // In the same turn as the dialling: the system has not connected yet.
  const openRecord = () => ({
    id: 'c1',
    tell: ({ kind }: { readonly kind: string }) => {
      if (kind === 'asked') queueMicrotask(() => clock.advance(60_000))
    },
  })
  const planner = plannerOf('nginx')
  const rig = await wireRig(server.url, { clock, openRecord, planner: () => planner })
  const client = await rawClient(rig.port)
  await client.send(ASK)
  expect((await client.response()).status).toBe(504)
  expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'unreachable', hop: 'nginx' } })
})

test('no timer outlives an exchange: a process that has nothing to do can end [endings.no-timer-left]', async () => {
  const clock = fakeClock()
  const planner = plannerOf('nginx')
  const rig = await wireRig(new URL(`http://127.0.0.1:${REFUSED_PORT}`), { clock, planner: () => planner })
  const client = await rawClient(rig.port)
  await client.send(ASK)
  expect((await client.response()).status).toBe(502)
  await rig.fact('finished')
  expect(clock.armed()).toBe(0)
})

test('what is given up while it is being connected never reaches the server, however it was to end', async () => {
  for (const ending of ['rst', 'fin'] as const) {
    const server = await rawServer(() => undefined)
    const lookup: LookupFunction = (_name, _options, found) => void setTimeout(() => found(null, [{ address: '127.0.0.1', family: 4 }]), 50)
    const socket = net.connect({ host: 'slow.test', port: server.port, lookup })
    socket.on('error', () => undefined)
    socket.write('POST / HTTP/1.1\r\n\r\n')
    leaveSocket(socket, ending, realClock)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(socket.destroyed).toBe(true)
    expect(server.connections).toEqual([])
  }
})
