/** What a user should know of an exchange, and the silence that whoever closed it has met. */
import { expect, test } from 'vitest'
import { compileLine } from '../../src/hops/compile.ts'
import { hopSchema } from '../../src/hops/hop-schema.ts'
import { resolveHop } from '../../src/hops/resolve.ts'
import { createJournal } from '../../src/journal/journal.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { rawClient } from '../support/raw-client.ts'
import type { RawConnection } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { wireRig } from '../support/wire-rig.ts'

const ASK = 'POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}'
const SSE = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

async function rigOf(handler: (connection: RawConnection) => unknown, ...hops: unknown[]) {
  const clock = fakeClock()
  const journal = createJournal({ clock, sinks: [], graceMs: 2_000, waitMs: 60_000, onSinkError: () => undefined })
  const plans = compileLine(
    hops.map((file, index) => resolveHop(hopSchema.parse(file), { name: `path[${index}]:custom`, preset: 'custom' })),
    [],
  )
  const server = await rawServer(handler)
  const rig = await wireRig(server.url, { clock, plans, openRecord: journal.openExchange })
  const client = await rawClient(rig.port)
  await client.send(ASK)
  return { clock, journal, server, rig, client }
}

test('a clean cut of a promised length is a FIN, and the record says so [endings.clean-became-fin-told]', async () => {
  const { clock, journal, rig } = await rigOf(
    async (connection) => {
      await connection.request()
      await connection.send('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
    },
    { idle: { after: '1s', ending: 'clean' } },
  )
  await rig.fact('moved', 0, ({ flow }) => flow === 'sent')
  clock.advance(1_000)
  await rig.fact('finished')
  expect(journal.call('c1')).toMatchObject({ ending: 'fin', notices: ['clean-became-fin'] })
})

test('a connection kept from an earlier request that dies with this one on it is noticed [pool.stale-told]', async () => {
  const { journal, client, rig } = await rigOf(async (connection) => {
    await connection.request()
    await connection.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    await connection.request()
    connection.rst()
  })
  await client.response()
  await client.send(ASK)
  expect((await client.response()).status).toBe(502)
  await rig.fact('finished', 1)
  expect(journal.call('c2')?.notices).toContain('stale-socket')
})

test('what an inner hop holds is silence to the one that cuts, and the record tells that silence [ledger.silence-of-the-closer]', async () => {
  const { clock, journal, rig, server } = await rigOf(
    async (connection) => {
      await connection.request()
      await connection.send(SSE)
    },
    { idle: { after: '1s' } },
    { buffering: { mode: 'full' } },
  )
  await rig.fact('head', 0, ({ at }) => at === 'client')
  clock.advance(700)
  const connection = await server.connection(0)
  await connection.send(chunk('data: x\n\n'))
  await rig.fact('moved', 0, ({ flow }) => flow === 'seen')
  clock.advance(300)
  await rig.fact('finished')
  expect(journal.call('c1')).toMatchObject({ cause: 'idle_timeout', silenceAtCloseMs: 1_000, longestSilenceMs: 1_000 })
})

test('a client that leaves has met the silence of what it was sent', async () => {
  const { clock, journal, rig, server, client } = await rigOf(
    async (connection) => {
      await connection.request()
      await connection.send(SSE)
    },
    { buffering: { mode: 'full' } },
  )
  await rig.fact('head', 0, ({ at }) => at === 'client')
  clock.advance(700)
  const connection = await server.connection(0)
  await connection.send(chunk('data: x\n\n'))
  await rig.fact('moved', 0, ({ flow }) => flow === 'seen')
  clock.advance(500)
  client.rst()
  await rig.fact('finished')
  expect(journal.call('c1')).toMatchObject({ cause: 'client_reset', silenceAtCloseMs: 1_200 })
})
