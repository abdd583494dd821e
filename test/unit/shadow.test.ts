/** Shadows: what a hop or fault would have done, told and not done; the line that acts is the measure. */
import { describe, expect, test } from 'vitest'
import { listPresets, readPreset } from '../../src/config/presets.ts'
import type { SeatPlan } from '../../src/core/seat.ts'
import type { Shadow } from '../../src/core/shadow.ts'
import { createShadow } from '../../src/core/shadow.ts'
import type { Ask, Reply } from '../../src/core/signal.ts'
import { clientAbort } from '../../src/core/signal.ts'
import { compileHop } from '../../src/hops/compile.ts'
import { overrideHop, resolveHop } from '../../src/hops/resolve.ts'
import { planOf } from '../support/fault-rig.ts'
import {
  asked,
  buffering,
  done,
  event,
  gone,
  hop,
  idle,
  left,
  progress,
  raw,
  request,
  result,
  rig,
  sse,
  total,
} from '../support/line-rig.ts'

interface Told {
  readonly shadow: Shadow
  /** `+2000 idle_timeout nginx`. */
  readonly cuts: string[]
}

function shadowOf(plans: readonly SeatPlan[]): Told {
  const cuts: string[] = []
  const shadow = createShadow('it', plans, (cause, atMs) => cuts.push(`+${atMs} ${cause.kind} ${cause.hop ?? cause.fault}`))
  return { shadow, cuts }
}

type Step = readonly [atMs: number, side: 'ask', signal: Ask] | readonly [atMs: number, side: 'reply', signal: Reply]
const ask = (atMs: number): Step[] => [
  [atMs, 'ask', request],
  [atMs, 'ask', asked],
]
const reply = (atMs: number, ...signals: Reply[]): Step[] => signals.map((signal) => [atMs, 'reply', signal] as const)

function feed({ shadow, cuts }: Told, steps: readonly Step[], untilMs: number): string[] {
  for (const [atMs, side, signal] of steps) {
    if (side === 'ask') shadow.fromClient(signal, atMs)
    else shadow.fromServer(signal, atMs)
  }
  shadow.wake(untilMs)
  return cuts
}

/** A tool that says little: 3 events, then silence, then its result. */
const QUIET: readonly Step[] = [
  ...ask(0),
  ...reply(100, sse, event('a')),
  ...reply(500, event(progress())),
  ...reply(900, event('c')),
  ...reply(9_000, event(result()), done),
]

describe('one hop or fault', () => {
  test('is told what it would have cut, at its due time', () => {
    expect(feed(shadowOf(compileHop(hop('nginx', { idle: idle(2_000) }))), QUIET, 20_000)).toEqual(['+2900 idle_timeout nginx'])
    expect(feed(shadowOf([planOf({ cut: { after: { events: 2 } } })]), QUIET, 20_000)).toEqual(['+500 fault f'])
    expect(feed(shadowOf([planOf({ 'max-duration': { after: '3s' } })]), QUIET, 20_000)).toEqual(['+3000 max_duration f'])
  })

  test('each preset, scaled down, says what the line that acts does [shadow.tells-as-acts]', () => {
    const judged = listPresets().map((name) => {
      const read = readPreset(name)
      if (read === null || 'errors' in read) throw new Error(`${name} cannot be read`)
      const short = (limit: unknown) => (typeof limit === 'object' ? { after: 2_000 } : undefined)
      const { headers, idle: silence, total: whole } = read.value
      const file = overrideHop(read.value, { headers: short(headers), idle: short(silence), total: short(whole) })
      const plans = compileHop(resolveHop(file, { name: `path[0]:${name}`, preset: name }))
      const acting = rig(plans)
      for (const [atMs, side, signal] of QUIET) {
        if (side === 'ask') acting.client(atMs, signal)
        else acting.server(atMs, signal)
      }
      acting.until(20_000)
      const acted = acting.closings.filter(({ seat }) => seat !== null).map(({ atMs, cause }) => `+${atMs} ${cause} ${name}`)
      return { name, acted, told: feed(shadowOf(plans), QUIET, 20_000) }
    })
    expect(judged.map(({ name, told }) => ({ name, told }))).toEqual(judged.map(({ name, acted }) => ({ name, told: acted })))
    expect(judged.filter(({ acted }) => acted.length === 1).length).toBeGreaterThan(20)
  })

  test('speaks once, and wakes no more [shadow.once]', () => {
    const told = shadowOf(compileHop(hop('both', { idle: idle(1_000), total: total(1_500) })))
    expect(feed(told, [...ask(0), ...reply(100, sse)], 1_100)).toEqual(['+1100 idle_timeout both'])
    expect(told.shadow.wakeAtMs()).toBeNull()
    expect(feed(told, reply(1_200, event('late')), 9_000)).toHaveLength(1)
  })

  test('wakes no later than its limit', () => {
    const { shadow } = shadowOf(compileHop(hop('nginx', { idle: idle(2_000) })))
    expect(shadow.wakeAtMs()).toBeNull()
    shadow.fromClient(request, 0)
    shadow.fromClient(asked, 0)
    expect(shadow.wakeAtMs()).toBe(2_000)
  })
})

describe('endings of others', () => {
  const nginx = () => shadowOf(compileHop(hop('nginx', { idle: idle(2_000) })))
  test.each([
    ['the result', reply(100, sse, event(result()), done)],
    ['a lost server, which the hop would answer 502', reply(100, gone('rst'))],
    ['a lost server mid-stream', reply(100, sse, gone('fin'))],
    ['a client that left', [[100, 'ask', left('fin', clientAbort)]] as Step[]],
    ['a cut made elsewhere', [[100, 'ask', left('fin', { kind: 'idle_timeout', seat: 'path[0]:other', hop: 'other' })]] as Step[]],
  ])('%s [shadow.own-cause]', (_what, steps) => {
    expect(feed(nginx(), [...ask(0), ...steps], 60_000)).toEqual([])
  })
  test('nobody sits there', () => {
    expect(feed(shadowOf([]), QUIET, 60_000)).toEqual([])
  })
})

test('a hop that buffers holds little in the shadow, and is judged all the same [shadow.bounded]', () => {
  const plans = compileHop(hop('full', { idle: idle(2_000), buffering: buffering('full') }))
  let heldBytes = (): number => 0
  const watched = plans.map(
    (plan): SeatPlan => ({
      name: plan.name,
      sit(out, random) {
        const seat = plan.sit(out, random)
        if (seat.heldBytes !== undefined) heldBytes = seat.heldBytes
        return seat
      },
    }),
  )
  const told = shadowOf(watched)
  let heldMax = 0
  feed(told, [...ask(0), ...reply(0, sse)], 0)
  for (let n = 1; n <= 1_000; n += 1) {
    told.shadow.fromServer(raw('x'.repeat(10_000)), n)
    heldMax = Math.max(heldMax, heldBytes())
  }
  told.shadow.wake(9_000)
  expect(heldMax).toBeGreaterThan(0)
  expect(heldMax).toBeLessThanOrEqual(65_536)
  expect(told.cuts).toEqual(['+3000 idle_timeout full'])
})

test('a client that does not read is known to the shadow', () => {
  const told = shadowOf(compileHop(hop('slow', { clientSend: { afterMs: 500, ending: 'fin', upstream: 'fin' } })))
  for (const [atMs, , signal] of [...ask(0)]) told.shadow.fromClient(signal as Ask, atMs)
  told.shadow.fromServer(sse, 10)
  told.shadow.pressed('client', true, 100)
  told.shadow.wake(1_000)
  expect(told.cuts).toEqual(['+600 client_send slow'])
})
