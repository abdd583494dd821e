/** What the direct engine does that the suite on both engines cannot see: its writes, its connections, and being held back. */
import { expect, test } from 'vitest'
import type { UpstreamEngine } from '../../src/config/snapshot.ts'
import type { RawHeaders } from '../../src/core/signal.ts'
import { createDirectUpstream } from '../../src/wire/direct-upstream.ts'
import { UNREAD_WAIT_MS } from '../../src/wire/parting.ts'
import { realClock } from '../../src/wire/real-clock.ts'
import { createUpstreamOf } from '../../src/wire/upstream-engine.ts'
import type { UpstreamEvents, UpstreamLeg, UpstreamPort } from '../../src/wire/upstream-port.ts'
import { appRig } from '../support/app-rig.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { rawClient } from '../support/raw-client.ts'
import type { HeaderList } from '../support/raw-http.ts'
import { chunk, headText, lastChunk, requestText } from '../support/raw-http.ts'
import type { RawHandler, RawServer } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import { whenTestEnds } from '../support/raw-socket.ts'
import { turn, until } from '../support/relay.ts'
import { watchSockets } from '../support/socket-watch.ts'

interface Owner {
  readonly told: string[]
  text: string
}

const EVENTS: UpstreamEvents<Owner> = {
  head: ({ told }, status, _reason, _rawHeaders, framing) => void told.push(`head ${status} ${framing}`),
  interim: ({ told }, status) => void told.push(`interim ${status}`),
  bytes(owner, bytes) {
    if (owner.told.at(-1) !== 'bytes') owner.told.push('bytes')
    owner.text += Buffer.from(bytes).toString('latin1')
  },
  lent: (owner, bytes) => EVENTS.bytes(owner, bytes),
  end: ({ told }, rawTrailers) => void told.push(`end ${rawTrailers.join(':')}`.trimEnd()),
  lost: ({ told }, { kind, ending, detail }) => void told.push(`lost ${kind} ${ending} ${detail}`),
  drained: ({ told }) => void told.push('drained'),
}

interface Dialled extends Owner {
  readonly leg: UpstreamLeg
  write(text: string): boolean
  end(rawTrailers?: RawHeaders): void
}

function dial(port: UpstreamPort, method = 'POST', headers: HeaderList = [['Content-Length', '2']], isChunked = false): Dialled {
  const owner: Owner = { told: [], text: '' }
  const leg = port.dial({ is: 'request', method, target: '/', rawHeaders: headers.flat() }, isChunked, EVENTS, owner)
  return Object.assign(owner, {
    leg,
    write: (text: string) => leg.verbs.write(leg, Buffer.from(text, 'latin1')),
    end: (rawTrailers: RawHeaders = []) => leg.verbs.end(leg, rawTrailers),
  })
}

async function begin(handler: RawHandler): Promise<{ port: UpstreamPort; server: RawServer }> {
  const server = await rawServer(handler)
  const port = createDirectUpstream(server.url, realClock)
  whenTestEnds(() => port.close())
  return { port, server }
}

const ok = (body = 'ok', headers: HeaderList = []): string => headText(200, [...headers, ['Content-Length', String(body.length)]]) + body
const answering =
  (answer: string): RawHandler =>
  async (connection) => {
    for (;;) {
      await connection.request()
      await connection.send(answer)
    }
  }
const over = (told: readonly string[]): boolean => /^(end|lost)/.test(told.at(-1) ?? '')
const untilOver = ({ told }: Owner): Promise<void> => until('it is over', () => over(told))

test('the option chooses: only the direct engine minds that RTSP is no HTTP [engine.choice]', async () => {
  for (const [engine, status] of [
    ['http-proxy', 200],
    ['direct', 502],
  ] as const) {
    const server = await rawServer(answering(ok().replace('HTTP/1.1', 'RTSP/1.0')))
    const rig = await appRig(server.url, { flags: { 'upstream-engine': engine } })
    const client = await rawClient(rig.port)
    void client.send(requestText('GET', '/'))
    expect((await client.response({ method: 'GET' })).status).toBe(status)
    expect(createUpstreamOf(engine, server.url, realClock)).toBeDefined()
  }
})

test('a small request is one write, whole, in chunks or with trailers [engine.one-write]', async () => {
  const { port, server } = await begin(answering(ok()))
  let writes = 0
  watchSockets().onSocket((socket, side) => {
    if (side !== 'connected') return
    const write = socket._write.bind(socket)
    socket._write = (...args) => {
      writes += 1
      write(...args)
    }
    socket._writev = (pieces) => {
      throw new Error(`${pieces.length} writes at once`)
    }
  })
  const sized = dial(port)
  sized.write('o')
  sized.write('k')
  sized.end()
  const framed = dial(port, 'POST', [], true)
  framed.write('hello')
  framed.end(['X-T', '1'])
  await untilOver(sized)
  await untilOver(framed)
  expect(writes).toBe(2)
  expect(server.connections.map((connection) => connection.text()).sort()).toEqual([
    'POST / HTTP/1.1\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n',
    'POST / HTTP/1.1\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok',
  ])
})
test('the head goes ahead of a body that is not there yet; large pieces follow as they are [engine.one-write]', async () => {
  const large = 'x'.repeat(100_000)
  const { port, server } = await begin(answering(ok()))
  const slow = dial(port, 'POST', [], true)
  const first = await server.connection(0)
  await first.until('\r\n\r\n')
  slow.write(large)
  slow.write('')
  slow.write('small')
  slow.end()
  await untilOver(slow)
  expect(first.text().endsWith(`\r\n\r\n${chunk(large)}${chunk('small')}${lastChunk}`)).toBe(true)
})

test('an answer told before its request is out keeps the connection to it; then it serves the next [engine.pool]', async () => {
  const { port, server } = await begin(async (connection) => {
    await connection.until('\r\n\r\n')
    await connection.send(ok('early'))
    await connection.until('bye')
    await connection.until('POST / HTTP/1.1\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n')
    await connection.send(ok('late'))
  })
  const early = dial(port, 'POST', [['Content-Length', '3']])
  await untilOver(early)
  const beside = dial(port)
  await until('there is another', () => server.connections.length === 2)
  early.write('bye')
  early.end()
  const next = dial(port)
  next.write('ok')
  next.end()
  await untilOver(next)
  expect([early.text, next.text, server.connections.length]).toEqual(['early', 'late', 2])
  beside.leg.verbs.lose(beside.leg, 'fin')
})
test('bytes behind an answer whose request goes on: the request goes out whole, then the connection is not used again [engine.pool]', async () => {
  const { port, server } = await begin(async (connection) => {
    await connection.until('\r\n\r\n')
    await connection.send(ok('early'))
  })
  const sockets = watchSockets()
  const early = dial(port, 'POST', [['Content-Length', '3']])
  await untilOver(early)
  await server.connections[0]?.send('stray')
  await until('the stray bytes are there', () => sockets.connected(server.port)[0]?.bytesRead === ok('early').length + 5)
  early.write('bye')
  early.end()
  await server.connections[0]?.until('bye')
  await server.connections[0]?.untilEnded(1_500)
  expect([early.text, early.told.length]).toEqual(['early', 3])
})
test('what the kernel has not taken yet keeps the connection to its request; then it serves the next [engine.pool]', async () => {
  const body = 'x'.repeat(20_000_000)
  const { port, server } = await begin(async (connection) => {
    await connection.until('\r\n\r\n')
    connection.pause()
    await connection.send(ok(`answer of ${connection.index}`))
    if (connection.index > 0) return
    await server.connection(1)
    connection.resume()
    await until('all is read', () => connection.bytes().length > body.length)
    await connection.until(/x\nGET/)
    await connection.send(ok('again'))
  })
  const large = dial(port, 'POST', [['Content-Length', String(body.length + 1)]])
  large.write(`${body}\n`)
  large.end()
  await untilOver(large)
  const ask = async (): Promise<string> => {
    const one = dial(port, 'GET', [])
    one.end()
    await untilOver(one)
    return one.text
  }
  expect([large.text, await ask()]).toEqual(['answer of 0', 'answer of 1'])
  await until('all is read', () => (server.connections[0]?.bytes().length ?? 0) > body.length)
  server.connections[1]?.fin() // the latest kept would be the next
  await server.connections[1]?.untilEnded()
  expect(await ask()).toBe('again')
})
test.each([
  ['a byte behind the answer', `${ok()}x`],
  ['a blank line behind it', `${ok()}\r\n`],
  ['a server that closes', ok('ok', [['Connection', 'close']])],
  ['HTTP/1.0', ok().replace('1.1', '1.0')],
  ['a patience of one second', ok('ok', [['Keep-Alive', 'timeout=1']])],
])('%s: whole, and not used again [engine.pool]', async (_, answer) => {
  const { port, server } = await begin(answering(answer))
  for (let n = 0; n < 2; n += 1) {
    const one = dial(port, 'GET', [])
    one.end()
    await untilOver(one)
    expect(one.told).toEqual(['head 200 sized', 'bytes', 'end'])
  }
  expect(server.connections).toHaveLength(2)
  await server.connections[0]?.untilEnded()
})
test('bytes that nobody asked for end a connection at once, and are told to nobody [engine.pool]', async () => {
  const { port, server } = await begin(answering(ok()))
  const one = dial(port, 'GET', [])
  one.end()
  await untilOver(one)
  await server.connections[0]?.send(ok('stray'))
  await server.connections[0]?.untilEnded(1_500) // long before it would have been stale
  expect(one.told).toEqual(['head 200 sized', 'bytes', 'end'])
})
test('an owner that leaves in the middle of a read is told nothing more of it [engine.pool]', async () => {
  const { port, server } = await begin(answering(ok()))
  const told: string[] = []
  const leaving: UpstreamEvents<string[]> = {
    ...(EVENTS as unknown as UpstreamEvents<string[]>),
    head: () => leg.verbs.lose(leg, 'fin'),
    bytes: () => void told.push('bytes'),
    end: () => void told.push('end'),
  }
  const leg = port.dial({ is: 'request', method: 'GET', target: '/', rawHeaders: [] }, false, leaving, told)
  leg.verbs.end(leg, [])
  expect((await (await server.connection(0)).untilEnded()).how).toBe('fin')
  expect(told).toEqual([])
})
test('a body that the server does not take is told to wait, and when it may go on [engine.pool]', async () => {
  const { port, server } = await begin(async (connection) => {
    await connection.until('\r\n\r\n')
    connection.pause()
  })
  const one = dial(port, 'POST', [], true)
  await (await server.connection(0)).until('\r\n\r\n')
  expect(one.write('x'.repeat(30_000_000))).toBe(false)
  for (let more = 0; more < 10; more += 1) await turn()
  expect(one.told).toEqual([])
  server.connections[0]?.resume()
  await until('it may go on', () => one.told.includes('drained'))
})
test('one that was left is left at once, before and after its answer [engine.pool]', async () => {
  const clock = fakeClock()
  const server = await rawServer(async (connection) => {
    await connection.until('\r\n\r\n')
    if (connection.index > 1) await connection.send(ok())
  })
  const port = createDirectUpstream(server.url, clock)
  whenTestEnds(() => port.close())
  for (const [ending, seen] of [
    ['rst', 'rst'],
    ['fin', 'fin'],
    ['rst', 'fin'], // a whole answer was no failure
  ] as const) {
    const count = server.connections.length
    const one = dial(port)
    await (await server.connection(count)).until('\r\n\r\n')
    if (count > 1) await untilOver(one)
    one.leg.verbs.lose(one.leg, ending)
    one.leg.verbs.lose(one.leg, ending)
    one.write('ok')
    one.end()
    expect((await (await server.connection(count)).untilEnded()).how).toBe(seen)
  }
})

test('held back it tells nothing, then all in order, and the end last [engine.paused]', async () => {
  const { port } = await begin(answering(headText(200, [['Transfer-Encoding', 'chunked']]) + chunk('a') + chunk('b') + lastChunk))
  const one = dial(port, 'GET', [])
  one.leg.verbs.pause(one.leg)
  one.end()
  await until('its head is there', () => one.told.length > 0)
  for (let count = 0; count < 10; count += 1) await turn()
  expect(one.told).toEqual(['head 200 chunked'])
  one.leg.verbs.resume(one.leg)
  expect(one.text).toBe('') // its owner is in the middle of a turn
  await untilOver(one)
  expect([one.text, one.told]).toEqual(['ab', ['head 200 chunked', 'bytes', 'end']])
})
test('held back with a whole answer it tells its end, though the server has closed since [engine.paused]', async () => {
  const { port, server } = await begin(async (connection) => {
    await connection.request()
    await connection.send(ok())
    connection.fin()
  })
  const sockets = watchSockets()
  const one = dial(port, 'GET', [])
  one.leg.verbs.pause(one.leg)
  one.end()
  await until('the connection is closed', () => sockets.connected(server.port)[0]?.closed === true)
  one.leg.verbs.resume(one.leg)
  await untilOver(one)
  expect([one.text, one.told]).toEqual(['ok', ['head 200 sized', 'bytes', 'end']])
})
test('held back it reads little on, and all once it is let go [engine.paused]', async () => {
  const body = 'x'.repeat(8_000_000)
  const { port, server } = await begin(answering(ok(body)))
  const sockets = watchSockets()
  const one = dial(port, 'GET', [])
  one.leg.verbs.pause(one.leg)
  one.end()
  await until('its head is there', () => one.told.length > 0)
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(sockets.connected(server.port)[0]?.bytesRead).toBeLessThan(500_000)
  one.leg.verbs.resume(one.leg)
  await untilOver(one)
  expect(one.text.length).toBe(body.length)
})
test.each(['fin', 'rst'] as const)('held back it tells a %s at once, behind what it read [engine.paused]', async (how) => {
  const answer = headText(200, [['Transfer-Encoding', 'chunked']]) + chunk('kept')
  const { port, server } = await begin(async (connection) => {
    await connection.request()
    await connection.send(answer)
  })
  const sockets = watchSockets()
  const one = dial(port, 'GET', [])
  one.leg.verbs.pause(one.leg)
  one.end()
  await until('all is read', () => (sockets.connected(server.port)[0]?.bytesRead ?? 0) >= answer.length)
  server.connections[0]?.[how]()
  await untilOver(one)
  expect(one.text).toBe('kept')
  expect(one.told).toEqual(['head 200 chunked', 'bytes', expect.stringMatching(`^lost server_(close|reset) ${how} `)])
})

test('what comes on a kept connection before the request was sent is no answer to it: it goes on another [engine.pool]', async () => {
  const { port, server } = await begin(async (connection) => {
    await connection.until('\r\n\r\n')
    await connection.send(connection.index === 0 ? ok() : `${headText(201, [['Content-Length', '4']])}real`)
  })
  const first = dial(port, 'GET', [])
  first.end()
  await untilOver(first)
  const kept = await server.connection(0)
  await kept.send(headText(408, [['Content-Length', '0']])) // in the kernel when the next is dialled
  const second = dial(port)
  await turn()
  await turn()
  second.write('hi')
  second.end()
  await untilOver(second)
  expect(second).toMatchObject({ told: ['head 201 sized', 'bytes', 'end'], text: 'real' })
  expect(kept.text()).not.toContain('POST')
})
test('a server that has answered and does not read the rest has so long: then the connection is given up [engine.pool]', async () => {
  for (const [engine, headers] of [
    ['direct', []],
    ['direct', [['Connection', 'close']]],
    ['http-proxy', []],
    ['http-proxy', [['Connection', 'close']]],
  ] as [UpstreamEngine, HeaderList][]) {
    const clock = fakeClock()
    const server = await rawServer(async (connection) => {
      await connection.until('\r\n\r\n')
      connection.pause()
      await connection.send(headText(413, [...headers, ['Content-Length', '0']]))
    })
    const port = createUpstreamOf(engine, server.url, clock)
    whenTestEnds(() => port.close())
    let isOpen = true
    watchSockets().onSocket((socket, side) => {
      if (side !== 'connected') return
      socket.once('close', () => {
        isOpen = false
      })
    })
    const one = dial(port, 'POST', [['Content-Length', '30000000']])
    one.write('x'.repeat(30_000_000))
    one.end()
    await untilOver(one)
    await turn()
    expect(isOpen).toBe(true)
    clock.advance(UNREAD_WAIT_MS)
    await until('it is closed', () => !isOpen)
    expect(clock.armed()).toBe(0)
  }
})
