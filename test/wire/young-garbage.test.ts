/** What connections leave, and bursts of events, is collected with the young; asked of the real process's collector, in bytes. */
import type { ServerResponse } from 'node:http'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { expect, test } from 'vitest'
import { ensureBuilt, runShell } from '../support/built-cli.ts'
import { freePort } from '../support/free-port.ts'
import { whenTestEnds } from '../support/raw-socket.ts'

const COUNT = 1_600
const AT_ONCE = 40
/** The first ones let V8 compile, and move what the start left. */
const WARM = 200

async function silentServer(): Promise<number> {
  const server = http.createServer((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(': open\n\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenTestEnds(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A client that leaves as soon as it has heard anything. */
const leave = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = http.get({ port, host: '127.0.0.1', path: '/events', agent: false }, (answer) => {
      answer.once('data', () => request.destroy())
      answer.once('close', resolve)
      answer.on('error', () => undefined)
    })
    request.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? resolve() : reject(error)))
  })

async function leaveMany(port: number, count: number): Promise<void> {
  let left = count
  const next = async (): Promise<void> => {
    for (; left > 0; await leave(port)) left -= 1
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
}

/** Of all collections of the young so far. */
const promotedIn = (said: string): readonly number[] => [...said.matchAll(/gc=s .* promoted=(\d+)/g)].map(([, bytes]) => Number(bytes))

test.each(['http-proxy', 'direct'])(
  'a connection whose client left is garbage at the next collection of the young, engine %s [bench.young-garbage]',
  async (engine) => {
    ensureBuilt()
    const [upstream, port] = [await silentServer(), await freePort()]
    const sidecar = runShell(
      `${process.execPath} --trace-gc-nvp --max-semi-space-size=4 dist/main.js run --upstream http://127.0.0.1:${upstream} ` +
        `--listen 127.0.0.1:${port} --admin 127.0.0.1:0 --otlp none --otlp-grpc none --upstream-engine ${engine}`,
    )
    await sidecar.until(/"msg":.*listen|listening/i)
    await leaveMany(port, WARM)
    const warm = promotedIn(sidecar.said()).length
    await leaveMany(port, COUNT)
    const later = promotedIn(sidecar.said()).slice(warm)
    expect(later.length).toBeGreaterThan(10)
    const bytesEach = later.reduce((sum, bytes) => sum + bytes, 0) / COUNT
    // A connection to the client and one to the server, with all that hangs on them, are 25 KB; those under way may be met twice.
    expect(bytesEach).toBeLessThan(5_000)
  },
  60_000,
)

const STREAMS = 1_100
/** Of each stream in each burst. */
const EVENTS = 10
const BURSTS = 8

/** Streams that all have their events in one moment. */
async function burstingServer(): Promise<{ readonly port: number; burst(): void }> {
  const open: ServerResponse[] = []
  const server = http.createServer((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(': open\n\n')
    open.push(res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenTestEnds(() => {
    server.close()
    server.closeAllConnections()
  })
  const event = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x'.repeat(60) } })}\n\n`.repeat(
    EVENTS,
  )
  return {
    port: (server.address() as AddressInfo).port,
    burst: () => {
      for (const res of open) res.write(event)
    },
  }
}

/** So many clients that listen; what comes back counts the events that came to all of them. */
async function listenMany(port: number, count: number): Promise<() => number> {
  let events = 0
  let begun = 0
  await new Promise<void>((resolve, reject) => {
    for (let at = 0; at < count; at += 1) {
      const socket = net.connect(port, '127.0.0.1', () =>
        socket.write('GET /events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n'),
      )
      whenTestEnds(() => socket.destroy())
      socket.on('error', reject)
      let tail = ''
      socket.on('data', (bytes) => {
        const text = tail + bytes.toString('latin1')
        events += text.split('data: ').length - 1
        if (text.includes(': open')) begun += 1
        tail = text.slice(Math.max(text.lastIndexOf('data: ') + 6, text.lastIndexOf(': open') + 6, text.length - 5))
        if (begun === count) resolve()
      })
    }
  })
  return () => events
}

test('what is told of a burst of events does not outlive the burst: no more than a thousand facts wait [bench.young-facts]', async () => {
  ensureBuilt()
  const [upstream, port] = [await burstingServer(), await freePort()]
  const sidecar = runShell(
    `${process.execPath} --trace-gc-nvp --max-semi-space-size=4 dist/main.js run --upstream http://127.0.0.1:${upstream.port} ` +
      `--listen 127.0.0.1:${port} --admin 127.0.0.1:0 --otlp none --otlp-grpc none`,
  )
  await sidecar.until(/"msg":.*listen|listening/i)
  const eventsSoFar = await listenMany(port, STREAMS)
  const burst = async (times: number): Promise<void> => {
    const until = eventsSoFar() + times * STREAMS * EVENTS
    for (let time = 0; time < times; time += 1) {
      sidecar.child.kill('SIGSTOP') // so that all of it is there at once
      upstream.burst()
      await new Promise((resolve) => setTimeout(resolve, 20))
      sidecar.child.kill('SIGCONT')
      while (eventsSoFar() < until - (times - time - 1) * STREAMS * EVENTS) await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  await burst(BURSTS)
  const warm = promotedIn(sidecar.said()).length
  await burst(BURSTS)
  const later = promotedIn(sidecar.said()).slice(warm)
  expect(later.length).toBeGreaterThan(5)
  const bytesEach = later.reduce((sum, bytes) => sum + bytes, 0) / (BURSTS * STREAMS * EVENTS)
  expect(bytesEach).toBeLessThan(100)
}, 60_000)
