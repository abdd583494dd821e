/** Many at once: pipelined requests, and clients that leave in a storm. */
import { describe, expect, test } from 'vitest'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, requestText, sseHead } from '../support/raw-http.ts'
import { rawServer } from '../support/raw-server.ts'
import { until } from '../support/relay.ts'
import { wireRig } from '../support/wire-rig.ts'

describe('pipelined requests', () => {
  /** Answers with the target asked, the first only when `first` resolves. */
  async function echo(first: Promise<unknown>) {
    const server = await rawServer(async (connection) => {
      for (;;) {
        const { target } = await connection.request(60_000)
        if (target === '/0') await first
        await connection.send(headText(200, [['Content-Length', String(target.length)]]) + target)
      }
    })
    return { server, rig: await wireRig(server.url) }
  }
  test('17 are answered in order, each dialled in its turn [hostile.pipeline]', async () => {
    let go = (): void => undefined
    const { server, rig } = await echo(new Promise<void>((resolve) => (go = resolve)))
    const client = await rawClient(rig.port)
    void client.send(Array.from({ length: 17 }, (_, index) => requestText('GET', `/${index}`)).join(''))
    await (await server.connection(0)).until('/0')
    expect(rig.exchangeCount()).toBe(1) // the others wait, undialled
    go()
    for (let index = 0; index < 17; index += 1) expect(await client.response()).toMatchObject({ status: 200, text: `/${index}` })
    expect(client.ended()).toBeNull()
  })
  test('the one behind 16 that wait is refused in its turn, and the connection ends [hostile.pipeline]', async () => {
    let go = (): void => undefined
    const { rig } = await echo(new Promise<void>((resolve) => (go = resolve)))
    const client = await rawClient(rig.port)
    void client.send(Array.from({ length: 40 }, (_, index) => requestText('GET', `/${index}`)).join(''))
    await rig.fact('asked')
    go()
    for (let index = 0; index < 17; index += 1) expect(await client.response()).toMatchObject({ status: 200, text: `/${index}` })
    const refused = await client.response()
    expect(refused.status).toBe(503)
    expect(refused.text).toContain('more than 16 pipelined requests')
    expect((await client.untilEnded()).how).toBe('fin')
    expect(rig.exchangeCount()).toBe(17)
    await until('nothing is open', () => rig.listener.openCount() === 0)
  })
  test('bodies in both forms are told apart [hostile.pipeline]', async () => {
    const server = await rawServer(async (connection) => {
      for (;;) {
        const { text } = await connection.request(60_000)
        await connection.send(headText(200, [['Content-Length', String(text.length)]]) + text)
      }
    })
    const rig = await wireRig(server.url)
    const client = await rawClient(rig.port)
    const chunked = requestText('POST', '/', [['Transfer-Encoding', 'chunked']])
    void client.send(
      `${requestText('POST', '/', [], 'one')}${chunked}${chunk('tw')}${chunk('o')}0\r\n\r\n${requestText('POST', '/', [], 'three')}`,
    )
    for (const body of ['one', 'two', 'three']) expect((await client.response()).text).toBe(body)
  })
})

describe('500 clients leave at once', () => {
  test.each([
    ['by RST, before the head', 'rst', ''],
    ['by FIN, before the head', 'fin', ''],
    ['by RST, in mid-stream', 'rst', sseHead + chunk('data: 1\n\n')],
    ['by FIN, in mid-stream', 'fin', sseHead + chunk('data: 1\n\n')],
  ] as const)('%s: nothing stays open [hostile.abort-storm]', async (_, how, answer) => {
    let asked = 0
    const server = await rawServer(async (connection) => {
      await connection.request(60_000)
      asked += 1
      if (answer !== '') await connection.send(answer)
    })
    const rig = await wireRig(server.url)
    const clients = await Promise.all(Array.from({ length: 500 }, () => rawClient(rig.port)))
    for (const client of clients) void client.send(callText())
    await until('all are asked', () => asked === 500, 30_000)
    if (answer !== '') await Promise.all(clients.map((client) => client.until('data: 1', 30_000)))
    expect(rig.listener.openCount()).toBe(500)
    for (const client of clients) client[how]()
    await until('no exchange is open', () => rig.listener.openCount() === 0, 30_000)
    await until('no connection to the server is open', () => server.connections.every((connection) => connection.ended() !== null), 30_000)
    expect(rig.ports.held.totalBytes).toBe(0)
    const causes = Array.from({ length: 500 }, (_, index) => rig.facts(index).filter(({ kind }) => kind === 'closed'))
    expect(causes.every((closed) => closed.length === 1)).toBe(true)
    expect(new Set(causes.flat().map((fact) => (fact.kind === 'closed' ? fact.cause.kind : '')))).toEqual(
      new Set([how === 'rst' ? 'client_reset' : 'client_abort']),
    )
  })
  test('right after their connect and their request [hostile.abort-storm]', async () => {
    const server = await rawServer(async (connection) => void (await connection.request(60_000).catch(() => undefined)))
    const rig = await wireRig(server.url)
    for (let round = 0; round < 5; round += 1) {
      const clients = await Promise.all(Array.from({ length: 100 }, () => rawClient(rig.port)))
      clients.forEach((client, index) => {
        if (index % 3 > 0) void client.send(callText().slice(0, index % 3 === 1 ? 40 : undefined))
        if (index % 2 === 0) client.rst()
        else client.close()
      })
    }
    await until('no exchange is open', () => rig.listener.openCount() === 0, 30_000)
    await until('no connection to the server is open', () => server.connections.every((connection) => connection.ended() !== null), 30_000)
    const client = await rawClient(rig.port)
    void client.send(callText())
    await until('it still serves', () => rig.listener.openCount() === 1)
  })
})
