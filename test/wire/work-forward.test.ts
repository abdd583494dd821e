/** The queue towards the collector: bounded, timed, and gone when the sidecar ends. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { silentLog } from '../../src/core/log.ts'
import { realClock } from '../../src/wire/real-clock.ts'
import { createForwarder, type ForwardAsked, targetOf } from '../../src/work/forward.ts'

const SOON = { timeout: 10_000 }

/** A collector that answers when told to. */
async function rig(more: Partial<ForwardAsked> = {}) {
  const waiting: ServerResponse[] = []
  const server = createServer((request, response) => void request.resume().once('end', () => waiting.push(response)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const warned: string[] = []
  const counted: string[] = []
  const forwarder = createForwarder({
    ...{ to: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), clock: realClock },
    log: { ...silentLog, warn: (line) => warned.push(line) },
    count: (signal, result) => counted.push(`${signal} ${result}`),
    ...more,
  })
  const send = (bytes: number) =>
    forwarder.send({ signal: 'traces', bytes: Buffer.alloc(bytes), headers: { 'content-type': 'application/json' } })
  return { forwarder, waiting, warned, counted, send }
}

test('beyond its bytes exports are dropped, told once a minute; as the collector answers there is room again [work.forward-bounded]', async () => {
  const { forwarder, waiting, warned, counted, send } = await rig({ queueBytesMax: 1_000 })
  for (let n = 0; n < 12; n += 1) send(100)
  expect(forwarder.counts()).toEqual({ sent: 0, failed: 0, dropped: 2 })
  expect(warned).toHaveLength(1)
  expect(warned[0]).toContain('its queue holds 1000 bytes')
  await vi.waitFor(() => expect(waiting).toHaveLength(4), SOON) // so many at once
  const answering = setInterval(() => {
    for (const response of waiting.splice(0)) response.writeHead(200).end()
  }, 5)
  onTestFinished(() => clearInterval(answering))
  await vi.waitFor(() => expect(forwarder.counts()).toEqual({ sent: 10, failed: 0, dropped: 2 }), SOON)
  for (let n = 0; n < 10; n += 1) send(100)
  await vi.waitFor(() => expect(forwarder.counts()).toEqual({ sent: 20, failed: 0, dropped: 2 }), SOON)
  expect(counted.filter((line) => line === 'traces sent')).toHaveLength(20)
})
test('a collector that does not answer is given up on', async () => {
  const { forwarder, warned, send } = await rig({ answerWithinMs: 50 })
  send(10)
  await vi.waitFor(() => expect(forwarder.counts().failed).toBe(1), SOON)
  expect(warned[0]).toContain('no answer within 50 ms')
})
test('closing waits for what is on its way, up to its limit', async () => {
  const patient = await rig()
  patient.send(10)
  await vi.waitFor(() => expect(patient.waiting).toHaveLength(1), SOON)
  const closed = patient.forwarder.close(10_000)
  patient.waiting[0]?.writeHead(200).end()
  await closed
  expect(patient.forwarder.counts()).toEqual({ sent: 1, failed: 0, dropped: 0 })
  const cut = await rig()
  for (let n = 0; n < 6; n += 1) cut.send(10)
  await cut.forwarder.close(50)
  expect(cut.forwarder.counts()).toEqual({ sent: 0, failed: 4, dropped: 2 })
})
test('the signal’s path is added to the collector’s, as OTEL_EXPORTER_OTLP_ENDPOINT does', () => {
  expect(targetOf(new URL('http://c:4318'), 'traces').href).toBe('http://c:4318/v1/traces')
  expect(targetOf(new URL('https://c/otlp/?k=1'), 'logs').href).toBe('https://c/otlp/v1/logs?k=1')
})
