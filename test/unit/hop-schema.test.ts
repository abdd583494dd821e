/** A hop as users write it: what is read, what is refused and how it is told, changes laid over, flags, effective limits. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readHopText } from '../../src/config/presets.ts'
import { readYaml } from '../../src/config/yaml-file.ts'
import { effectiveLimits } from '../../src/hops/effective.ts'
import { customHop, parseBufferFlag, parseHopFlag } from '../../src/hops/flags.ts'
import type { HopFile } from '../../src/hops/hop-schema.ts'
import { hopSchema } from '../../src/hops/hop-schema.ts'
import { composePath } from '../../src/hops/presets.ts'
import { hopProblems, overrideHop, resolveHop } from '../../src/hops/resolve.ts'
import { duration, strict } from '../../src/hops/shape.ts'
import { hop, idle, limit, total } from '../support/line-rig.ts'

const read = (text: string): HopFile => {
  const answer = readHopText(text, 'x.yaml')
  if ('errors' in answer) throw new Error(answer.errors.join('\n'))
  return answer.value
}
const errors = (text: string): readonly string[] => {
  const answer = readHopText(text, 'hops/x.yaml')
  return 'errors' in answer ? answer.errors : []
}
const nginx = { name: 'path[1]:nginx', preset: 'nginx' }
const resolved = (text: string) => resolveHop(read(text), nginx)

test('every field of a hop is read [hops.schema]', () => {
  const file = read(`
title: everything
connect: { after: 60s, answer: { status: 504 } }
headers: { after: 1m30s, answer: { status: 504, reason: Gateway Time-out, contentType: text/html, body: "…", headers: { Retry-After: 7, Vary: [a, b] }, connection: keep }, upstream: fin }
idle: { after: 60s, counts: bytes, direction: both, rearm: 300ms, ending: silent, answer: none, upstream: { afterWrites: 1 }, confidence: measured }
total: { after: 24h, from: headers, at: next-write, ending: rst, answer: { status: 503 }, upstream: none }
clientSend: { after: 60s, ending: fin, upstream: rst }
buffering: { mode: bytes, size: 4KiB, holdHeaders: sized, atCut: headers, honours: [X-Accel-Buffering] }
clientAbort: { midStream: { afterWrites: 2 }, beforeHeaders: never, halfClose: forward, upstream: rst }
upstreamLoss: { refused: { status: 503 }, beforeHeaders: none, midStream: { fin: clean, rst: truncate } }
request: { buffer: true, bodyMax: 1MiB, retry: { on: [timeout, loss], tries: 3 } }
source: [ "measured on x" ]
checked: 2026-11-29
confidence: reported
`)
  expect(resolveHop(file, nginx)).toEqual({
    ...nginx,
    connect: {
      afterMs: 60_000,
      answer: {
        status: 504,
        reason: '',
        rawHeaders: ['Content-Type', 'text/plain; charset=utf-8'],
        body: '504 by nginx: connecting took too long\n',
      },
    },
    headers: {
      afterMs: 90_000,
      answer: {
        status: 504,
        reason: 'Gateway Time-out',
        rawHeaders: ['Content-Type', 'text/html', 'Retry-After', '7', 'Vary', 'a', 'Vary', 'b'],
        body: '…',
        connection: 'keep',
      },
      ending: 'fin',
      upstream: 'fin',
    },
    idle: {
      afterMs: 60_000,
      answer: null,
      ending: 'silent',
      upstream: { afterWrites: 1 },
      counts: 'bytes',
      direction: 'both',
      rearmMs: 300,
    },
    total: {
      afterMs: 86_400_000,
      answer: {
        status: 503,
        reason: '',
        rawHeaders: ['Content-Type', 'text/plain; charset=utf-8'],
        body: '503 by nginx: limit of 24h reached\n',
      },
      ending: 'rst',
      upstream: 'none',
      from: 'headers',
      at: 'next-write',
    },
    clientSend: { afterMs: 60_000, ending: 'fin', upstream: 'rst' },
    buffering: { mode: { bytes: 4_096 }, holdHeaders: 'sized', atCut: 'headers', honours: ['x-accel-buffering'] },
    clientAbort: { midStream: { afterWrites: 2 }, beforeHeaders: 'never', halfClose: 'forward', upstream: 'rst' },
    upstreamLoss: {
      refused: {
        status: 503,
        reason: '',
        rawHeaders: ['Content-Type', 'text/plain; charset=utf-8'],
        body: '503 by nginx: the server refused the connection\n',
      },
      beforeHeaders: null,
      midStream: { fin: 'clean', rst: 'truncate' },
    },
    request: { buffer: true, bodyMaxBytes: 1_048_576, retry: { on: ['timeout', 'loss'], tries: 3 } },
  })
})
test('what a file does not say is what HTTP proxies do; of custom it is nothing [hops.defaults]', () => {
  expect(resolved('idle: { after: 5s }')).toMatchObject({
    idle: { answer: { status: 504 }, ending: 'fin', upstream: 'fin', counts: 'bytes', direction: 'response', rearmMs: 0 },
    clientAbort: { midStream: 'at-once', beforeHeaders: 'at-once', halfClose: 'abort', upstream: 'fin' },
    upstreamLoss: { beforeHeaders: { status: 502 }, midStream: { fin: 'truncate', rst: 'truncate' } },
  })
  expect(resolveHop({}, { name: 'path[0]:custom', preset: 'custom' })).toEqual({ name: 'path[0]:custom', preset: 'custom' })
})
test('`none` switches a field off; `after: none` leaves it off though its manners are known [hops.none]', () => {
  expect(
    resolved(
      'headers: none\nidle: none\ntotal: none\nclientSend: none\nbuffering: none\nclientAbort: none\nupstreamLoss: none\nrequest: none\nconnect: none',
    ),
  ).toEqual({
    ...nginx,
    headers: 'none',
  })
  const off = read('headers: { after: none }\nidle: { after: none, ending: clean }')
  expect(resolveHop(off, nginx)).not.toHaveProperty('idle')
  expect(resolveHop(overrideHop(off, { idle: { after: 9_000 } }), nginx)).toMatchObject({
    headers: 'none',
    idle: { afterMs: 9_000, ending: 'clean' },
  })
})
test('a bare number is no duration, and the message says so [hops.duration-needs-unit]', () => {
  expect(errors('title: x\nidle:\n  after: 30')).toEqual([
    'hops/x.yaml:3 idle.after: expected a duration such as "30s", got 30: a bare number has no unit, write "30s" or "30ms"',
  ])
})
test('errors name file, line, key, what was expected, and what was meant; all at once [hops.file-errors]', () => {
  expect(
    errors(`idle:
  after: 5 minutes
  count: bytes
buffering: { mode: byte }
idel: none
clientAbort: { midStream: { afterWrites: 0 } }
upstreamLoss: { midStream: { fin: clen } }
request: { bodyMax: much }`),
  ).toEqual([
    'hops/x.yaml:2 idle.after: expected a duration such as "30s", "250ms" or "1m30s", got "5 minutes"',
    'hops/x.yaml:3 idle.count: unknown key "count"; did you mean "counts"?',
    'hops/x.yaml:4 buffering.mode: expected none, bytes, time, full, one-behind, gzip, got "byte"; did you mean "bytes"?',
    'hops/x.yaml:5 idel: unknown key "idel"; did you mean "idle"?',
    'hops/x.yaml:6 clientAbort.midStream.afterWrites: expected a number of writes, 1 at least, got 0',
    'hops/x.yaml:7 upstreamLoss.midStream.fin: expected truncate, clean, got "clen"; did you mean "clean"?',
    'hops/x.yaml:8 request.bodyMax: expected a size such as "4KiB", "1MiB" or a number of bytes, got "much"',
  ])
  expect(errors('connect: {}\nbuffering: { mode: time }')).toEqual([
    'hops/x.yaml:1 connect.after: expected a duration such as "60s", or none, got nothing',
    'hops/x.yaml:2 buffering.every: mode time needs how long it holds, such as "200ms"',
  ])
  expect(errors('idle: { after: 0s }')).toEqual(['hops/x.yaml:1 idle.after: expected a duration above 0, or none for no limit, got "0s"'])
  expect(errors('total: off')).toEqual(['hops/x.yaml:1 total: expected none or { after: 5m }, got "off"'])
})
test('a number as text is told its unit [hops.file-errors]', () => {
  expect(errors('idle: { after: "20" }')).toEqual([
    'hops/x.yaml:1 idle.after: expected a duration such as "30s", "250ms" or "1m30s", got "20": a number needs a unit, write 20s or 20ms',
  ])
})
test('a file that is no YAML, says a key twice, or is a list: one line each with its line [hops.yaml-errors]', () => {
  expect(errors('title: a\ntitle: b')).toEqual(['hops/x.yaml:2:1 the key title is given twice: keep one of them'])
  expect(errors('a: [')[0]).toMatch(/^hops\/x\.yaml:\d+:\d+ a bracket is not closed/)
  expect(errors('[]')[0]).toMatch(/^hops\/x\.yaml:1 expected an object with title/)
})
test('JSON is read by the same reader, an empty file is an empty object, and lists name their index', () => {
  const schema = strict({ path: z.array(strict({ idle: duration })).optional() })
  expect(readYaml('{"path":[{"idle":"5s"}]}', schema, 'x.json')).toEqual({ value: { path: [{ idle: 5_000 }] } })
  expect(readYaml('', schema, 'x.json')).toEqual({ value: {} })
  expect(readYaml('path:\n  - idle: 5s\n  - idle: 5\n', schema, 'c.yaml')).toEqual({
    errors: ['c.yaml:3 path[1].idle: expected a duration such as "30s", got 5: a bare number has no unit, write "5s" or "5ms"'],
  })
})
test('the schema is also a JSON Schema of what is written [hops.json-schema]', () => {
  const written = z.toJSONSchema(hopSchema, { io: 'input' }) as { properties: Record<string, unknown>; additionalProperties: unknown }
  expect(Object.keys(written.properties)).toContain('upstreamLoss')
  expect(written.additionalProperties).toBe(false)
})
test('`with` changes field by field and nothing else [hops.with]', () => {
  const file = read(
    'idle: { after: 60s, ending: rst, answer: { status: 504, reason: x } }\nbuffering: { mode: full, holdHeaders: true }\nupstreamLoss: { midStream: clean }',
  )
  const changed = overrideHop(
    file,
    read('idle: { after: 20s, answer: { status: 503 } }\nbuffering: { mode: none }\nupstreamLoss: { midStream: { rst: truncate } }'),
  )
  expect(changed).toEqual({
    idle: { after: 20_000, ending: 'rst', answer: { status: 503, reason: 'x' } },
    buffering: { mode: 'none', holdHeaders: true },
    upstreamLoss: { midStream: { fin: 'clean', rst: 'truncate' } },
  })
  expect(overrideHop(file, { idle: 'none' }).idle).toBe('none')
  expect(overrideHop({ idle: 'none' }, { idle: { after: 5 } })).toEqual({ idle: { after: 5 } })
  expect(hopProblems(overrideHop({}, { idle: { ending: 'rst' } }))).toMatchObject([{ path: ['idle', 'after'] }])
})
test('a path is composed of presets and changes, each hop with a unique name [hops.path]', () => {
  const presetOf = (name: string) => (name === 'nginx' ? read('idle: { after: 60s }') : null)
  const composed = composePath([{ name: 'nginx' }, { name: 'custom' }, { name: 'nginx', with: { idle: { after: 5_000 } } }], presetOf, [
    'nginx',
  ])
  if (!('hops' in composed)) throw new Error('no hops')
  expect(composed.hops.map(({ name, preset, idle: own }) => [name, preset, own?.afterMs])).toEqual([
    ['path[0]:nginx', 'nginx', 60_000],
    ['path[1]:custom', 'custom', undefined],
    ['path[2]:nginx', 'nginx', 5_000],
  ])
  expect(composePath([{ name: 'ngnix' }, { name: 'custom', with: { total: { ending: 'rst' } } }], presetOf, ['nginx'])).toEqual({
    problems: [
      { path: [0, 'hop'], message: 'unknown hop "ngnix"; did you mean "nginx"?' },
      { path: [1, 'with', 'total', 'after'], message: 'expected a duration such as "60s", or none, got nothing' },
    ],
  })
})
test('--hop: a name, and what of it is different [hops.flag]', () => {
  expect(parseHopFlag('nginx')).toEqual({ name: 'nginx', with: {} })
  expect(parseHopFlag('nginx:idle.after=20s')).toEqual({ name: 'nginx', with: { idle: { after: 20_000 } } })
  expect(parseHopFlag('nginx:idle.after=20s:total.after=none:buffering.holdHeaders=true')).toEqual({
    name: 'nginx',
    with: { idle: { after: 20_000 }, total: { after: 'none' }, buffering: { holdHeaders: true } },
  })
  const error = (text: string) => (parseHopFlag(text) as { error: string }).error
  expect(error('nginx:idle.after=20')).toBe(
    'nginx:idle.after: expected a duration such as "30s", "250ms" or "1m30s", got "20": a number needs a unit, write 20s or 20ms',
  )
  expect(error('nginx:idel.after=20s')).toBe('nginx:idel: unknown key "idel"; did you mean "idle"?')
  expect(error('nginx:idle=20s')).toMatch(/^expected NAME or NAME:LIMIT\.after=DURATION/)
  expect(error('nginx:idle.after')).toMatch(/^expected NAME/)
  expect(error(':x')).toMatch(/^expected NAME/)
})
test('the timer flags make one hop that does nothing else [hops.flags-hop]', () => {
  const none = {
    name: 'path[2]:custom',
    headerTimeoutMs: null,
    idleTimeoutMs: null,
    maxDurationMs: null,
    ending: 'fin',
    buffer: null,
  } as const
  expect(customHop(none)).toEqual({ name: 'path[2]:custom', preset: 'custom' })
  expect(customHop({ ...none, headerTimeoutMs: 1, idleTimeoutMs: 2, maxDurationMs: 3, ending: 'rst', buffer: { bytes: 5 } })).toMatchObject(
    {
      headers: { afterMs: 1, ending: 'rst', answer: { status: 504 } },
      idle: { afterMs: 2, ending: 'rst' },
      total: { afterMs: 3, ending: 'rst', from: 'request', at: 'deadline' },
      buffering: { mode: { bytes: 5 }, holdHeaders: false },
    },
  )
})
test('--buffer: full, a size, a duration, one-behind [hops.buffer-flag]', () => {
  expect(['full', 'one-behind', '4KiB', '4096', '200ms'].map(parseBufferFlag)).toEqual([
    { mode: 'full' },
    { mode: 'one-behind' },
    { mode: { bytes: 4_096 } },
    { mode: { bytes: 4_096 } },
    { mode: { everyMs: 200 } },
  ])
  expect(parseBufferFlag('ful')).toEqual({
    error: 'expected full, one-behind, a size such as 4KiB or a duration such as 200ms, got "ful"; did you mean "full"?',
  })
  expect(parseBufferFlag('0s')).toHaveProperty('error')
  expect(parseBufferFlag('0')).toHaveProperty('error')
})
test('the effective limit is the least of the path, and the hop that sets it [hops.effective]', () => {
  const path = [
    hop('outer', { idle: idle(60_000), total: total(900_000) }),
    hop('middle', { headers: limit(100_000), idle: idle(5_000) }),
    hop('inner', { headers: 'none', idle: idle(4_000), total: total(300_000) }),
  ]
  expect(effectiveLimits(path)).toEqual({
    headers: { ms: 60_000, hop: 'outer', preset: 'outer' }, // its idle covers the wait; the 4 s of `inner` do not
    idle: { ms: 4_000, hop: 'inner', preset: 'inner' },
    total: { ms: 300_000, hop: 'inner', preset: 'inner' },
  })
  const tie = effectiveLimits([hop('outer', { idle: idle(60_000) }), hop('inner', { idle: idle(60_000) })])
  expect(tie.idle?.hop).toBe('inner') // wakes due together: the seat nearest the server goes first
  expect(effectiveLimits([])).toEqual({ headers: null, idle: null, total: null })
})
