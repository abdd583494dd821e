/** Odd and hostile answers: what the client gets, on the wire, and that the process goes on. */
import { describe, expect, test } from 'vitest'
import { rawClient } from '../support/raw-client.ts'
import { callText, chunk, headText, progressEvent, requestText, sseHead } from '../support/raw-http.ts'
import { relay, until } from '../support/relay.ts'
import type { WireRig } from '../support/wire-rig.ts'

const long = (bytes: number): string => 'x'.repeat(bytes)

/** The sidecar still serves. */
async function stillServes(rig: WireRig): Promise<void> {
  const client = await rawClient(rig.port)
  void client.send(requestText('GET', '/after'))
  expect([200, 502]).toContain((await client.response({ method: 'GET' })).status)
}

describe('an answer that cannot be passed on is a 502 that says why', () => {
  const CHUNKED = ['Transfer-Encoding', 'chunked'] as const
  const answers: readonly [string, string, RegExp][] = [
    ['both lengths', `${headText(200, [['Content-Length', '2'], CHUNKED])}2\r\n{}\r\n0\r\n\r\n`, /Content-Length|Transfer-Encoding/],
    [
      'both lengths, the other way round',
      `${headText(200, [CHUNKED, ['Content-Length', '2']])}2\r\n{}\r\n0\r\n\r\n`,
      /Content-Length|Transfer-Encoding/,
    ],
    [
      'two lengths',
      `${headText(200, [
        ['Content-Length', '2'],
        ['Content-Length', '3'],
      ])}{}`,
      /Content-Length/,
    ],
    ['a length that is no number', `${headText(200, [['Content-Length', 'x']])}{}`, /Content-Length/],
  ]
  test.each(answers)('%s [hostile.ambiguous-length]', async (_, answer, why) => {
    const { got, rig } = await relay(callText(), answer)
    expect(got).toMatchObject({ status: 502, isWhole: true })
    expect(got.text).toMatch(/^impatient-hop: the server's answer is not valid HTTP\/1\.1: .+\(upstream 127\.0\.0\.1:\d+\)\n$/)
    expect(got.text).toMatch(why)
    await stillServes(rig)
  })
  const odd: readonly [string, string][] = [
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    [
      'a control character in a value',
      headText(200, [
        ['X-A', 'a\u0001b'],
        ['Content-Length', '0'],
      ]),
    ],
    [
      'a NUL in a value',
      headText(200, [
        ['X-A', 'a\u0000b'],
        ['Content-Length', '0'],
      ]),
    ],
    [
      'DEL in a value',
      headText(200, [
        ['X-A', 'a\u007fb'],
        ['Content-Length', '0'],
      ]),
    ],
    ['a blank in a name', 'HTTP/1.1 200 OK\r\nX A: 1\r\nContent-Length: 0\r\n\r\n'],
    ['a lone CR in a value', 'HTTP/1.1 200 OK\r\nX-A: 1\rX-B: 2\r\nContent-Length: 0\r\n\r\n'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 0\r\n\r\n'],
    ['a control character in the reason', headText(200, [['Content-Length', '0']], 'O\u0001K')],
    ['a NUL in the reason', headText(200, [['Content-Length', '0']], 'O\u0000K')],
    ['a status below 100', headText(99, [['Content-Length', '0']]).replace(' 99 ', ' 099 ')],
    ['status 000', headText(0, [['Content-Length', '0']]).replace(' 0 ', ' 000 ')],
    [
      'a head over 64 KiB',
      headText(200, [
        ['X-A', long(70_000)],
        ['Content-Length', '0'],
      ]),
    ],
    [
      'a switch of protocols nobody asked for',
      headText(101, [
        ['Upgrade', 'h2c'],
        ['Connection', 'upgrade'],
      ]),
    ],
  ]
  test.each(odd)('%s [hostile.bad-answer]', async (_, answer) => {
    const { got, rig, server } = await relay(callText(), answer)
    expect(got).toMatchObject({ status: 502, isWhole: true })
    expect(got.text).toMatch(/^impatient-hop: the server.+\(upstream 127\.0\.0\.1:\d+\)\n$/)
    expect(got.text.split('\n')).toHaveLength(2)
    expect(await rig.fact('closed')).toMatchObject({ ending: 'clean' })
    await server.connections[0]?.untilEnded()
    await until('nothing is open', () => rig.listener.openCount() === 0)
    await stillServes(rig)
  })
  test('the head over 64 KiB is named; one of 60 KB passes [hostile.bad-answer]', async () => {
    const over = await relay(
      callText(),
      headText(200, [
        ['X-A', long(70_000)],
        ['Content-Length', '0'],
      ]),
    )
    expect(over.got.text).toMatch(/overflow|larger than 64 KiB/i)
    const under = await relay(
      callText(),
      headText(200, [
        ['X-A', long(60_000)],
        ['Content-Length', '0'],
      ]),
    )
    expect(under.got.header('x-a')).toHaveLength(60_000)
  })
})

describe('mid-stream', () => {
  test.each([
    ['is no number', 'zz\r\nxx\r\n0\r\n\r\n'],
    ['is negative', '-1\r\nxx\r\n0\r\n\r\n'],
    ['is too large', 'fffffffffffffffff\r\nxx\r\n0\r\n\r\n'],
    ['is shorter than its chunk', '1\r\nxx\r\n0\r\n\r\n'],
  ])('a chunk size that %s truncates the answer [hostile.bad-chunk]', async (_, bad) => {
    const { got, client, rig, server } = await relay(callText(), [sseHead, chunk(progressEvent(1)), bad])
    expect(got).toMatchObject({ status: 200, framing: 'chunked', isWhole: false })
    expect(got.text.startsWith(progressEvent(1))).toBe(true)
    expect(client.text()).not.toMatch(/\r\n0\r\n\r\n$/)
    expect(client.ended()).not.toBeNull()
    expect(await rig.fact('closed')).toMatchObject({ cause: { kind: 'server_close' } })
    await server.connections[0]?.untilEnded()
    await stillServes(rig)
  })
  test('a bad trailer truncates the answer, too [hostile.bad-chunk]', async () => {
    const { got, rig } = await relay(callText(), [sseHead, chunk('data: 1\n\n'), '0\r\nX A\u0001: 1\r\n\r\n'])
    expect(got.isWhole).toBe(false)
    await stillServes(rig)
  })
})
