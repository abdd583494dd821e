/** What is in force after each change: files, API, ends, stop and resume. Time is a number. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CallRecord } from '../../src/core/record.ts'
import type { Change, ControlState, FromFile, Now, Refusal } from '../../src/faults/control.ts'
import {
  API_FAULTS_MAX,
  addFault,
  expire,
  faultsInForce,
  inForce,
  initialControl,
  isRefusal,
  nextEndMs,
  patchFault,
  reloadFile,
  removeFault,
  resetPath,
  resume,
  setPath,
  stop,
} from '../../src/faults/control.ts'
import { createController, isReleased } from '../../src/faults/controller.ts'
import { createCutFilter, cutRequestSchema } from '../../src/faults/cut-filter.ts'
import type { FaultRule } from '../../src/faults/fault-schema.ts'
import { fakeClock } from '../support/admin-rig.ts'
import { ruleOf } from '../support/fault-rig.ts'
import { hop } from '../support/line-rig.ts'

const CUT = { cut: { before: 'result' } }
const RST = { cut: { before: 'result', ending: 'rst' } }
const WALL_MS = Date.parse('2026-12-01T12:00:00Z')
const at = (nowMs: number): Now => ({ nowMs, wallMs: WALL_MS + nowMs })
const written = (name: string, more: object = {}): object => ({ name, do: CUT, ...more })
const rule = (name: string, more: object = {}): FaultRule => ruleOf(CUT, { name, ...more })
const file = (...rules: FaultRule[]): FromFile => ({ rules, safety: {}, path: [hop('nginx')] })
const done = (result: Change | Refusal): Change => {
  if (isRefusal(result)) throw new Error(result.message)
  return result
}
const refused = (result: Change | Refusal): string => {
  if (!isRefusal(result)) throw new Error('it was taken')
  expect(result.message.startsWith(`${result.key}: `)).toBe(true)
  return `${result.status} ${result.message}`
}
const shown = (state: ControlState): string[] =>
  faultsInForce(state).map(
    ({ rule, origin }) => `${rule.name} ${origin}${'cut' in rule.do && JSON.stringify(rule.do) === JSON.stringify(RST) ? ' rst' : ''}`,
  )

test("the API's fault stands in place of the file's of its name, and survives a reload [faults.control] [faults.reload]", () => {
  let state = initialControl(file(rule('a'), rule('b')), at(0))
  const added = done(addFault(state, written('a', { do: RST }), at(5)))
  expect([shown(added.state), added.releases]).toEqual([['a api rst', 'b file'], []])
  state = done(addFault(added.state, written('c'), at(5))).state
  state = reloadFile(state, file(rule('b'), rule('a'), rule('d')), at(9)).state
  expect(shown(state)).toEqual(['b file', 'a api rst', 'd file', 'c api'])
  expect(shown(reloadFile(state, file(), at(10)).state)).toEqual(['a api rst', 'c api'])
})
test('adding: a taken name, a wrong form, too many [faults.control]', () => {
  const state = done(addFault(initialControl(file(rule('f')), at(0)), written('a'), at(0))).state
  expect(refused(addFault(state, written('a'), at(0)))).toBe('409 name: a fault "a" is there already: PATCH or DELETE it')
  expect(refused(addFault(state, written('b', { do: { cut: {} } }), at(0)))).toBe('422 do.cut: expected one of after, before, inside')
  expect(refused(addFault(state, [], at(0)))).toMatch(/^422 body: expected an object/)
  expect(refused(addFault(state, written('b', { until: '2026-12-01T11:59:59Z' }), at(0)))).toMatch(/^422 until: expected a time to come/)
  let full = state
  for (let n = 1; n < API_FAULTS_MAX; n += 1) full = done(addFault(full, written(`x${n}`), at(0))).state
  expect(refused(addFault(full, written('more'), at(0)))).toMatch(/^409 name: 100 faults are there already/)
})
test('patching: keys given replace, null takes away, the name stays; a file fault becomes one of the API [faults.control]', () => {
  const state = initialControl(file(rule('a', { for: '1m', announce: true }), rule('b')), at(0))
  const patched = done(patchFault(state, 'a', { do: RST, announce: null }, at(10_000)))
  expect([shown(patched.state), patched.releases, nextEndMs(patched.state)]).toEqual([['a api rst', 'b file'], [], 60_000])
  expect(faultsInForce(patched.state)[0]?.rule.announce).toBeUndefined()
  const longer = done(patchFault(patched.state, 'a', { for: '2m' }, at(20_000))).state
  expect(faultsInForce(longer)[0]?.expiresAtMs).toBe(140_000)
  const absolute = done(patchFault(longer, 'a', { until: '2026-12-01T12:10:00Z' }, at(20_000))).state
  expect([faultsInForce(absolute)[0]?.expiresAtMs, faultsInForce(absolute)[0]?.rule.for]).toEqual([600_000, undefined])
  expect(faultsInForce(done(patchFault(longer, 'a', { for: null }, at(20_000))).state)[0]?.expiresAtMs).toBeNull()
  const off = done(patchFault(state, 'b', { enabled: false }, at(1)))
  expect([off.releases, inForce(off.state).faults.map(({ rule }) => [rule.name, rule.enabled])]).toEqual([
    [{ is: 'fault', name: 'b' }],
    [
      ['a', undefined],
      ['b', false],
    ],
  ])
  expect(refused(patchFault(state, 'z', {}, at(1)))).toMatch(/^404 name: no fault "z"/)
  expect(refused(patchFault(state, 'a', { name: 'q' }, at(1)))).toMatch(/^422 name: a fault keeps its name/)
  expect(refused(patchFault(state, 'a', { when: { probability: 2 } }, at(1)))).toMatch(/^422 when\.probability/)
  expect(refused(patchFault(state, 'a', [], at(1)))).toMatch(/^422 body/)
})
test('counts begin anew where the aim changes, and only there [faults.control]', () => {
  const state = initialControl(file(rule('a', { when: { nth: 2 } })), at(0))
  expect(done(patchFault(state, 'a', { announce: true }, at(1))).forgets).toEqual([])
  expect(done(patchFault(state, 'a', { when: { nth: 3 } }, at(1))).forgets).toEqual(['a'])
  expect(reloadFile(state, file(rule('a', { when: { nth: 2 } })), at(1)).forgets).toEqual([])
  expect(reloadFile(state, file(rule('a', { when: { nth: 5 } })), at(1)).forgets).toEqual(['a'])
  expect(reloadFile(state, file(), at(1)).forgets).toEqual(['a'])
})
test('removing: wherever it came from, also from open exchanges; it stays away until the file says otherwise [faults.control] [faults.reload]', () => {
  const from = file(rule('a'), rule('b'))
  const over = done(addFault(initialControl(from, at(0)), written('a', { do: RST }), at(0))).state
  const removed = done(removeFault(over, 'a'))
  expect([shown(removed.state), removed.releases, removed.forgets]).toEqual([['b file'], [{ is: 'fault', name: 'a' }], ['a']])
  expect(shown(reloadFile(removed.state, from, at(1)).state)).toEqual(['b file'])
  expect(shown(reloadFile(removed.state, file(rule('a', { announce: true }), rule('b')), at(1)).state)).toEqual(['a file', 'b file'])
  const twice = reloadFile(reloadFile(removed.state, file(rule('b')), at(1)).state, from, at(2)).state
  expect(shown(twice)).toEqual(['a file', 'b file']) // the file had dropped it, and says it again
  expect(refused(removeFault(removed.state, 'a'))).toMatch(/^404/)
})
test('ends: for from the loading, until absolute; what has ended stays gone, the file beneath comes back [faults.ends]', () => {
  const from = file(
    rule('short', { for: '1s' }),
    rule('dated', { until: '2026-12-01T12:00:05Z' }),
    rule('past', { until: '2026-12-01T11:00:00Z' }),
  )
  const loaded = expire(initialControl(from, at(0)), 0)
  expect([shown(loaded.state), nextEndMs(loaded.state)]).toEqual([['short file', 'dated file'], 1_000])
  const half = reloadFile(loaded.state, from, at(500)).state
  expect([shown(half), nextEndMs(half)]).toEqual([['short file', 'dated file'], 1_000]) // a reload gives no more time
  expect(expire(half, 999).state).toBe(half)
  const over = expire(half, 1_000)
  expect([shown(over.state), over.releases, over.forgets]).toEqual([['dated file'], [{ is: 'fault', name: 'short' }], ['short']])
  expect(shown(reloadFile(over.state, from, at(1_001)).state)).toEqual(['dated file'])
  expect(shown(expire(over.state, 5_000).state)).toEqual([])
  const covered = done(addFault(initialControl(file(rule('a')), at(0)), written('a', { for: '1s', do: RST }), at(0))).state
  expect([shown(covered), shown(expire(covered, 1_000).state)]).toEqual([['a api rst'], ['a file']])
})
test('an end may be required [faults.require-until]', () => {
  const state = initialControl({ ...file(), safety: { requireUntil: true } }, at(0))
  expect(refused(addFault(state, written('a'), at(0)))).toBe('422 for: expected an end (for or until), since safety.requireUntil is set')
  const added = done(addFault(state, written('a', { for: '1m' }), at(0))).state
  expect(refused(patchFault(added, 'a', { for: null }, at(0)))).toMatch(/^422 for/)
})
test('stop: nothing is in force, through reloads and additions, until resume [faults.stop]', () => {
  const stopped = stop(initialControl(file(rule('a')), at(0)))
  expect([inForce(stopped.state), stopped.releases]).toEqual([{ faults: [], path: [], pathId: null }, [{ is: 'all' }]])
  let state = done(addFault(reloadFile(stopped.state, file(rule('b')), at(1)).state, written('c'), at(1))).state
  expect([inForce(state).faults, shown(state)]).toEqual([[], ['b file', 'c api']])
  state = resume(state).state
  expect([inForce(state).faults.length, inForce(state).path.length]).toEqual([2, 1])
})
test("a path of the API's own: with an end, back to the file's, taken away only from those that opened with it [faults.ends] [faults.control]", () => {
  const state = initialControl(file(), at(0))
  const own = setPath(state, [hop('envoy')], 1_000).state
  expect([inForce(own).path[0]?.name, inForce(own).pathId, nextEndMs(own)]).toEqual(['envoy', 1, 1_000])
  expect(inForce(reloadFile(own, { ...file(), path: [] }, at(1)).state).path[0]?.name).toBe('envoy')
  const ended = expire(own, 1_000)
  expect([inForce(ended.state).path[0]?.name, ended.releases]).toEqual(['nginx', [{ is: 'path', id: 1 }]])
  const reset = resetPath(setPath(own, [hop('envoy')], null).state)
  expect(reset.releases).toEqual([{ is: 'path', id: 2 }])
  expect([
    isReleased(reset.releases, { pathId: 2 }),
    isReleased(reset.releases, { pathId: 1 }),
    isReleased(reset.releases, { pathId: null }),
    isReleased(reset.releases, { fault: 'a' }),
  ]).toEqual([true, false, false, false])
  expect(isReleased([{ is: 'all' }], { pathId: null })).toBe(true)
  expect(isReleased([{ is: 'fault', name: 'a' }], { fault: 'a' })).toBe(true)
})

test('the controller ends on time, and what is over is no longer there to be changed [faults.ends]', () => {
  const clock = fakeClock()
  const changes: Change[] = []
  const control = createController({ clock, from: file(), changed: (change) => changes.push(change) })
  expect(control.add(written('a', { for: '1s' }))).toBeNull()
  expect(control.add(written('b', { for: '2s' }))).toBeNull()
  clock.passMs(999)
  expect(changes).toHaveLength(2)
  clock.passMs(1)
  expect(changes.at(-1)?.releases).toEqual([{ is: 'fault', name: 'a' }])
  expect(shown(control.state())).toEqual(['b api'])
  clock.jumpMs(1_500) // busy: no timer has run
  expect(control.patch('b', { for: '1h' })).toMatchObject({ status: 404 })
  expect(changes.at(-1)?.releases).toEqual([{ is: 'fault', name: 'b' }])
  control.add(written('c', { for: '1s' }))
  control.close()
  const before = changes.length
  clock.passMs(5_000)
  expect(changes).toHaveLength(before)
})
test('after any changes: names once, nothing past its end in force, the file never lost [faults.control] [faults.ends]', () => {
  const name = fc.constantFrom('a', 'b', 'c')
  const more = fc.record({ for: fc.constantFrom('1ms', '5ms', '1h') }, { requiredKeys: [] })
  const operation = fc.oneof(
    fc.record({ is: fc.constant('add' as const), name, more }),
    fc.record({ is: fc.constant('patch' as const), name, more }),
    fc.record({ is: fc.constant('remove' as const), name }),
    fc.record({ is: fc.constant('reload' as const), names: fc.uniqueArray(name) }),
    fc.record({ is: fc.constantFrom('stop' as const, 'resume' as const) }),
  )
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 30 }), (operations) => {
      let state = initialControl(file(rule('a')), at(0))
      operations.forEach((what, nowMs) => {
        state = expire(state, nowMs).state
        const result =
          what.is === 'add'
            ? addFault(state, written(what.name, what.more), at(nowMs))
            : what.is === 'patch'
              ? patchFault(state, what.name, what.more, at(nowMs))
              : what.is === 'remove'
                ? removeFault(state, what.name)
                : what.is === 'reload'
                  ? reloadFile(state, file(...what.names.map((one) => rule(one))), at(nowMs))
                  : what.is === 'stop'
                    ? stop(state)
                    : resume(state)
        if (!isRefusal(result)) {
          if (what.is === 'remove') {
            expect(shown(result.state).some((line) => line.startsWith(`${what.name} `))).toBe(false)
            expect(result.releases).toEqual([{ is: 'fault', name: what.name }])
          }
          if (what.is === 'reload' || what.is === 'add') expect(result.releases).toEqual([])
          state = result.state
        }
        const names = faultsInForce(state).map(({ rule: one }) => one.name)
        expect(new Set(names).size).toBe(names.length)
        expect(faultsInForce(state).every(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs)).toBe(true)
        if (state.isStopped) expect(inForce(state).faults).toEqual([])
      })
    }),
  )
})
test('cut filters: keys are ANDed; nothing named is refused [faults.cut-filter]', () => {
  const record = {
    id: 'c1',
    tool: 'render',
    method: 'tools/call',
    kind: 'call',
    client: 'inspector',
    revision: '2026-07-28',
  } as unknown as CallRecord
  const meant = (asked: object, ageMs = 5_000): boolean => createCutFilter(cutRequestSchema.parse(asked))(record, ageMs)
  for (const asked of [
    { all: true },
    { id: 'c1' },
    { tool: 'ren*' },
    { method: 'tools/*' },
    { kind: 'call' },
    { client: 'inspector' },
    { revision: '2026-07-28' },
    { olderThan: '5s' },
  ])
    expect([asked, meant(asked)]).toEqual([asked, true])
  for (const asked of [
    { id: 'c2' },
    { tool: 'x' },
    { tool: 'render', kind: 'get_sse' },
    { client: 'x', tool: 'render' },
    { olderThan: '6s' },
  ])
    expect([asked, meant(asked)]).toEqual([asked, false])
  expect(createCutFilter({ tool: '*' })({ ...record, tool: null }, 0)).toBe(false)
  expect(cutRequestSchema.safeParse({ ending: 'rst' }).success).toBe(false)
  expect(cutRequestSchema.safeParse({ all: false }).success).toBe(false)
  expect(cutRequestSchema.safeParse({ tools: 'x' }).error?.issues).toHaveLength(1)
})
