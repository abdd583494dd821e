/** Who ends an exchange × how × when, on real sockets: what the other side sees and what is told. Prints what it saw. */
import { afterAll, expect, test } from 'vitest'
import type { Fact } from '../../src/core/fact.ts'
import { createLedger } from '../../src/core/ledger.ts'
import { compileLine } from '../../src/hops/compile.ts'
import type { EndingRow } from '../support/ending-matrix.ts'
import { endingRows, LIMIT_MS, sizedHead } from '../support/ending-matrix.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, lastChunk, progressEvent, requestText, resultEvent, sseHead } from '../support/raw-http.ts'
import type { RawConnection } from '../support/raw-server.ts'
import { rawServer } from '../support/raw-server.ts'
import type { RawSocket } from '../support/raw-socket.ts'
import { wireRig } from '../support/wire-rig.ts'

/** Far above what any ending takes (1–5 ms), so that a busy machine cannot fail it; the table shows what it took. */
const LATE_MS = 5_000
const small = headText(200, [['Content-Length', '2']])
const seen: Record<string, unknown>[] = []

async function serve(connection: RawConnection, row: EndingRow): Promise<void> {
  while ((await connection.request()).target === '/again') await connection.send(`${small}ok`)
  if (row.when === 'before headers') return
  const framed = (text: string): string => (row.head === sseHead ? chunk(text) : text)
  await connection.send(row.head + framed(progressEvent(1)))
  if (row.when !== 'mid-stream') await connection.send(framed(resultEvent()))
  if (row.when === 'after the end') await connection.send(lastChunk)
  if (row.act === 'terminator' || row.when === 'after the end') return serve(connection, row)
}

async function act(row: EndingRow, client: RawSocket, connection: RawConnection, advance: (ms: number) => void): Promise<void> {
  const actor = row.who === 'client' ? client : connection
  if (row.who === 'hop') advance(LIMIT_MS)
  else if (row.act === 'terminator') await connection.send(lastChunk)
  else if (row.act !== null) actor[row.act]()
}

async function reach(row: EndingRow, client: RawSocket): Promise<void> {
  if (row.when === 'mid-stream') await client.until('"progress":1')
  else if (row.when === 'after the result') await client.until('"result"')
  else if (row.when === 'after the end') await client.until(lastChunk)
}

/** The wire as the client has it. */
async function expectClient(row: EndingRow, client: RawSocket): Promise<number | null> {
  const { status, body, ends } = row.client
  if (status === null) {
    if (ends === 'own') return null
    const ended = await client.untilEnded()
    expect([ended.how, client.text()]).toEqual([ends, ''])
    return ended.atMs
  }
  if (ends === 'own') {
    if (body === 'cut') expect(client.text()).not.toContain(`\r\n${lastChunk}`)
    return null
  }
  const response = await client.response()
  expect({ status: response.status, isWhole: response.isWhole }).toEqual({ status, isWhole: body === 'whole' })
  if (status === 502) expect(response.text).toMatch(/^(impatient-hop: .+\n|oh 502)$/)
  const atMs = client.pieces.at(-1)?.atMs ?? null
  if (ends !== 'kept') {
    const ended = await client.untilEnded()
    expect(ended.how).toBe(ends)
    return ended.atMs
  }
  client.send(requestText('GET', '/again'))
  expect(await client.response({ method: 'GET' })).toMatchObject({ status: 200, text: 'ok' })
  return atMs
}

async function expectServer(row: EndingRow, connection: RawConnection): Promise<number | null> {
  if (row.server === 'own') return null
  if (row.server === 'kept') {
    expect(connection.ended()).toBeNull()
    return null
  }
  const ended = await connection.untilEnded()
  expect(ended.how).toBe(row.server)
  return ended.atMs
}

function expectFacts(row: EndingRow, facts: readonly Fact[]): void {
  const of = (kind: Fact['kind']) => facts.filter((fact) => fact.kind === kind)
  expect(of('closed')).toMatchObject([{ cause: { kind: row.cause }, ending: row.ending }])
  expect(of('told')).toMatchObject(row.told === null ? [] : [{ ending: row.told }])
  expect(of('server_over').length).toBe(row.who === 'server' || row.when === 'after the end' ? 1 : 0)
}

/** The same as a user reads it. A row's own actor closed it; what merely ended was the server's doing. */
function expectRecord(row: EndingRow, facts: readonly Fact[]): void {
  const ledger = createLedger({ id: 'c1', graceMs: 2_000 })
  for (const fact of facts) ledger.take(fact)
  const [record] = ledger.records(facts.at(-1)?.atMs ?? 0)
  const by = row.who === 'hop' ? 'sidecar' : row.who
  const hasResult = (row.when === 'after the result' || row.when === 'after the end') && row.head !== sizedHead
  expect(record).toMatchObject({
    closedBy: row.cause === 'complete' ? 'server' : by,
    cause: row.cause,
    ending: row.ending,
    closedBeforeHeaders: row.when === 'before headers',
    result: hasResult ? 'sent' : 'none',
  })
  // A server that breaks off before its result knows it by itself.
  expect(record?.toldMs !== null).toBe(row.told !== null || (row.who === 'server' && !hasResult))
}

const titled = endingRows.map((row) => ({ ...row, title: `${row.who} ${row.how} ${row.when}${row.with === '' ? '' : ` (${row.with})`}` }))

test.each(titled)('$title [endings.matrix]', async (row) => {
  const clock = fakeClock()
  const server = await rawServer((connection) => serve(connection, row))
  const rig = await wireRig(server.url, { plans: compileLine(row.hops, []), clock })
  const client = await rawClient(rig.port)
  client.send(callText())
  const connection = await server.connection(0)
  await connection.until('tools/call')
  await rig.fact('asked')
  await reach(row, client)
  const actedAtMs = performance.now()
  await act(row, client, connection, clock.advance)
  await rig.fact('closed')
  const clientAtMs = await expectClient(row, client)
  const serverAtMs = await expectServer(row, connection)
  // Where the server is never told, its own end is what finishes the exchange.
  if (row.server === 'kept' && row.who === 'hop') connection.close()
  await rig.fact('finished')
  const facts = rig.facts()
  expectRecord(row, facts)
  expectFacts({ ...row, who: row.server === 'kept' && row.who === 'hop' ? 'server' : row.who }, facts)
  const took = (atMs: number | null): number | null => (atMs === null ? null : Math.round((atMs - actedAtMs) * 10) / 10)
  for (const atMs of [clientAtMs, serverAtMs]) expect(took(atMs) ?? 0).toBeLessThan(LATE_MS)
  expect(server.problems.map(String).filter((problem) => !/never came|closed here/.test(problem))).toEqual([])
  seen.push({
    who: row.who,
    how: row.how,
    when: row.when,
    with: row.with || (row.head === sizedHead ? 'sized' : ''),
    'client sees': `${row.client.status ?? '-'} ${row.client.body} ${row.client.ends}`,
    ms: took(clientAtMs),
    'server sees': row.server,
    'ms ': took(serverAtMs),
    cause: row.cause,
    ending: row.ending,
    told: row.told,
  })
})

test('no cell of the table is missing or there twice [endings.matrix]', () => {
  const titles = titled.map(({ title }) => title)
  expect(new Set(titles).size).toBe(titles.length)
  const cells = new Set(endingRows.map(({ who, how, when }) => `${who} ${how} ${when}`))
  const possible = [
    ...['before headers', 'mid-stream', 'after the result'].flatMap((when) => [
      ...['fin', 'rst'].flatMap((how) => ['client', 'server', 'hop'].map((who) => `${who} ${how} ${when}`)),
      // Before a head only an answer is a clean ending, and a client has no way to end a response cleanly.
      ...(when === 'before headers' ? ['hop'] : ['server', 'hop']).map((who) => `${who} clean ${when}`),
    ]),
    ...['clean', 'fin', 'rst'].map((how) => `client ${how} after the end`),
  ]
  expect([...cells].sort()).toEqual(possible.sort())
})

afterAll(() => {
  console.table(seen)
})
