/** The raw client and server themselves: a measuring stick must be straight. */
import { expect, test } from 'vitest'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'

test('a whole exchange: request and chunked answer with trailers, twice on one connection', async () => {
  const server = await rawServer(async (connection) => {
    for (let n = 0; n < 2; n += 1) {
      const request = await connection.request()
      connection.send(headText(103, [['Link', '<a>']], 'Early Hints') + sseHead + chunk(`${request.method} ${request.header('mcp-name')}`))
      connection.send(`${chunk(progressEvent(1))}0\r\nX-Sum: 1\r\n\r\n`)
    }
  })
  const client = await rawClient(server.port)
  for (const tool of ['one', 'two']) {
    client.send(callText(tool))
    const answer = await client.response()
    expect(answer).toMatchObject({ status: 200, framing: 'chunked', isWhole: true, trailers: [['X-Sum', '1']] })
    expect(answer.text).toBe(`POST ${tool}${progressEvent(1)}`)
    expect(answer.chunks).toEqual([8, progressEvent(1).length])
    expect(answer.interims.map(({ startLine }) => startLine)).toEqual(['HTTP/1.1 103 Early Hints'])
  }
  expect(server.connections).toHaveLength(1)
  expect(server.problems).toEqual([])
})
test.each(['fin', 'rst'] as const)('how the server ends is told: %s, mid-body', async (how) => {
  const server = await rawServer(async (connection) => {
    await connection.request()
    await connection.send(sseHead + chunk('data: 1\n\n'))
    connection[how]()
  })
  const client = await rawClient(server.port)
  client.send(callText())
  const answer = await client.response()
  expect(answer).toMatchObject({ isWhole: false, text: 'data: 1\n\n' })
  expect((await client.untilEnded()).how).toBe(how)
})
test.each(['fin', 'rst'] as const)('how the client ends is told: %s, with the time', async (how) => {
  const server = await rawServer(() => undefined)
  const client = await rawClient(server.port)
  client.send(requestText('GET', '/x'))
  const connection = await server.connection(0)
  expect(await connection.request()).toMatchObject({ method: 'GET', target: '/x', framing: 'none', isWhole: true })
  const leftAtMs = performance.now()
  client[how]()
  const ended = await connection.untilEnded()
  expect(ended.how).toBe(how)
  expect(ended.atMs).toBeGreaterThanOrEqual(leftAtMs)
})
test('an EOF-delimited answer is whole by FIN and not by reset', async () => {
  for (const how of ['fin', 'rst'] as const) {
    const server = await rawServer(async (connection) => {
      await connection.request()
      await connection.send(`${headText(200)}all`)
      await new Promise((resolve) => setTimeout(resolve, 30)) // a reset may drop what was not read yet
      connection[how]()
    })
    const client = await rawClient(server.port)
    client.send(callText())
    expect(await client.response()).toMatchObject({ framing: 'eof', text: 'all', isWhole: how === 'fin' })
  }
})
test('HEAD, 204 and Content-Length are framed as they are; non-ASCII bytes stay', async () => {
  const server = await rawServer(async (connection) => {
    await connection.request()
    connection.send(headText(200, [['Content-Length', '99']]))
    await connection.request()
    connection.send(headText(204, [], 'No Content'))
    await connection.request()
    connection.send(
      `${headText(200, [
        ['X-Name', 'caf\xe9'],
        ['Content-Length', '2'],
      ])}ok`,
    )
  })
  const client = await rawClient(server.port)
  client.send(requestText('HEAD', '/'))
  expect(await client.response({ method: 'HEAD' })).toMatchObject({ framing: 'none', isWhole: true })
  client.send(requestText('GET', '/'))
  expect(await client.response()).toMatchObject({ status: 204, reason: 'No Content' })
  client.send(requestText('GET', '/'))
  const answer = await client.response()
  expect(answer).toMatchObject({ framing: 'length', text: 'ok', isWhole: true })
  expect(answer.header('x-name')).toBe('caf\xe9')
})
test('a wait that fails says what came instead', async () => {
  const server = await rawServer((connection) => connection.send(`${headText(200)}${resultEvent(7)}`))
  const client = await rawClient(server.port)
  await client.until('result')
  await expect(client.until('progress', 50)).rejects.toThrow(/waited 50 ms for progress; came: .*result/)
  await expect(server.connection(3, 50)).rejects.toThrow(/1 came/)
})
test('a paused reader makes the writer wait, and its end is seen once it reads again', async () => {
  const server = await rawServer(async (connection) => {
    await connection.request()
    connection.send(sseHead)
    connection.send(chunk('x'.repeat(20_000_000)))
    connection.send(lastChunk)
  })
  const client = await rawClient(server.port)
  client.pause()
  client.send(callText())
  const connection = await server.connection(0)
  await expect.poll(() => connection.queuedBytes()).toBeGreaterThan(1_000_000)
  client.resume()
  expect((await client.response()).body).toHaveLength(20_000_000)
})
