/** The books are kept behind the bytes they tell of, also where these are sent at the end of a poll. */
import { ServerResponse } from 'node:http'
import { afterEach, expect, test, vi } from 'vitest'
import { createJournal } from '../../src/journal/journal.ts'
import { behindPoll, realClock } from '../../src/wire/real-clock.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'
import { wireRig } from '../support/wire-rig.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('the head of an answer whose body comes later goes out before the books are kept [bench.bytes-first]', async () => {
  const order: string[] = []
  const { write } = ServerResponse.prototype
  vi.spyOn(ServerResponse.prototype, 'write').mockImplementation(function (this: ServerResponse, ...args) {
    order.push('written')
    return write.apply(this, args as never)
  })
  const journal = createJournal({
    ...{ clock: realClock, graceMs: 0, waitMs: 0, later: behindPoll },
    sinks: [{ name: 'order', fact: (_, fact) => void (fact.kind === 'head' && fact.at === 'server' && order.push('taken')) }],
    onSinkError: (_, error) => order.push(String(error)),
  })
  const server = await rawServer(async (connection) => {
    await connection.request()
    await connection.send(sseHead) // and nothing more
  })
  const rig = await wireRig(server.url, { openRecord: journal.openExchange })
  const client = await rawClient(rig.port)
  await client.send(callText())
  await vi.waitFor(() => expect(order).toContain('taken'))
  expect(order).toEqual(['written', 'taken'])
})
