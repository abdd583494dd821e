/** A cut on the wire: what came before it arrives whole, it finishes whoever reads or not, and both sides see the break that was asked for. */
import { expect, test } from 'vitest'
import type { Break } from '../../src/core/signal.ts'
import { compileLine } from '../../src/hops/compile.ts'
import type { Hop } from '../../src/hops/hop.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { hop, idle, total } from '../support/line-rig.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection, RawHandler } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { watchSockets } from '../support/socket-watch.ts'
import { wireRig } from '../support/wire-rig.ts'

const CHUNK = chunk('x'.repeat(65_536))
const LIMIT_MS = 60_000
const totalHop = (ending: 'fin' | 'rst' | 'clean' | 'silent', upstream: Break = 'fin'): Hop =>
  hop('total', { total: total(LIMIT_MS, { ending, upstream }) })

async function flood(connection: RawConnection): Promise<void> {
  await connection.request()
  await connection.send(sseHead)
  while (await connection.send(CHUNK)) if (connection.ended() !== null) return
}
async function rigOf(handler: RawHandler, hops: readonly Hop[], answersFin = true) {
  const clock = fakeClock()
  const sockets = watchSockets()
  const server = await rawServer(handler, { answersFin })
  const rig = await wireRig(server.url, { plans: compileLine(hops, []), clock })
  return { clock, sockets, server, rig }
}

test('fin: all bytes before it arrive, no terminator, and a client still sending is not broken off [endings.cut-fin]', async () => {
  const text = Array.from({ length: 40 }, (_, n) => progressEvent(n) + 'y'.repeat(20_000)).join('')
  const { clock, sockets, rig } = await rigOf(
    async (connection) => {
      await connection.until('{"upload":')
      await connection.send(sseHead + chunk(text))
    },
    [hop('idle', { idle: idle(LIMIT_MS, { direction: 'both' }) })],
  )
  const client = await rawClient(rig.port, { answersFin: false })
  client.send(requestText('POST', '/mcp', [['Transfer-Encoding', 'chunked']]))
  client.send(chunk('{"upload":'))
  await client.until('"progress":39')
  await rig.fact('moved', 0, ({ flow, bytes }) => flow === 'request' && bytes > 0)
  await expect.poll(() => client.text().endsWith('y\r\n'), { timeout: 10_000 }).toBe(true)
  clock.advance(LIMIT_MS)
  expect((await client.untilEnded()).how).toBe('fin')
  for (let n = 0; n < 50; n += 1) expect(await client.send(chunk('z'.repeat(1_000)))).toBe(true)
  const answer = await client.response()
  expect({ isWhole: answer.isWhole, text: answer.text }).toEqual({ isWhole: false, text })
  expect(client.brokeAtMs()).toBeNull()
  client.fin()
  await sockets.untilNoneAccepted(rig.port)
  expect(client.brokeAtMs()).toBeNull()
})

test.each(['fin', 'rst', 'clean'] as const)(
  '%s: finishes though the client reads nothing; the server is told at once [endings.cut-finishes]',
  async (ending) => {
    const { clock, sockets, server, rig } = await rigOf(flood, [totalHop(ending)])
    const client = await rawClient(rig.port)
    client.pause()
    client.send(callText())
    await sockets.untilStuck(rig.port)
    const connection = await server.connection(0)
    clock.advance(LIMIT_MS)
    expect((await connection.untilEnded()).how).toBe('fin')
    await rig.fact('finished')
    expect(rig.facts().filter(({ kind }) => kind === 'closed')).toMatchObject([{ ending, cause: { kind: 'max_duration' } }])
    if (ending === 'rst') return sockets.untilNoneAccepted(rig.port)
    if (ending === 'clean') {
      // Whole, and waiting for its reader: a client that comes back has it all.
      client.resume()
      await expect.poll(() => client.text().endsWith(lastChunk), { timeout: 20_000 }).toBe(true)
      return
    }
    clock.advance(1_000)
    await sockets.untilNoneAccepted(rig.port)
  },
)

test('fin: a client that never answers the FIN is let go after five seconds [endings.cut-finishes]', async () => {
  const { clock, sockets, rig } = await rigOf(
    (connection) => connection.request(),
    [hop('idle', { idle: idle(LIMIT_MS, { answer: null }) })],
  )
  const client = await rawClient(rig.port, { answersFin: false })
  client.send(callText())
  await rig.fact('asked')
  clock.advance(LIMIT_MS)
  expect((await client.untilEnded()).how).toBe('fin')
  clock.advance(4_999)
  expect(sockets.accepted(rig.port)[0]?.destroyed).toBe(false)
  clock.advance(1)
  await sockets.untilNoneAccepted(rig.port)
})

test('rst: the client sees ECONNRESET, not an end [endings.cut-rst]', async () => {
  const { clock, rig } = await rigOf(
    async (connection) => {
      await connection.request()
      await connection.send(sseHead + chunk(progressEvent(1)))
    },
    [totalHop('rst')],
  )
  const client = await rawClient(rig.port)
  const codes: (string | undefined)[] = []
  client.socket.on('error', ({ code }: NodeJS.ErrnoException) => codes.push(code))
  client.send(callText())
  await client.until('"progress":1')
  clock.advance(LIMIT_MS)
  await client.untilEnded()
  expect(codes).toEqual(['ECONNRESET'])
})

test.each(['fin', 'rst'] as const)('the server sees %s with its bytes unread on the way [endings.upstream-break]', async (upstream) => {
  const { clock, sockets, server, rig } = await rigOf(flood, [totalHop('fin', upstream)], false)
  const client = await rawClient(rig.port)
  client.pause()
  client.send(callText())
  await sockets.untilStuck(rig.port)
  const connection = await server.connection(0)
  clock.advance(LIMIT_MS)
  expect((await connection.untilEnded()).how).toBe(upstream)
  expect(await rig.fact('told')).toMatchObject({ ending: upstream })
  // A server that goes on writing is let go a second later.
  clock.advance(1_000)
  await expect.poll(() => sockets.connected(server.port).every(({ destroyed }) => destroyed), { timeout: 10_000 }).toBe(true)
})

test('a cut reaches a server that does not read the upload [endings.upstream-break]', async () => {
  const { clock, sockets, server, rig } = await rigOf(
    (connection) => connection.pause(),
    [hop('idle', { idle: idle(LIMIT_MS, { direction: 'both', answer: null }) })],
  )
  const client = await rawClient(rig.port)
  client.send(requestText('POST', '/mcp', [['Content-Length', '50000000']]))
  client.send(Buffer.alloc(20_000_000))
  await expect.poll(() => sockets.connected(server.port)[0]?.writableLength ?? 0, { timeout: 10_000 }).toBeGreaterThan(0)
  const connection = await server.connection(0)
  clock.advance(LIMIT_MS * 2)
  connection.resume()
  await connection.untilEnded()
  await client.untilEnded()
  await rig.fact('finished')
})

test.each([
  ['bytes', 'more'],
  ['a request', requestText('GET', '/again')],
  ['a FIN', null],
] as const)('silent: nothing is sent, and %s of the client meets a reset [endings.silent]', async (_what, next) => {
  const { clock, server, rig } = await rigOf(
    async (connection) => {
      await connection.request()
      await connection.send(sseHead + chunk(progressEvent(1)))
    },
    [totalHop('silent')],
  )
  const client = await rawClient(rig.port)
  client.send(callText())
  const before = await client.until('"progress":1')
  clock.advance(LIMIT_MS)
  await rig.fact('closed')
  await (await server.connection(0)).untilEnded()
  expect([client.ended(), client.text()]).toEqual([null, before])
  if (next === null) client.fin()
  else client.send(next)
  await expect.poll(() => client.socket.closed, { timeout: 10_000 }).toBe(true)
  expect(client.text()).toBe(before)
  // After its own FIN a client cannot tell a reset from a FIN.
  if (next !== null) expect((await client.untilEnded()).how).toBe('rst')
  expect(rig.exchangeCount()).toBe(1)
})

test('silent in mid-upload: forgotten for as long as the client is quiet [endings.silent]', async () => {
  const { clock, sockets, rig } = await rigOf(
    (connection) => connection.request(),
    [hop('idle', { idle: idle(LIMIT_MS, { direction: 'both', answer: null, ending: 'silent' }) })],
  )
  const client = await rawClient(rig.port)
  client.send(requestText('POST', '/mcp', [['Content-Length', '1000']], 'half'))
  await rig.fact('moved')
  clock.advance(LIMIT_MS)
  await rig.fact('finished')
  clock.advance(3_600_000)
  expect(sockets.accepted(rig.port)[0]).toMatchObject({ destroyed: false, writableEnded: false })
  client.send('more')
  expect((await client.untilEnded()).how).toBe('rst')
})

test('clean: the terminator comes, and the same connection serves the next request [endings.cut-clean]', async () => {
  const { clock, server, rig } = await rigOf(
    async (connection) => {
      await connection.request()
      await connection.send(sseHead + chunk(progressEvent(1)))
      if (connection.index === 1) await connection.send(chunk(resultEvent()) + lastChunk)
    },
    [totalHop('clean')],
  )
  const client = await rawClient(rig.port)
  client.send(callText())
  await client.until('"progress":1')
  clock.advance(LIMIT_MS)
  expect(await client.response()).toMatchObject({ isWhole: true, text: progressEvent(1) })
  client.send(callText())
  expect(await client.response()).toMatchObject({ isWhole: true, text: progressEvent(1) + resultEvent() })
  expect(server.connections).toHaveLength(2) // the first was left in mid-answer: nobody uses it again
})

test('clean is impossible where a length was promised or the body is encoded: fin, and told so [endings.cut-clean]', async () => {
  for (const header of [
    ['Content-Length', '1000'],
    ['Content-Encoding', 'gzip'],
  ] as const) {
    const { clock, rig } = await rigOf(
      async (connection) => {
        await connection.request()
        const framing = header[0] === 'Content-Length' ? header : (['Transfer-Encoding', 'chunked'] as const)
        const head = headText(200, header === framing ? [header] : [header, framing])
        await connection.send(head + (header === framing ? 'part' : chunk('part')))
      },
      [totalHop('clean')],
    )
    const client = await rawClient(rig.port)
    client.send(callText())
    await client.until('part')
    clock.advance(LIMIT_MS)
    expect((await client.untilEnded()).how).toBe('fin')
    expect((await client.response()).isWhole).toBe(false)
    expect(await rig.fact('closed')).toMatchObject({ ending: 'fin', cause: { kind: 'max_duration' } })
  }
})

test('an order from outside cuts what is open and nothing else [endings.order]', async () => {
  const { rig } = await rigOf(async (connection) => {
    await connection.request()
    await connection.send(sseHead + chunk(progressEvent(1)))
  }, [])
  const clients = [await rawClient(rig.port), await rawClient(rig.port)]
  for (const client of clients) {
    client.send(callText())
    await client.until('"progress":1')
  }
  expect(rig.listener.cut('rst', { kind: 'operator', seat: null }, (id) => id === 'c1')).toBe(1)
  expect((await clients[0]?.untilEnded())?.how).toBe('rst')
  expect(await rig.fact('closed')).toMatchObject({ ending: 'rst', cause: { kind: 'operator' } })
  expect([clients[1]?.ended(), rig.listener.openCount()]).toEqual([null, 1])
})
