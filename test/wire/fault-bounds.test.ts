/** Memory under faults that hold, over real sockets: a flood meets a limit or waits at its source, and what was held is let go of. */
import { expect, test } from 'vitest'
import { controlRig } from '../support/control-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, progressEvent, requestText, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'

const MIB = 1_048_576
const LIMIT = { timeout: 20_000, interval: 10 }
const EVENT = chunk(`${progressEvent(1).slice(0, -2)}\n: ${'x'.repeat(20_000)}\n\n`)

/** A server that floods as fast as it is read; how many bytes it got rid of. */
async function flooded(form: object, heldBytesPerExchange: number) {
  let pushed = 0
  const upstream = await rawServer(async (connection) => {
    await connection.request()
    await connection.send(sseHead)
    while (pushed < 24 * MIB && (await connection.send(EVENT)) && connection.ended() === null) pushed += EVENT.length
  })
  const rig = await controlRig(upstream.url, { faults: [{ do: form }], heldBytesPerExchange, heldBytesTotal: 16 * MIB })
  const client = await rawClient(rig.port)
  let peak = 0
  const sampling = setInterval(() => (peak = Math.max(peak, rig.ports.held.totalBytes)), 1)
  client.send(callText())
  return { rig, client, pushed: () => pushed, peak: () => peak, done: () => clearInterval(sampling) }
}

test.each([{ buffer: { mode: 'full' } }, { buffer: { mode: 'bytes', size: '8MiB' } }, { buffer: { mode: 'time', every: '1h' } }])(
  '%j: a flood reaches the limit of held bytes, and that is its cause [faults2.bounds]',
  async (form) => {
    const { rig, client, peak, done } = await flooded(form, MIB)
    await client.untilEnded(20_000)
    await rig.fact('finished')
    done()
    expect(rig.record()).toMatchObject({ cause: 'limit', closedBy: 'sidecar' })
    expect(peak()).toBeLessThan(MIB + 4 * 65_536)
    expect(rig.ports.held.totalBytes).toBe(0)
  },
)

test.each([
  { stall: { from: 'body' } },
  { stall: { from: 'headers' } },
  { latency: { delay: '1h', on: 'headers' } },
  { latency: { delay: '1h', on: 'event' } },
  { delay: { what: 'event', by: '1h' } },
  { bandwidth: { bytesPerSecond: 10 } },
  { slice: { size: 1, every: '1h' } },
])('%j: a flood waits at its source; taken away, it flows on [faults2.bounds]', async (form) => {
  const { rig, client, pushed, peak, done } = await flooded(form, 4 * MIB)
  let before = -1
  // Stuck: nothing more is taken from the server for a while.
  await expect
    .poll(
      () => {
        const isStuck = pushed() > 0 && pushed() === before
        before = pushed()
        return isStuck
      },
      { timeout: 20_000, interval: 300 },
    )
    .toBe(true)
  expect([rig.record().cause, peak() < MIB + 8 * 65_536, pushed() < 20 * MIB]).toEqual([null, true, true])
  rig.control.remove('f')
  await expect.poll(() => client.bytes().length, LIMIT).toBeGreaterThan(8 * MIB)
  done()
  expect(peak()).toBeLessThan(4 * MIB)
  client.rst()
  await rig.fact('finished')
  expect(rig.ports.held.totalBytes).toBe(0)
})

test('an upload under latency or bandwidth waits at the client [faults2.bounds]', async () => {
  for (const form of [{ latency: { delay: '1h', on: 'request' } }, { bandwidth: { bytesPerSecond: 10, on: 'request' } }]) {
    const upstream = await rawServer(() => undefined)
    const rig = await controlRig(upstream.url, { faults: [{ do: form }], heldBytesPerExchange: 4 * MIB })
    const client = await rawClient(rig.port)
    client.send(
      requestText('POST', '/mcp', [
        ['Transfer-Encoding', 'chunked'],
        ['Mcp-Method', 'tools/call'],
        ['MCP-Protocol-Version', '2026-07-28'],
        ['Mcp-Name', 'x'],
      ]),
    )
    const part = chunk('y'.repeat(65_536))
    for (let n = 0; n < 200; n += 1) client.send(part)
    await rig.fact('moved')
    let before = -1
    await expect
      .poll(
        () => {
          const isStuck = client.queuedBytes() > 0 && client.queuedBytes() === before
          before = client.queuedBytes()
          return isStuck
        },
        { timeout: 20_000, interval: 300 },
      )
      .toBe(true)
    expect(rig.ports.held.totalBytes).toBeLessThan(MIB + 4 * 65_536)
    expect(rig.record().cause).toBeNull()
    client.rst() // unseen while nothing is read, as the kernel has it
    rig.control.remove('f')
    await rig.fact('finished')
    expect(rig.ports.held.totalBytes).toBe(0)
  }
})
