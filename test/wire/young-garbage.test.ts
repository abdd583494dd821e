/** What connections leave when their client left is collected with the young; asked of the real process's collector, in bytes. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
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
