/** Every preset: it is read, it says where it is from, and it is played against silence, a stream, a loss and a leaving. */
import { describe, expect, test } from 'vitest'
import { listPresets, readPreset } from '../../src/config/presets.ts'
import { compileHop } from '../../src/hops/compile.ts'
import type { Hop } from '../../src/hops/hop.ts'
import type { HopFile } from '../../src/hops/hop-schema.ts'
import { composePath } from '../../src/hops/presets.ts'
import { resolveHop } from '../../src/hops/resolve.ts'
import type { Rig } from '../support/line-rig.ts'
import { bytesOf, done, event, gone, left, rig, sse } from '../support/line-rig.ts'

const WANTED =
  'nginx nginx-http10 nginx-gzip ingress-nginx haproxy haproxy-no-delay apache caddy caddy-2.6 varnish squid envoy istio traefik kong aws-alb aws-nlb api-gateway-rest api-gateway-http cloudfront cloudflare fastly fly gcp-https-lb cloud-run azure-app-gateway azure-front-door azure-lb app-service heroku vercel railway mcp-typescript-sdk mcp-python-sdk node-fetch httpx aiohttp go-http claude-desktop claude-code cursor vscode copilot-cli'.split(
    ' ',
  )

function fileOf(name: string): HopFile {
  const read = readPreset(name)
  if (read === null) throw new Error(`no preset ${name}`)
  if ('errors' in read) throw new Error(read.errors.join('\n'))
  return read.value
}
const play = (hop: Hop): Rig => rig(compileHop(hop)).ask()
const of = (name: string): Hop => resolveHop(fileOf(name), { name: `path[0]:${name}`, preset: name })

test('all presets that are promised are there, and no name outside the folder is read [hops.presets]', () => {
  expect(listPresets()).toEqual([...WANTED].sort())
  expect([readPreset('nothing'), readPreset('../hops/nginx'), readPreset('')]).toEqual([null, null, null])
})

describe.each(listPresets())('%s', (name) => {
  const hop = of(name)
  const waitMs = hop.headers === 'none' ? undefined : (hop.headers?.afterMs ?? hop.idle?.afterMs)
  const totalMs = hop.total?.from === 'request' && hop.total.at === 'deadline' ? hop.total.afterMs : Number.POSITIVE_INFINITY
  const cutMs = Math.min(waitMs ?? Number.POSITIVE_INFINITY, totalMs)

  test('says what it is, how well that is known, and from where [hops.preset-sources]', () => {
    const { title, confidence, checked, source } = fileOf(name)
    expect([typeof title, typeof checked]).toEqual(['string', 'string'])
    expect(['measured', 'documented', 'reported']).toContain(confidence)
    expect(source?.length).toBeGreaterThan(0)
    expect(JSON.stringify(source)).not.toMatch(/hops\.md|\.json|\brows?\b/)
  })
  test('silence: cut at its limit, answered or ended once, and nothing left armed [hops.presets-play]', () => {
    const r = play(hop).until(10 * 86_400_000)
    if (cutMs === Number.POSITIVE_INFINITY) return expect(r.closings).toEqual([])
    expect(r.closings).toMatchObject([{ seat: `path[0]:${name}`, atMs: cutMs }])
    expect(r.line.wakeAtMs()).toBeNull()
  })
  test('a stream: every byte, in order, and a clean end', () => {
    const r = play(hop).server(5, sse)
    for (let atMs = 100; atMs <= 1_000; atMs += 100) r.server(atMs, event(`n${atMs}`))
    r.server(1_100, done).until(90_000)
    expect(r.bytesToClient()).toBe(Array.from({ length: 10 }, (_, n) => `data: n${(n + 1) * 100}\n\n`).join(''))
    expect(r.closings).toMatchObject([{ cause: 'complete', ending: 'clean' }])
    expect([r.line.wakeAtMs(), r.line.heldBytes()]).toEqual([null, 0])
  })
  test('a loss: before the head an answer or a close, after it one ending', () => {
    const before = play(hop).server(5, gone('rst')).until(90_000)
    expect(before.closings).toMatchObject([{ cause: 'server_reset' }])
    const status = hop.upstreamLoss?.beforeHeaders?.status
    if (status !== undefined) expect(before.toClient()[0]).toBe(`+5 head ${status}`)
    const after = play(hop).server(5, sse, event('a')).server(300, gone('fin')).until(90_000)
    expect(after.closings).toMatchObject([{ cause: 'server_close' }])
  })
  test('a leaving: the server is told as the preset says', () => {
    const r = play(hop).server(5, sse, event('a')).client(1_000, left())
    const told = () => r.toServer().some((said) => said.includes('lost'))
    const manner = hop.clientAbort?.midStream ?? 'at-once'
    if (manner === 'at-once') expect(told()).toBe(true)
    else if (manner !== 'never') {
      for (let n = 1; n < manner.afterWrites; n += 1) r.server(1_000 + n, event('x'))
      expect(told()).toBe(false)
      r.server(1_500, event('x')).until(1_800) // at the latest when what is held goes
      expect(told()).toBe(true)
    }
    expect(r.closings).toMatchObject([{ cause: 'client_reset' }])
  })
})

const body = (answer: { body: string } | null | undefined): number => bytesOf(answer?.body ?? '').length
test('answers have the size and the words of the real ones [hops.preset-answers]', () => {
  const table = (['nginx', 'haproxy', 'apache', 'varnish', 'squid', 'caddy-2.6'] as const).map((name) => {
    const { idle, headers, upstreamLoss } = of(name)
    const limit = (headers === 'none' ? undefined : headers) ?? idle
    return [
      name,
      limit?.answer?.status,
      limit?.answer?.reason,
      body(limit?.answer),
      upstreamLoss?.beforeHeaders?.status,
      body(upstreamLoss?.beforeHeaders),
    ]
  })
  expect(table).toEqual([
    ['nginx', 504, 'Gateway Time-out', 167, 502, 157],
    ['haproxy', 504, 'Gateway Time-out', 92, 502, 107],
    ['apache', 502, 'Proxy Error', 381, 502, 381],
    ['varnish', 503, 'Backend fetch failed', 283, 503, 283],
    ['squid', 504, 'Gateway Timeout', 3_110, 502, 2_973],
    ['caddy-2.6', undefined, undefined, 0, 502, 0], // no limit by default
  ])
})

/** What was measured at limits of 2 s, so that it can be compared with these. */
const at2s = (name: string, limit: 'idle' | 'headers' | 'total' = 'idle', afterMs = 2_000): Rig => {
  const composed = composePath([{ name, with: { [limit]: { after: afterMs } } }], fileOf, [])
  if (!('hops' in composed)) throw new Error(name)
  return rig(composed.hops.flatMap((hop) => compileHop(hop))).ask()
}
/** Three events at 0, 200 and 400 ms, then silence. */
const threeEvents = (r: Rig): Rig => r.server(0, sse, event('1')).server(200, event('2')).server(400, event('3')).until(5_000)

test.each([
  // name, last words to the client, bytes it got, last words to the server
  ['nginx', '+2400 lost fin idle_timeout', 27, '+2400 lost fin idle_timeout'],
  ['nginx-http10', '+2400 lost fin idle_timeout', 0, '+2400 lost fin idle_timeout'],
  ['haproxy', '+2400 lost fin idle_timeout', 27, '+2400 lost rst idle_timeout'],
  ['apache', '+2400 lost fin idle_timeout', 27, '+2400 lost fin idle_timeout'],
  ['caddy-2.6', '+2400 end idle_timeout', 27, '+2400 lost fin idle_timeout'],
  ['varnish', '+2400 lost fin idle_timeout', 27, '+2400 lost fin idle_timeout'],
])('%s, three events and then silence, as measured [hops.presets-as-measured]', (name, toClient, bytes, toServer) => {
  const r = threeEvents(at2s(name))
  expect([r.toClient().at(-1), r.bytesToClient().length, r.toServer().at(-1)]).toEqual([toClient, bytes, toServer])
})
test('nginx cuts early where its timer was not re-armed: events at 0 and 200 ms, 2 s set, cut at 2 s', () => {
  const r = at2s('nginx').server(30, sse, event('1')).server(229, event('2')).until(9_000)
  expect(r.closings).toMatchObject([{ atMs: 2_000 }])
})
test('haproxy pairs events 200 ms apart: held from the first for a little longer', () => {
  const r = at2s('haproxy')
  for (let n = 0; n < 6; n += 1) r.server(n * 201, ...(n === 0 ? [sse] : []), event(String(n)))
  r.until(1_300)
  const times = [...new Set(r.toClient().map((said) => said.split(' ')[0]))]
  expect(times).toEqual(['+205', '+607', '+1009'])
})
test('nginx over HTTP/1.0 releases pages of 4096 bytes, and the rest at the end', () => {
  const r = at2s('nginx-http10').server(1, sse)
  for (let n = 1; n <= 90; n += 1) r.server(n * 50, event('x'.repeat(112)))
  r.server(4_600, done)
  const sizes = new Map<number, number>()
  for (const effect of r.effects)
    if (effect.do === 'toClient' && effect.signal.is === 'piece')
      sizes.set(effect.atMs, (sizes.get(effect.atMs) ?? 0) + effect.signal.bytes.length)
  expect([...sizes.values()]).toEqual([4_096, 4_096, 90 * 120 - 8_192])
})
test('varnish caps an active stream from its head, at a write, and tells the server at the next', () => {
  const r = at2s('varnish', 'total', 4_000).server(13, sse, event('0'))
  for (let atMs = 213; atMs <= 8_000; atMs += 201) r.server(atMs, event('x'))
  expect(r.closings).toMatchObject([{ cause: 'max_duration', ending: 'fin', atMs: 4_032 }])
  expect(r.toServer().at(-1)).toBe('+4233 lost fin max_duration')
})
test('a silent client of apache, varnish and haproxy is not told of; of nginx, caddy and squid it is, at once', () => {
  const isTold = (name: string) => at2s(name, 'total', 9_000).client(500, left('fin')).toServer().at(-1)?.startsWith('+500 lost') ?? false
  expect(['apache', 'varnish', 'haproxy', 'nginx', 'caddy', 'squid'].map(isTold)).toEqual([false, false, false, true, true, true])
})
test('a gateway that collects the whole response answers 504 though the stream had begun', () => {
  const r = play(of('api-gateway-rest')).server(5, sse, event('a')).until(29_000)
  expect(r.toClient()[0]).toBe('+29000 head 504')
})
