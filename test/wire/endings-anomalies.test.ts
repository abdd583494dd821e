/** Each write and each event of the data path's sockets fails once, in turn, until a run passes untouched: every run ends once, and leaves nothing open. */
import { expect, test } from 'vitest'
import { drainSeat } from '../../src/core/drain-seat.ts'
import type { SeatPlan } from '../../src/core/seat.ts'
import { compileLine } from '../../src/hops/compile.ts'
import type { Anomaly } from '../support/anomaly.ts'
import { ANOMALIES, inject } from '../support/anomaly.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { buffering, hop, idle, total } from '../support/line-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import type { RawSocket } from '../support/raw-socket.ts'
import { watchSockets } from '../support/socket-watch.ts'
import { wireRig } from '../support/wire-rig.ts'

/** A loop that never passes untouched is no test. */
const RUNS_MAX = 200
const LIMIT_MS = 60_000

interface Story {
  readonly plans: readonly SeatPlan[]
  readonly serve: (connection: RawConnection) => Promise<unknown>
  readonly play: (client: RawSocket, clock: FakeClock) => Promise<unknown>
}

/** A connection that breaks is what is played here; a wait that nothing ends is a failure. */
const settled = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((problem: Error) => {
    if (problem.message.startsWith('waited')) throw problem
    return null
  })

async function answers(connection: RawConnection): Promise<void> {
  for (;;) {
    const { target } = await connection.request()
    if (target === '/eof') {
      await connection.send(headText(200) + progressEvent(1))
      return connection.fin()
    }
    if (target === '/silent') continue
    await connection.send(sseHead + chunk(progressEvent(1)))
    if (target !== '/endless') await connection.send(chunk(resultEvent()) + lastChunk)
  }
}
/** Uploads in pieces, asks again on the same connection, pipelines, and leaves. */
async function talk(client: RawSocket): Promise<void> {
  await client.send(
    `${requestText('POST', '/mcp', [
      ['Transfer-Encoding', 'chunked'],
      ['Expect', '100-continue'],
    ])}${chunk('{"half":')}`,
  )
  await client.send(chunk('1}') + lastChunk)
  await settled(client.response())
  await client.send(callText() + requestText('GET', '/two'))
  await settled(client.response())
  await settled(client.response({ method: 'GET' }))
  await client.send(requestText('GET', '/eof'))
  await settled(client.response({ method: 'GET' }))
}
/** Begins an endless answer; whether it began. What then happens is the clock's doing, or the client's. */
async function begin(client: RawSocket): Promise<boolean> {
  await client.send(requestText('GET', '/endless'))
  await settled(client.until(/"progress":1|^HTTP\/1\.1 502/))
  return client.text().includes('"progress":1')
}

const stories: Record<string, Story> = {
  'nobody on the line': { plans: [], serve: answers, play: talk },
  'a path of hops': {
    plans: compileLine(
      [
        hop('outer', { buffering: buffering('full', { holdHeaders: true }), total: total(LIMIT_MS * 9) }),
        hop('inner', { idle: idle(LIMIT_MS) }),
      ],
      [],
    ),
    serve: answers,
    play: talk,
  },
  'a cut by FIN': {
    plans: compileLine([hop('idle', { idle: idle(LIMIT_MS) })], []),
    serve: answers,
    async play(client, clock) {
      if (!(await begin(client))) return
      clock.advance(LIMIT_MS)
      await settled(client.untilEnded())
    },
  },
  'a cut by RST, the server too': {
    plans: compileLine([hop('total', { total: total(LIMIT_MS, { ending: 'rst', upstream: 'rst' }) })], []),
    serve: answers,
    async play(client, clock) {
      if (!(await begin(client))) return
      clock.advance(LIMIT_MS)
      await settled(client.untilEnded())
    },
  },
  'a clean cut, drained': {
    plans: [...compileLine([hop('idle', { idle: idle(LIMIT_MS, { ending: 'clean' }) })], []), drainSeat()],
    serve: answers,
    async play(client, clock) {
      if (!(await begin(client))) return
      clock.advance(LIMIT_MS)
      await settled(client.response({ method: 'GET' }))
    },
  },
  'a client that leaves': {
    plans: [],
    serve: answers,
    async play(client) {
      await begin(client)
      client.fin()
      await settled(client.untilEnded())
    },
  },
}

/** One run; whether the anomaly came to pass. */
async function run({ plans, serve, play }: Story, anomaly: Anomaly): Promise<boolean> {
  const clock = fakeClock()
  const sockets = watchSockets()
  const server = await rawServer(serve)
  const rig = await wireRig(server.url, { plans, clock })
  const injection = inject(sockets, anomaly, () => ({ client: rig.port, server: server.port }))
  const client = await rawClient(rig.port)
  await play(client, clock)
  client.close()
  await untilTrue(
    () => sockets.accepted(rig.port).every(({ destroyed }) => destroyed),
    () => clock.advance(5_000),
  )
  for (const connection of server.connections) connection.close()
  clock.advance(1_000_000)
  for (let n = 0; n < rig.exchangeCount(); n += 1) {
    await rig.fact('finished', n)
    const kinds = rig.facts(n).map(({ kind }) => kind)
    for (const once of ['opened', 'understood', 'closed', 'finished'] as const)
      expect([once, kinds.filter((kind) => kind === once).length]).toEqual([once, 1])
    for (const atMost of ['told', 'server_over', 'asked'] as const)
      expect(kinds.filter((kind) => kind === atMost).length).toBeLessThanOrEqual(1)
    expect(kinds.at(-1)).toBe('finished')
  }
  expect(rig.listener.openCount()).toBe(0)
  expect(rig.ports.held.totalBytes).toBe(0)
  expect(clock.armed()).toBe(0)
  rig.ports.upstream.close()
  await untilTrue(() => sockets.connected(server.port).every(({ destroyed }) => destroyed))
  await rig.listener.close()
  await server.close()
  sockets.close()
  return injection.wasReached()
}

async function untilTrue(isTrue: () => boolean, nudge: () => void = () => undefined): Promise<void> {
  if (isTrue()) return
  nudge()
  await expect.poll(isTrue, { timeout: 10_000, interval: 2 }).toBe(true)
}

const cases = Object.keys(stories).flatMap((name) =>
  (['client', 'server'] as const).flatMap((side) => ANOMALIES.map((what) => ({ name, side, what }))),
)

test.each(cases)('$name: towards the $side, $what [endings.survives]', async ({ name, side, what }) => {
  const story = stories[name]
  if (story === undefined) throw new Error(name)
  let nth = 1
  while (nth < RUNS_MAX) {
    const wasReached = await run(story, { side, what, nth }).catch((problem: Error) => {
      problem.message = `at the ${nth}. ${what}: ${problem.message}`
      throw problem
    })
    if (!wasReached) break
    nth += 1
  }
  expect(nth).toBeGreaterThan(1)
  expect(nth).toBeLessThan(RUNS_MAX)
})
