/** Control under load, in real time: the kill switch and the end of a fault reach many open streams while bytes pour in. */
import { expect, test } from 'vitest'
import { controlRig } from '../support/control-rig.ts'
import type { RawSocket } from '../support/raw-client.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, progressEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'

const STREAMS = 50
/** The promise is 50 ms; a test machine that is busy elsewhere gets more. */
const LATE_MS = 1_000

/** Sends an event every few milliseconds until it is left. */
async function chatter(connection: RawConnection): Promise<void> {
  await connection.request()
  connection.send(sseHead)
  for (let n = 0; connection.ended() === null; n += 1) {
    if (!(await connection.send(chunk(progressEvent(n) + `: ${'x'.repeat(2_000)}\n\n`)))) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
async function loaded(faults: readonly object[]) {
  const upstream = await rawServer(chatter)
  const rig = await controlRig(upstream.url, { faults })
  const clients: RawSocket[] = []
  for (let n = 0; n < STREAMS; n += 1) {
    const client = await rawClient(rig.port)
    client.send(callText(`t${n}`))
    clients.push(client)
  }
  await expect
    .poll(() => upstream.connections.filter((connection) => connection.bytes().length > 0).length, { timeout: 20_000 })
    .toBe(STREAMS)
  return { rig, clients, upstream }
}

test('stop: when it returns every open stream is in pass-through, and what was held is on its way [faults2.stop-under-load]', async () => {
  const { rig, clients } = await loaded([
    { name: 'hold', when: { tool: 't?' }, do: { buffer: { mode: 'full' } } },
    { name: 'still', when: { tool: 't1*' }, do: { stall: { from: 'body' } } },
    { name: 'slow', when: { tool: 't2*' }, do: { latency: { delay: '1h', on: 'event' } } },
    { name: 'behind', when: { tool: 't3*' }, do: { buffer: { mode: 'one-behind' } } },
    { name: 'pace', when: { tool: 't4*' }, do: { bandwidth: { bytesPerSecond: 50 } } },
    { name: 'later', do: { cut: { after: { time: '1h' } } } },
  ])
  await expect.poll(() => rig.ports.held.totalBytes, { timeout: 20_000 }).toBeGreaterThan(STREAMS * 8_400)
  const askedMs = performance.now()
  rig.control.stop()
  const tookMs = performance.now() - askedMs
  const records = clients.map((_, n) => rig.record(n))
  expect(records.filter(({ bytes }) => bytes.sent !== bytes.seen)).toEqual([])
  expect(tookMs).toBeLessThan(LATE_MS)
  const before = clients.map((client) => client.bytes().length)
  await expect.poll(() => clients.filter((client, n) => client.bytes().length > (before[n] ?? 0)).length, { timeout: 20_000 }).toBe(STREAMS)
  expect(clients.map((client) => client.ended()).filter((ended) => ended !== null)).toEqual([])
  // What was just written counts until the kernel took it: a few events each at most, of what was held before.
  await expect.poll(() => rig.ports.held.totalBytes, { timeout: 20_000 }).toBeLessThan(STREAMS * 4_200)
})

test('for ends a fault on time under load; open streams go on, and it stays ended [faults2.for-under-load]', async () => {
  const { rig, clients } = await loaded([])
  const addedMs = performance.now()
  expect(rig.control.add({ name: 'f', for: '300ms', do: { stall: { from: 'headers' } } })).toBeNull()
  const client = await rawClient(rig.port)
  client.send(callText('late'))
  await client.until('"progress":0', 20_000)
  const tookMs = performance.now() - addedMs
  expect(tookMs).toBeGreaterThanOrEqual(295) // the fault's clock began a moment before the stream
  expect(tookMs).toBeLessThan(300 + LATE_MS * 3)
  expect([rig.tally('f').fired, rig.control.state().api, clients.filter((one) => one.ended() !== null)]).toEqual([0, [], []])
})

test('edits at once end in one of the orders, and every open stream has one ending [faults2.concurrent-edits]', async () => {
  const { rig, clients } = await loaded([{ do: { latency: { delay: '10ms', on: 'event' } } }])
  const edits: (() => unknown)[] = [
    () => rig.control.add({ name: 'a', do: { cut: { after: { events: 2 } } } }),
    () => rig.control.remove('a'),
    () => rig.control.patch('f', { do: { slice: { size: 100 } } }),
    () => rig.control.remove('f'),
    () => rig.control.stop(),
    () => rig.control.resume(),
    () => rig.control.setPath([], { for: '5ms' }),
    () => rig.control.resetPath(),
    () => rig.reload([{ name: 'g', do: { buffer: { mode: 'one-behind' } } }]),
    () => rig.steering.cutOpen({ tool: 't1*' }),
  ]
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      await new Promise((resolve) => setTimeout(resolve, (n * 7) % 40))
      edits[n % edits.length]?.()
    }),
  )
  rig.control.stop()
  const cut = clients.filter((_, n) => `${n}`.startsWith('1'))
  await Promise.all(cut.map((client) => client.untilEnded()))
  expect(cut.length).toBe(11)
  for (const [n] of clients.entries()) {
    const closings = rig.facts(n).filter(({ kind }) => kind === 'closed')
    expect([n, closings.length]).toEqual([n, `${n}`.startsWith('1') ? 1 : 0])
  }
  expect(rig.control.state().isStopped).toBe(true)
})
