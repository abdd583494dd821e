/** Random faults × random traffic over real sockets: one ending each, bounded memory, no byte altered that no fault claims, and stop is pass-through. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ControlRig } from '../support/control-rig.ts'
import { controlRig } from '../support/control-rig.ts'
import type { RawSocket } from '../support/raw-client.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection, RawServer } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'

/** They hold, pace or hide; every byte arrives in the end, in order, and nobody is cut off. */
const KEEPING: readonly object[] = [
  { buffer: { mode: 'full' } },
  { buffer: { mode: 'bytes', size: 64 } },
  { buffer: { mode: 'time', every: '15ms' } },
  { buffer: { mode: 'one-behind' } },
  { latency: { delay: '15ms', jitter: '10ms', on: 'event' } },
  { latency: { delay: '15ms', on: 'headers' } },
  { latency: { delay: '15ms', on: 'request' } },
  { delay: { what: 'result', by: '15ms' } },
  { bandwidth: { bytesPerSecond: 200_000 } },
  { slice: { size: 400, every: '1ms' } },
  { stall: { from: 'headers', for: '20ms' } },
  { stall: { from: 'body', for: '20ms' } },
  { stall: { from: 'next-request', for: '20ms' } },
  { stall: { from: 'accept', for: '20ms' } },
  { 'hide-disconnect': {} },
  { 'half-open': { for: '20ms' } },
  { 'idle-timeout': { after: '1h' } },
]
/** They change or end what they act on. */
const CHANGING: readonly object[] = [
  { cut: { after: { bytes: 150 }, ending: 'rst' } },
  { cut: { after: { events: 2 }, ending: 'clean' } },
  { cut: { after: { time: '10ms' } } },
  { cut: { before: 'result' } },
  { cut: { before: 'request', ending: 'rst' } },
  { cut: { inside: 'event', nth: 2 } },
  { 'max-duration': { after: '12ms' } },
  { 'header-timeout': { after: '3ms' } },
  { respond: { status: 503, body: 'json' } },
  { drop: { what: 'progress' } },
  { duplicate: { what: 'event', nth: 1 } },
  { malform: { what: 'json' } },
  { headers: { response: { set: { 'X-Made': '1' } } } },
  { refuse: { ending: 'fin' } },
]

type Leaving = 'stays' | 'fin' | 'rst'
interface Call {
  readonly tool: string
  readonly events: number
  readonly answer: 'sse' | 'json' | 'hangs up'
  readonly split: number
  readonly leaving: Leaving
}
const call = fc.record<Call>({
  tool: fc.constantFrom('a', 'b', 'c'),
  events: fc.integer({ min: 0, max: 5 }),
  answer: fc.constantFrom<Call['answer']>('sse', 'sse', 'json', 'hangs up'),
  split: fc.integer({ min: 1, max: 90 }),
  leaving: fc.constantFrom<Leaving>('stays', 'stays', 'stays', 'fin', 'rst'),
})
const rule = (forms: readonly object[]) =>
  fc.record({
    form: fc.constantFrom(...forms),
    tool: fc.constantFrom('a', 'b', '*'),
    at: fc.constantFrom('client', 'server'),
    probability: fc.constantFrom(1, 1, 0.5, 0),
  })
const plan = (forms: readonly object[]) =>
  fc.record({
    rules: fc.array(rule(forms), { minLength: 1, maxLength: 3 }),
    calls: fc.array(call, { minLength: 2, maxLength: 6 }),
    seed: fc.nat(),
    stopMs: fc.constantFrom(null, 0, 10, 25),
  })
type Plan = ReturnType<typeof plan> extends fc.Arbitrary<infer T> ? T : never

const bodyOf = ({ events, tool }: Call): string =>
  Array.from({ length: events }, (_, n) => `${progressEvent(n)}: ${tool.repeat(200)}\n\n`).join('') + resultEvent()
const JSON_BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [], text: 'x'.repeat(900) } })

/** Answers by what the call says of itself in its path. */
async function answerCalls(connection: RawConnection): Promise<void> {
  for (;;) {
    const request = await connection.request()
    const asked = JSON.parse(decodeURIComponent(request.target.slice('/mcp?'.length))) as Call
    if (asked.answer === 'json') {
      connection.send(
        headText(200, [
          ['Content-Type', 'application/json'],
          ['Content-Length', String(JSON_BODY.length)],
        ]) + JSON_BODY,
      )
      continue
    }
    connection.send(sseHead)
    const body = bodyOf(asked)
    for (let at = 0; at < body.length; at += asked.split * 7) {
      if (!(await connection.send(chunk(body.slice(at, at + asked.split * 7))))) return
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (asked.answer === 'hangs up') return connection.fin()
    connection.send(lastChunk)
  }
}

const textOf = (one: Call, id: number): string =>
  callText(one.tool, { id }).replace('POST /mcp ', `POST /mcp?${encodeURIComponent(JSON.stringify(one))} `)

async function play(upstream: RawServer, { rules, calls, seed, stopMs }: Plan) {
  const faults = rules.map(({ form, tool, at, probability }, n) => {
    const isOfConnections = 'refuse' in form || ('stall' in form && (form.stall as { from: string }).from === 'accept')
    return { name: `f${n}`, do: form, at, when: { probability, ...(isOfConnections ? {} : { tool }) } }
  })
  const rig = await controlRig(upstream.url, { faults, snapshot: { seed }, heldBytesPerExchange: 65_536, heldBytesTotal: 262_144 })
  const stopping = stopMs === null ? null : new Promise<void>((resolve) => setTimeout(() => resolve(rig.control.stop()), stopMs))
  const clients = await Promise.all(
    calls.map(async (one, n) => {
      const client = await rawClient(rig.port).catch(() => null)
      if (client === null) return null // refused before its own connect was told of
      client.send(textOf(one, n + 1))
      if (one.leaving !== 'stays') {
        await new Promise((resolve) => setTimeout(resolve, one.split % 12))
        if (one.leaving === 'fin') client.fin()
        else client.rst()
      }
      return client
    }),
  )
  await stopping
  return { rig, clients }
}

/** Every exchange that opened comes to its end, by itself or once everything is stopped; and holds nothing then. */
async function settle(rig: ControlRig, clients: readonly (RawSocket | null)[]): Promise<void> {
  const open = (): number => rig.listener.openCount()
  await expect
    .poll(open, { timeout: 2_000, interval: 10 })
    .toBe(0)
    .catch(() => rig.control.stop())
  // A server that hides nothing and was never answered still waits for its client.
  for (const client of clients)
    if (client?.socket.destroyed === false && client.ended() === null && open() > 0)
      await Promise.race([
        client.untilEnded(3_000).catch(() => null),
        expect
          .poll(open, { timeout: 3_000 })
          .toBe(0)
          .catch(() => null),
      ])
  await expect.poll(open, { timeout: 10_000, interval: 10 }).toBe(0)
  expect(rig.ports.held.totalBytes).toBe(0)
}

function checkOneEnding(rig: ControlRig): void {
  for (let n = 0; n < rig.exchangeCount(); n += 1) {
    const facts = rig.facts(n)
    const count = (kind: string): number => facts.filter((fact) => fact.kind === kind).length
    expect([n, count('closed'), count('finished'), count('opened')]).toEqual([n, 1, 1, 1])
    expect(count('told')).toBeLessThanOrEqual(1)
  }
}

const wholeOf = (one: Call): string => (one.answer === 'json' ? JSON_BODY : bodyOf(one))
const bodyIn = async (client: RawSocket): Promise<{ text: string; isWhole: boolean; status: number }> => {
  const { text, isWhole, status } = await client.response({ limitMs: 8_000 })
  return { text, isWhole, status }
}

test('faults that only hold or hide: whoever stays gets every byte, in order; one ending each; nothing stays held [faults2.property-keeping]', async () => {
  await fc.assert(
    fc.asyncProperty(plan(KEEPING), async (asked) => {
      const upstream = await rawServer(answerCalls)
      const { rig, clients } = await play(upstream, asked)
      for (const [n, client] of clients.entries()) {
        const one = asked.calls[n]
        if (client === null || one === undefined || one.leaving !== 'stays') continue
        const { text, isWhole } = await bodyIn(client)
        expect([n, isWhole, createHash('sha1').update(text).digest('hex')]).toEqual([
          n,
          one.answer !== 'hangs up',
          createHash('sha1').update(wholeOf(one)).digest('hex'),
        ])
      }
      await settle(rig, clients)
      checkOneEnding(rig)
      for (const client of clients) client?.close()
      await rig.listener.close()
      await upstream.close()
    }),
    { numRuns: 12, interruptAfterTimeLimit: 40_000 },
  )
}, 120_000)

test('faults that change or cut: what no fault acted on is whole and as sent; one ending each; stop ends all disturbance [faults2.property-changing]', async () => {
  await fc.assert(
    fc.asyncProperty(plan([...CHANGING, ...KEEPING]), async (asked) => {
      const upstream = await rawServer(answerCalls)
      const { rig, clients } = await play(upstream, asked)
      await settle(rig, clients)
      checkOneEnding(rig)
      const acted = new Set(
        Array.from({ length: rig.exchangeCount() }, (_, n) => n).filter((n) =>
          rig.facts(n).some((fact) => fact.kind === 'noted' && fact.note.is === 'decided' && fact.note.what === 'fired'),
        ),
      )
      for (const [n, client] of clients.entries()) {
        const one = asked.calls[n]
        const at = exchangeOf(rig, n + 1)
        if (client === null || one === undefined || one.leaving !== 'stays' || at === null || acted.has(at)) continue
        const { text, status, isWhole } = await bodyIn(client)
        expect([n, status, isWhole, text === wholeOf(one)]).toEqual([n, 200, one.answer !== 'hangs up', true])
      }
      await stopsAll(rig, upstream)
      for (const client of clients) client?.close()
      await rig.listener.close()
      await upstream.close()
    }),
    { numRuns: 16, interruptAfterTimeLimit: 50_000 },
  )
}, 150_000)

/** Which exchange carried the call of that id. */
function exchangeOf(rig: ControlRig, id: number): number | null {
  for (let n = 0; n < rig.exchangeCount(); n += 1) {
    const asked = rig.facts(n).find((fact) => fact.kind === 'understood')
    if (asked?.kind === 'understood' && asked.ask.requests[0]?.id === String(id)) return n
  }
  return null
}

/** Whatever the faults are: after stop a call is as if there were none. */
async function stopsAll(rig: ControlRig, upstream: RawServer): Promise<void> {
  rig.control.stop()
  const one: Call = { tool: 'a', events: 3, answer: 'sse', split: 5, leaving: 'stays' }
  const client = await rawClient(rig.port)
  client.send(textOf(one, 99))
  const { text, isWhole } = await bodyIn(client)
  expect([text, isWhole, upstream.problems.filter((problem) => !/request|ended|closed/.test(String(problem)))]).toEqual([
    bodyOf(one),
    true,
    [],
  ])
  client.close()
}
