/** The test servers and clients themselves, as the SDKs behave without anything between them. */
import { describe, expect, test } from 'vitest'
import { connectV1Client, connectV2Client } from '../support/mcp-clients.ts'
import { startV1Server } from '../support/mcp-v1-server.ts'
import { startV2Server } from '../support/mcp-v2-server.ts'

describe('v2 server, v2 client', () => {
  test('tools, progress, errors, resources, prompts', async () => {
    const server = await startV2Server()
    const client = await connectV2Client(server.url)
    const progress: number[] = []
    const options = { onprogress: (of: { progress: number }) => void progress.push(of.progress) }
    expect(await client.callTool({ name: 'slow', arguments: { everyMs: 5, forMs: 15 } }, options)).toMatchObject({
      content: [{ text: 'slow' }],
    })
    expect(progress).toEqual([1, 2, 3])
    expect(await client.callTool({ name: 'error', arguments: {} })).toMatchObject({ isError: true })
    expect(await client.readResource({ uri: 'test://item/7' })).toMatchObject({ contents: [{ text: '{"id":"7"}' }] })
    expect(await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } })).toMatchObject({
      messages: [{ content: { text: 'Hello, Ada!' } }],
    })
    expect(server.requests[1]?.headers['mcp-method']).toBe('tools/call')
  })
  test('closing the stream stops the obedient and not the deaf', async () => {
    const server = await startV2Server()
    const client = await connectV2Client(server.url)
    for (const name of ['obedient', 'deaf']) {
      const leaving = new AbortController()
      const options = { signal: leaving.signal, onprogress: () => leaving.abort() }
      await client.callTool({ name, arguments: { everyMs: 20, forMs: 200 } }, options).catch(() => undefined)
    }
    await expect.poll(() => server.runs.map(({ outcome }) => outcome)).toEqual(['stopped', 'done'])
    const [obedient, deaf] = server.runs
    expect(deaf?.abortedMs).toBeLessThan(deaf?.endedMs ?? 0)
    expect(obedient?.progressSent).toBeLessThan(10)
  })
  test('a subscription tells of changes until it is closed', async () => {
    const server = await startV2Server()
    const client = await connectV2Client(server.url)
    const updated: unknown[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri))
    const subscription = await client.listen({ resourceSubscriptions: ['test://text'] })
    await server.resourceUpdated('test://text')
    await expect.poll(() => updated).toEqual(['test://text'])
    await subscription.close()
    expect(await subscription.closed).toBe('local')
  })
})

describe.each(['stateful', 'stateless', 'json'] as const)('v1 server, %s', (mode) => {
  test.each(['v1', 'v2'] as const)('%s client: tools, progress, errors', async (of) => {
    const server = await startV1Server({ mode })
    const progress: number[] = []
    const onprogress = (of: { progress: number }) => void progress.push(of.progress)
    const slow = { name: 'slow', arguments: { everyMs: 5, forMs: 15 } }
    if (of === 'v1') {
      const client = await connectV1Client(server.url)
      expect(await client.callTool(slow, undefined, { onprogress })).toMatchObject({ content: [{ text: 'slow' }] })
      expect(await client.callTool({ name: 'error' })).toMatchObject({ isError: true })
    } else {
      const client = await connectV2Client(server.url, { modern: false })
      expect(await client.callTool(slow, { onprogress })).toMatchObject({ content: [{ text: 'slow' }] })
      expect(await client.callTool({ name: 'error' })).toMatchObject({ isError: true })
    }
    expect(progress).toEqual(mode === 'json' ? [] : [1, 2, 3])
    expect(server.requests.some(({ headers }) => headers['mcp-session-id'] !== undefined)).toBe(mode !== 'stateless')
  })
})
test('v1 stateful: a cancelled call stops the obedient', async () => {
  const server = await startV1Server()
  const client = await connectV1Client(server.url)
  const leaving = new AbortController()
  const options = { signal: leaving.signal, onprogress: () => leaving.abort() }
  await client.callTool({ name: 'obedient', arguments: { everyMs: 20, forMs: 400 } }, undefined, options).catch(() => undefined)
  await expect.poll(() => server.runs[0]?.outcome).toBe('stopped')
})
