/** Real silence of 70 s, wherever one can be: longer than every timer that Node, its parser or its agent has by default. */
import { expect, test } from 'vitest'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawHandler } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { wireRig } from '../support/wire-rig.ts'

const SILENCE_MS = 70_000
const LIMIT_MS = 100_000
const silence = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SILENCE_MS))

async function through(serve: RawHandler) {
  const server = await rawServer(serve)
  const rig = await wireRig(server.url)
  return rawClient(rig.port)
}

const stories: Readonly<Record<string, () => Promise<void>>> = {
  async 'before the head'() {
    const client = await through(async (connection) => {
      await connection.request()
      await silence()
      await connection.send(sseHead + chunk(resultEvent()) + lastChunk)
    })
    void client.send(callText())
    expect(await client.response({ limitMs: LIMIT_MS })).toMatchObject({ status: 200, text: resultEvent(), isWhole: true })
  },
  async 'in mid-stream'() {
    const client = await through(async (connection) => {
      await connection.request()
      await connection.send(sseHead + chunk(': hi\n\n'))
      await silence()
      await connection.send(chunk(resultEvent()) + lastChunk)
    })
    void client.send(callText())
    expect(await client.response({ limitMs: LIMIT_MS })).toMatchObject({ text: `: hi\n\n${resultEvent()}`, isWhole: true })
  },
  async 'in mid-stream on a reused connection whose server hinted 5 s'() {
    const client = await through(async (connection) => {
      await connection.request()
      await connection.send(
        headText(200, [
          ['Keep-Alive', 'timeout=5'],
          ['Content-Length', '0'],
        ]),
      )
      await connection.request()
      await connection.send(sseHead + chunk(': hi\n\n'))
      await silence()
      await connection.send(chunk(resultEvent()) + lastChunk)
    })
    void client.send(callText())
    expect((await client.response()).status).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 100)) // the connection is back in the pool
    void client.send(callText())
    expect(await client.response({ limitMs: LIMIT_MS })).toMatchObject({ text: `: hi\n\n${resultEvent()}`, isWhole: true })
  },
  async 'within an upload'() {
    const client = await through(async (connection) => {
      const { text } = await connection.request(LIMIT_MS)
      await connection.send(headText(200, [['Content-Length', String(text.length)]]) + text)
    })
    void client.send(requestText('POST', '/', [['Content-Length', '6']], 'one'))
    await silence()
    void client.send('two')
    expect(await client.response({ limitMs: LIMIT_MS })).toMatchObject({ status: 200, text: 'onetwo' })
  },
  async 'between two requests of a client'() {
    const client = await through(async (connection) => {
      await connection.request()
      await connection.send(headText(200, [['Content-Length', '0']]))
    })
    for (let count = 0; count < 2; count += 1) {
      if (count > 0) await silence()
      void client.send(callText())
      expect((await client.response()).status).toBe(200)
    }
  },
}

test(`silence of ${SILENCE_MS / 1_000} s ends nothing`, async () => {
  await Promise.all(
    Object.entries(stories).map(async ([name, story]) => {
      await story().catch((problem: unknown) => {
        throw new Error(name, { cause: problem })
      })
    }),
  )
})
