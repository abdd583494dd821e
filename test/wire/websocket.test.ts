/** A WebSocket session passes whole: its handshake, messages, pings and Close frames, over real sockets. */
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { rawClient } from '../support/raw-client.ts'
import { rawServer } from '../support/raw-server.ts'
import { echo, handshakeText, rawFrame, refusedClient, wsClient, wsServer } from '../support/websocket-rig.ts'
import { wireRig } from '../support/wire-rig.ts'

describe('messages', () => {
  const sent: readonly (string | Buffer)[] = [
    'hello',
    'grüße 🦊',
    '',
    Buffer.alloc(0),
    randomBytes(1_000),
    randomBytes(70_000),
    randomBytes(1_048_576),
  ]

  test('pass byte-identical both ways, in order [websocket.messages] [websocket.facts]', async () => {
    const server = await wsServer({ onSession: echo })
    const rig = await wireRig(server.url)
    const client = await wsClient(rig.port)
    for (const message of sent) client.ws.send(message)
    const back = await client.untilCame(sent.length)
    const there = await (await server.session()).untilCame(sent.length)
    for (const came of [there, back]) {
      expect(came.map(({ is }) => is)).toEqual(sent.map((message) => (typeof message === 'string' ? 'text' : 'binary')))
      for (const [n, message] of sent.entries()) expect(came[n]?.bytes.equals(Buffer.from(message as string))).toBe(true)
    }
    client.ws.close(1000, 'done')
    await rig.fact('finished')
    const kinds = rig.facts().map(({ kind }) => kind)
    for (const once of ['opened', 'understood', 'asked', 'closed', 'server_over', 'finished'] as const) {
      expect(kinds.filter((kind) => kind === once)).toEqual([once])
    }
    expect((await rig.fact('understood')).ask.kind).toBe('websocket')
    expect(rig.facts().filter((fact) => fact.kind === 'head')).toMatchObject([
      { at: 'server', status: 101, origin: 'upstream' },
      { at: 'client', status: 101, origin: 'upstream' },
    ])
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'complete' }, ending: 'clean' })
    // Bytes are those of the frames without their masks: 2, 4 or 10 before each message, and the Close.
    const messageBytes = sent.reduce((sum, message) => sum + Buffer.byteLength(message), 0)
    const frameBytes = messageBytes + 4 * 2 + 2 + 4 + 2 * 10 - 2 + (2 + 2 + 4)
    for (const flow of ['request', 'seen', 'sent'] as const) {
      const bytes = rig
        .facts()
        .reduce(
          (sum, fact) =>
            sum + (fact.kind === 'moved' && (fact.flow === flow || (fact.flow === 'passed' && flow !== 'request')) ? fact.bytes : 0),
          0,
        )
      expect({ flow, bytes }).toEqual({ flow, bytes: frameBytes })
    }
  })

  test('fragments arrive as one message, with a ping between them [websocket.messages]', async () => {
    const server = await wsServer({ onSession: echo })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    client.send(handshakeText())
    await client.response()
    client.send(
      Buffer.concat([rawFrame(1, 'one ', { fin: false }), rawFrame(9, 'p'), rawFrame(0, 'two', { fin: false }), rawFrame(0, '!')]),
    )
    const came = await (await server.session()).untilCame(2)
    expect(came.map(({ is, bytes }) => `${is} ${bytes.toString()}`)).toEqual(['ping p', 'text one two!'])
    await client.until('one two!')
  })

  test('text that is no UTF-8 is the other side’s to judge [websocket.messages]', async () => {
    const server = await wsServer({ skipUTF8Validation: true })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    client.send(handshakeText())
    await client.response()
    client.send(rawFrame(1, Uint8Array.of(0xff, 0xfe)))
    const [came] = await (await server.session()).untilCame(1)
    expect([...(came?.bytes ?? [])]).toEqual([0xff, 0xfe])
  })

  test('what the client sends ahead of the acceptance waits for it [websocket.messages]', async () => {
    const server = await wsServer()
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    client.send(Buffer.concat([Buffer.from(handshakeText()), rawFrame(1, 'early')]))
    const [came] = await (await server.session()).untilCame(1)
    expect(came?.bytes.toString()).toBe('early')
  })
})

describe('handshake', () => {
  test('goes with raw headers and target, and the server’s comes back [websocket.headers] [websocket.no-extension]', async () => {
    const server = await rawServer(async (connection) => {
      const request = await connection.request()
      const key = /sec-websocket-key: (.*)\r\n/i.exec(connection.text())?.[1] ?? ''
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
      connection.send(
        `HTTP/1.1 101 Off You Go\r\nupgrade: WebSocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n` +
          'sec-websocket-protocol: mcp\r\nMcp-Session-Id: s1\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nX-Name: gr\xfc\xdfe\r\n\r\n',
      )
      return request
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    client.send(
      handshakeText(
        [
          'Origin: https://app.test',
          'AUTHORIZATION: Bearer t\xf6ken',
          'Mcp-Session-Id: s1',
          'MCP-Protocol-Version: 2026-07-28',
          'Cookie: a=1',
          'cookie: b=2',
          'Sec-WebSocket-Protocol: mcp, other',
          'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits',
        ],
        '//mcp/../x?a=%20b',
      ),
    )
    const answer = await client.response()
    const asked = (await server.connection(0)).text()
    expect(asked).toMatch(/^GET \/\/mcp\/\.\.\/x\?a=%20b HTTP\/1\.1\r\nHost: example\.test\r\n/)
    for (const line of [
      'Origin: https://app.test',
      'AUTHORIZATION: Bearer t\xf6ken',
      'Mcp-Session-Id: s1',
      'MCP-Protocol-Version: 2026-07-28',
      'Cookie: a=1\r\ncookie: b=2',
      'Sec-WebSocket-Protocol: mcp, other',
      'Sec-WebSocket-Version: 13',
      'Upgrade: websocket',
      'Connection: Upgrade',
    ])
      expect(asked).toContain(`\r\n${line}\r\n`)
    expect(asked).not.toMatch(/extensions/i)
    expect(asked).not.toContain('dGhlIHNhbXBsZSBub25jZQ==')
    expect(asked.match(/sec-websocket-key/gi)).toHaveLength(1)
    expect(answer).toMatchObject({ status: 101, reason: 'Off You Go' })
    const told = client.text()
    expect(told).toContain('\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n') // RFC 6455 §1.3
    expect(told).toContain(
      '\r\nsec-websocket-protocol: mcp\r\nMcp-Session-Id: s1\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nX-Name: gr\xfc\xdfe\r\n',
    )
    expect(told.match(/sec-websocket-accept|upgrade: /gi)).toHaveLength(2)
    expect(server.problems).toEqual([])
  })

  test('the subprotocol is the server’s choice [websocket.headers]', async () => {
    const server = await wsServer({ handleProtocols: (offered) => [...offered].at(-1) ?? false })
    const rig = await wireRig(server.url)
    const client = await wsClient(rig.port, { protocols: ['mcp', 'mcp.v2'] })
    expect(client.ws.protocol).toBe('mcp.v2')
    expect((await server.session()).ws.protocol).toBe('mcp.v2')
    expect(client.ws.extensions).toBe('')
  })

  test('compression that both would like is not agreed on, and all arrives [websocket.no-extension]', async () => {
    const server = await wsServer({ perMessageDeflate: true, onSession: echo })
    const rig = await wireRig(server.url)
    const client = await wsClient(rig.port, { perMessageDeflate: true })
    client.ws.send('x'.repeat(10_000))
    const [came] = await client.untilCame(1)
    expect(client.ws.extensions).toBe('')
    expect(came?.bytes.toString()).toBe('x'.repeat(10_000))
  })

  test('a refusal comes with its status, headers and body [websocket.refusal]', async () => {
    for (const [status, more, body] of [
      ['401 Unauthorized', 'WWW-Authenticate: Bearer realm="x"\r\nContent-Length: 9\r\n', 'no entry!'],
      ['404 Not Found', 'Transfer-Encoding: chunked\r\n', '5\r\nwhat?\r\n0\r\n\r\n'],
      ['426 Upgrade Required', 'Sec-WebSocket-Version: 13, 8\r\nContent-Length: 0\r\n', ''],
      ['503 Later', 'Connection: close\r\n', 'until the end'],
    ] as const) {
      const server = await wsServer({ refuse: (socket) => socket.end(`HTTP/1.1 ${status}\r\n${more}\r\n${body}`) !== null })
      const rig = await wireRig(server.url)
      const answer = await refusedClient(rig.port)
      expect(answer.status).toBe(Number(status.slice(0, 3)))
      if (status.startsWith('401')) expect(answer).toMatchObject({ body, headers: { 'www-authenticate': 'Bearer realm="x"' } })
      if (status.startsWith('404')) expect(answer.body).toBe('what?')
      if (status.startsWith('426')) expect(answer.headers['sec-websocket-version']).toBe('13, 8')
      if (status.startsWith('503')) expect(answer.body).toBe('until the end')
      await rig.fact('finished')
      expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'complete' }, ending: 'clean' })
      await expect.poll(() => rig.listener.openCount()).toBe(0)
    }
  })

  test('an absent server is a 502 that says why [websocket.unreachable]', async () => {
    const gone = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => gone.once('listening', resolve))
    const { port } = gone.address() as { port: number }
    await new Promise((resolve) => gone.close(resolve))
    const rig = await wireRig(new URL(`http://127.0.0.1:${port}`))
    const { status, body } = await refusedClient(rig.port)
    expect(status).toBe(502)
    expect(body).toContain('ECONNREFUSED')
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'unreachable' }, ending: 'clean' })
    await rig.fact('finished')
  })

  test('a 101 that is no answer to the handshake, or none at all, is a 502 [websocket.unreachable]', async () => {
    for (const [answer, why] of [
      ['HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: no\r\n\r\n', 'Sec-WebSocket-Accept'],
      ['HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n', 'Upgrade'],
      ['nonsense\r\n\r\n', 'not valid HTTP'],
      ['', 'closed the connection before its answer'],
    ] as const) {
      const server = await rawServer(async (connection) => {
        await connection.request()
        if (answer !== '') await connection.send(answer)
        connection.fin()
      })
      const rig = await wireRig(server.url)
      const { status, body } = await refusedClient(rig.port)
      expect(status).toBe(502)
      expect(body).toContain(why)
      expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'server_close' }, ending: 'clean' })
      await rig.fact('finished')
    }
  })

  test('other upgrades and invalid handshakes go on as ordinary requests [websocket.other-upgrades]', async () => {
    const server = await rawServer(async (connection) => {
      for (;;) {
        await connection.request()
        connection.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      }
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    const asks = [
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nContent-Length: 3\r\n\r\nabc',
      handshakeText().replace('dGhlIHNhbXBsZSBub25jZQ==', 'short'),
      handshakeText().replace('Version: 13', 'Version: 9'),
      `${handshakeText(['Content-Length: 3'])}abc`,
      handshakeText().replace('GET', 'POST').replace('\r\n\r\n', '\r\nContent-Length: 0\r\n\r\n'),
    ]
    for (const ask of asks) {
      client.send(ask)
      expect(await client.response()).toMatchObject({ status: 200 })
    }
    expect((await server.connection(0)).text()).not.toMatch(/\r\n(upgrade|http2-settings|connection: upgrade)/i)
    expect(client.ended()).toBeNull()
    // Behind a request under way as well.
    client.send(`GET /a HTTP/1.1\r\nHost: a\r\n\r\n${handshakeText()}`)
    expect(await client.response({ method: 'GET' })).toMatchObject({ status: 200 })
    expect(await client.response({ method: 'GET' })).toMatchObject({ status: 200 })
    expect(rig.exchangeCount()).toBe(asks.length + 2)
  })

  test('a connection that served requests may open a session [websocket.other-upgrades]', async () => {
    const server = await wsServer({ onSession: echo })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    client.send('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(await client.response({ method: 'GET' })).toMatchObject({ status: 200 })
    await rig.fact('finished')
    client.send(handshakeText())
    expect(await client.response({ method: 'GET' })).toMatchObject({ status: 101 })
    client.send(rawFrame(1, 'there'))
    await client.until('\x81\x05there')
  })
})

describe('pings and Close frames', () => {
  test('pings and pongs pass both ways, and nothing is answered here [websocket.ping-pong]', async () => {
    const server = await wsServer()
    const rig = await wireRig(server.url)
    const client = await wsClient(rig.port)
    const session = await server.session()
    client.ws.ping('from client')
    session.ws.ping('from server')
    expect(await session.untilCame(1)).toMatchObject([{ is: 'ping' }])
    expect(await client.untilCame(1)).toMatchObject([{ is: 'ping' }])
    session.ws.pong('answer')
    client.ws.pong('')
    client.ws.send('last')
    session.ws.send('last')
    const said = (came: readonly { is: string; bytes: Buffer }[]) => came.map(({ is, bytes }) => `${is} ${bytes.toString()}`)
    expect(said(await client.untilCame(3))).toEqual(['ping from server', 'pong answer', 'text last'])
    expect(said(await session.untilCame(3))).toEqual(['ping from client', 'pong ', 'text last'])
  })

  test.each([
    [1000, ''],
    [1000, 'done'],
    [1001, ''],
    [1008, 'policy: née'],
    [1011, 'x'.repeat(123)],
    [3000, ''],
    [4999, 'mine'],
  ])('Close %i %j passes from the client and from the server [websocket.close]', async (code, reason) => {
    for (const from of ['client', 'server'] as const) {
      const server = await wsServer()
      const rig = await wireRig(server.url)
      const client = await wsClient(rig.port)
      const session = await server.session()
      const [one, other] = from === 'client' ? [client, session] : [session, client]
      one.ws.close(code, reason)
      expect(await other.closed).toMatchObject({ code, reason })
      expect(await one.closed).toMatchObject({ code, reason }) // `ws` echoes
      expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'complete' }, ending: 'clean' })
      await rig.fact('finished')
      expect(rig.facts().some(({ kind }) => kind === 'told')).toBe(false)
    }
  })

  test('a Close without a code stays one, and its answer may say another [websocket.close]', async () => {
    const answers = async (from: 'client' | 'server'): Promise<string> => {
      const server = await wsServer()
      const rig = await wireRig(server.url)
      if (from === 'client') {
        const client = await wsClient(rig.port)
        const session = await server.session()
        // Not the echo that `ws` would send by itself.
        session.ws.close(4002, 'too')
        client.ws.close()
        const closes = [await client.closed, await session.closed]
        return closes.map(({ code }) => code).join(' ')
      }
      const client = await rawClient(rig.port)
      client.send(handshakeText())
      await client.response()
      const session = await server.session()
      session.ws.close(4001, 'why')
      await client.until('why')
      client.send(rawFrame(8, Buffer.concat([Buffer.of(0x0f, 0xa7), Buffer.from('so')])))
      const { code, reason } = await session.closed
      await client.untilEnded()
      return `${code} ${reason}`
    }
    expect(await answers('server')).toBe('4007 so')
    expect(await answers('client')).toBe('4002 1005') // crossing on the way: each gets the other's
  })
})
