/** The probe that users import, and the probe's ports, on real sockets and inside the real SDKs' handlers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { realClock } from '../../src/wire/real-clock.ts'
import { createProbe, type Probe } from '../../src/work/probe.ts'
import { callTool, inputSchema, said, v1Server, v2Server } from '../support/otlp-mcp.ts'
import { otlpRig } from '../support/otlp-rig.ts'
import { call, parentOf } from '../support/otlp-spans.ts'

const NEAR_MS = 50
const SOON = { timeout: 10_000 }
const probeTo = (url: string): Probe => {
  const probe = createProbe({ url })
  onTestFinished(() => probe.close())
  return probe
}
async function rigWithCall(options: Parameters<typeof otlpRig>[0] = {}) {
  const rig = await otlpRig(options)
  rig.register(call('c1', { openedAtMs: realClock.nowMs() - 5_000 }))
  const events = () => rig.told.map(({ exchangeId, report }) => `${exchangeId} ${report.event} ${report.outcome ?? ''}`.trim())
  return { ...rig, events }
}
const subject = { traceparent: parentOf(1), requestId: 7 }

describe('trackWork', () => {
  test('start and end arrive with their times, within 50 ms [work.probe-websocket]', async () => {
    const rig = await rigWithCall()
    const probe = probeTo(rig.url)
    const work = probe(subject)
    const startedAtMs = realClock.nowMs()
    await vi.waitFor(() => expect(rig.events()).toEqual(['c1 start']), SOON)
    const endedAtMs = realClock.nowMs()
    work.end()
    work.end('error')
    await vi.waitFor(() => expect(rig.events()).toEqual(['c1 start', 'c1 end ok']), SOON)
    expect(Math.abs((rig.told[0]?.report.workAtMs ?? 0) - startedAtMs)).toBeLessThan(NEAR_MS)
    expect(Math.abs((rig.told[1]?.report.workAtMs ?? 0) - endedAtMs)).toBeLessThan(NEAR_MS)
    expect(await probe.flush()).toBe(true)
    expect(probe.counts()).toEqual({ sent: 2, dropped: 0, refused: 0 })
  })
  test('run: results and errors pass untouched, sync and async; outcomes tell which', async () => {
    const rig = await rigWithCall()
    const probe = probeTo(rig.url)
    expect(probe.run(subject, () => 7)).toBe(7)
    expect(await probe.run(subject, async () => said('no', true))).toEqual(said('no', true))
    expect(() =>
      probe.run(subject, () => {
        throw new TypeError('mine')
      }),
    ).toThrow('mine')
    await expect(probe.run({ ...subject, signal: AbortSignal.abort() }, () => Promise.reject(new Error('stopped')))).rejects.toThrow(
      'stopped',
    )
    await vi.waitFor(() => expect(rig.told).toHaveLength(8), SOON)
    expect(rig.events().filter((line) => !line.includes('start'))).toEqual([
      'c1 end ok',
      'c1 end error',
      'c1 end error',
      'c1 abort aborted',
    ])
  })
  test('without a traceparent, with one that is none, or switched off: nothing is harmed [work.probe-harmless]', async () => {
    const rig = await rigWithCall()
    const probe = probeTo(rig.url)
    const odd = {
      get mcpReq(): never {
        throw new Error('odd')
      },
    }
    for (const strange of [{}, { traceparent: null }, { requestInfo: {} }, { mcpReq: {} }, odd]) expect(probe.run(strange, () => 1)).toBe(1)
    probe({ traceparent: 'nonsense' }).end()
    await vi.waitFor(() => expect(probe.counts()).toEqual({ sent: 2, dropped: 0, refused: 2 }), SOON)
    for (const url of ['off', '', 'no url', 'ftp://x']) {
      const off = probeTo(url)
      expect(off.run(subject, () => 1)).toBe(1)
      expect(await off.flush(10)).toBe(true)
    }
    expect(rig.told).toEqual([])
  })
  test('a sidecar that is absent, then there, then restarted: reports wait, bounded, and arrive [work.probe-reconnects]', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const address = { host: '127.0.0.1', port: (holder.address() as { port: number }).port }
    holder.close()
    await once(holder, 'close')
    const probe = probeTo(`http://127.0.0.1:${address.port}`)
    const before = performance.now()
    for (let n = 0; n < 1_500; n += 1) probe(subject)
    expect(performance.now() - before).toBeLessThan(2_000)
    expect(probe.counts()).toEqual({ sent: 0, dropped: 500, refused: 0 })
    expect(await probe.flush(50)).toBe(false)
    const first = await rigWithCall({ otlp: { listen: address, grpc: null } })
    await vi.waitFor(() => expect(first.told).toHaveLength(1_000), SOON)
    await first.receivers.close()
    probe(subject).end()
    const second = await rigWithCall({ otlp: { listen: address, grpc: null } })
    await vi.waitFor(() => expect(second.events()).toContain('c1 end ok'), SOON)
  })
  test('a sidecar that accepts and never answers delays no handler', async () => {
    const mute = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(mute, 'listening')
    onTestFinished(() => void mute.close())
    const probe = probeTo(`ws://127.0.0.1:${(mute.address() as { port: number }).port}/work`)
    expect(probe.run(subject, () => 'at once')).toBe('at once')
    expect(await probe.flush(50)).toBe(false)
  })
  test.each(['there', 'absent'])(
    'keeps no process alive, with the sidecar %s; flush sends before the end [work.probe-unref]',
    async (where) => {
      const rig = await rigWithCall()
      const url = where === 'there' ? rig.url : 'http://127.0.0.1:1'
      const module = join(import.meta.dirname, '../../src/work/probe.ts')
      const program = `const { trackWork } = await import(${JSON.stringify(module)})
      const work = trackWork(${JSON.stringify(subject)}); work.end(); console.log(await trackWork.flush(${where === 'there' ? 10_000 : 300}))`
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
        env: { ...process.env, IMPATIENT_HOP_WORK_URL: url },
      })
      let output = ''
      child.stdout.on('data', (chunk) => (output += chunk))
      child.stderr.on('data', (chunk) => (output += chunk))
      const [code] = (await once(child, 'exit')) as [number]
      expect([code, output.trim()]).toEqual([0, String(where === 'there')])
      if (where === 'there') await vi.waitFor(() => expect(rig.events()).toEqual(['c1 start', 'c1 end ok']), SOON)
    },
  )
})

describe('inside the SDKs', () => {
  const meta = { traceparent: parentOf(1) }
  const headers = { traceparent: parentOf(1) }
  test.each([
    ['header', { headers, meta: { traceparent: parentOf(99) } }],
    ['_meta', { meta }],
  ])('v2 handler, traceparent in the %s [work.probe-sdk-handlers]', async (_where, asked) => {
    const rig = await rigWithCall()
    const probe = probeTo(rig.url)
    const url = await v2Server((server) => {
      server.registerTool(
        'render',
        { inputSchema },
        probe.handler(async ({ text }) => said(text)),
      )
    })
    expect(await callTool(url, '2026-07-28', asked)).toMatchObject({ id: 7, result: { content: [{ text: 'x' }] } })
    await vi.waitFor(() => expect(rig.events()).toEqual(['c1 start', 'c1 end ok']), SOON)
  })
  test.each([
    ['header', { headers }],
    ['_meta', { meta }],
  ])('v1 handler, traceparent in the %s [work.probe-sdk-handlers]', async (_where, asked) => {
    const rig = await rigWithCall()
    const probe = probeTo(rig.url)
    const url = await v1Server((server) => {
      server.registerTool(
        'render',
        { inputSchema: inputSchema.shape },
        probe.handler(async ({ text }) => said(text)),
      )
      server.registerTool(
        'bare',
        {},
        probe.handler(async () => said('bare', true)),
      )
    })
    expect(await callTool(url, '2025-11-25', asked)).toMatchObject({ id: 7, result: { content: [{ text: 'x' }] } })
    expect(await callTool(url, '2025-11-25', { ...asked, tool: 'bare' })).toMatchObject({ result: { isError: true } })
    await vi.waitFor(() => expect(rig.events()).toEqual(['c1 start', 'c1 end ok', 'c1 start', 'c1 end error']), SOON)
  })
  test('inside a handler, run takes the SDK’s context', async () => {
    const rig = await rigWithCall()
    const probe = probeTo(rig.url)
    const url = await v2Server((server) => {
      server.registerTool('render', { inputSchema }, async ({ text }, context) => await probe.run(context, async () => said(text)))
    })
    await callTool(url, '2026-07-28', { headers })
    await vi.waitFor(() => expect(rig.events()).toEqual(['c1 start', 'c1 end ok']), SOON)
  })
})

describe('the ports', () => {
  const message = { event: 'end', traceparent: parentOf(1), requestId: 7 }
  test('POST /work: 202, 400 with the key, 405, 413, 403 for a browser [work.probe-post]', async () => {
    const rig = await rigWithCall()
    const post = (body: string, headers: Record<string, string> = {}) => fetch(`${rig.url}/work`, { method: 'POST', body, headers })
    expect((await post(JSON.stringify(message))).status).toBe(202)
    expect(rig.events()).toEqual(['c1 end ok'])
    const bad = await post('{"event":"begin"}')
    expect([bad.status, await bad.json()]).toEqual([400, { status: 400, detail: 'event: expected "start", "end" or "abort", got "begin"' }])
    expect((await post('{')).status).toBe(400)
    expect((await post('x'.repeat(70_000))).status).toBe(413)
    expect((await post(JSON.stringify(message), { origin: 'http://evil.example' })).status).toBe(403)
    expect((await fetch(`${rig.url}/work`)).status).toBe(405)
    expect(rig.counted).toEqual(['probe matched'])
  })
  test('WebSocket /work: a bad message is answered with its problem and the next one is taken; oversized frames close', async () => {
    const rig = await rigWithCall()
    const open = async (path: string, options = {}) => {
      const socket = new WebSocket(`${rig.url.replace('http', 'ws')}${path}`, options)
      onTestFinished(() => socket.terminate())
      const problem = await new Promise<Error | null>((resolve) => {
        socket.once('open', () => resolve(null))
        socket.on('error', resolve)
      })
      return { socket, problem }
    }
    const { socket } = await open('/work')
    const answers: string[] = []
    socket.on('message', (text) => answers.push(String(text)))
    socket.send('{')
    socket.send(Buffer.from('{}'))
    socket.send('{"event":"end"}')
    socket.send(JSON.stringify(message))
    await vi.waitFor(() => expect(rig.events()).toEqual(['c1 end ok']), SOON)
    await vi.waitFor(() => expect(answers).toHaveLength(3), SOON)
    expect(answers[2]).toContain('{"problem":"traceparent: expected')
    const closed = once(socket, 'close')
    socket.send('x'.repeat(70_000))
    expect((await closed)[0]).toBe(1009)
    expect((await open('/elsewhere')).problem?.message).toContain('404')
    expect((await open('/work', { origin: 'http://evil.example' })).problem?.message).toContain('403')
  })
})
