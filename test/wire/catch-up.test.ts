/** Who asks for what is due while a poll is handled: every event of a connection, on either side and on either engine. */
import { expect, test } from 'vitest'
import { realClock } from '../../src/wire/real-clock.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, progressEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'
import { wsClient, wsServer } from '../support/websocket-rig.ts'
import type { WireRig } from '../support/wire-rig.ts'
import { wireRig } from '../support/wire-rig.ts'

test('each event of a connection asks for what is due: its coming, what it says, its turns, its going [accuracy.between-events]', async () => {
  let asked = 0
  const clock = {
    ...realClock,
    catchUp() {
      asked += 1
    },
  }
  const since = (): number => {
    const sum = asked
    asked = 0
    return sum
  }
  const server = await rawServer(async (connection) => {
    await connection.request()
    await connection.send(`${sseHead}${chunk(progressEvent(1))}`)
  })
  const rig = await wireRig(server.url, { clock })
  const client = await rawClient(rig.port)
  await expect.poll(since).toBeGreaterThan(0)
  client.send(callText())
  await client.until('progress')
  expect(since()).toBeGreaterThanOrEqual(3) // the request, the head, the event
  client.rst()
  await rig.fact('finished')
  await expect.poll(() => asked).toBeGreaterThanOrEqual(3) // the turn of its leaving, and both connections' ends
})
test('a release that falls due while an exchange opens finds it among the open ones [accuracy.between-events]', async () => {
  const server = await wsServer({ onSession: () => undefined })
  const found: (readonly string[])[] = []
  let opened = 0
  const rig: WireRig = await wireRig(server.url, {
    openRecord() {
      opened += 1
      realClock.after(0, () => found.push(rig.listener.openIds()))
      return { id: `c${opened}`, tell: () => undefined }
    },
  })
  const client = await rawClient(rig.port)
  client.send(`${callText().split('\r\n\r\n')[0]}\r\n\r\n{`) // its body is under way
  await expect.poll(() => found).toEqual([['c1']])
  await wsClient(rig.port)
  await expect.poll(() => found.map((ids) => ids.at(-1))).toEqual(['c1', 'c2'])
})
