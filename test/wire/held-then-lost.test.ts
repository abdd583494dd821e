/** A server that breaks off while its answer is held: what it had sent goes first. */
import { expect, test } from 'vitest'
import { controlRig } from '../support/control-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, resultEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'
import { turn } from '../support/relay.ts'

test.each(['client', 'server'] as const)(
  'all bytes that came before the break reach the client, held by a stall at the %s [transparency.held-then-lost]',
  async (at) => {
    const body = resultEvent()
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send(sseHead)
      for (let from = 0; from < body.length; from += 7) {
        await connection.send(chunk(body.slice(from, from + 7)))
        await turn()
      }
      connection.fin() // without the last chunk
    })
    const rig = await controlRig(server.url, { faults: [{ name: 'f', do: { stall: { from: 'body', for: '20ms' } }, at }] })
    const client = await rawClient(rig.port)
    await client.send(callText())
    const { text, isWhole } = await client.response({ limitMs: 8_000 })
    expect([text, isWhole]).toEqual([body, false])
    const facts = (await rig.fact('finished')) && rig.facts(0)
    expect(facts.find((fact) => fact.kind === 'closed')).toMatchObject({ cause: { kind: 'server_close' }, ending: 'fin' })
  },
)
