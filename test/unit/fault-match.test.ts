/** Which exchanges a rule means, by chance or not; caps, ends, and what is remembered. Numbers only. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAsk } from '../../src/core/mcp/ask.ts'
import type { Request } from '../../src/core/signal.ts'
import { createCaps } from '../../src/faults/caps.ts'
import type { Safety } from '../../src/faults/fault-schema.ts'
import { createGlob } from '../../src/faults/glob.ts'
import { createFaultMemory } from '../../src/faults/memory.ts'
import type { FaultPlanner, PlannerAsked } from '../../src/faults/planner.ts'
import { createFaultPlanner } from '../../src/faults/planner.ts'
import { ruleOf } from '../support/fault-rig.ts'
import { asked, done, request, rig, sse } from '../support/line-rig.ts'

const CUT = { cut: { before: 'result' } }
const planner = (whens: readonly object[], { safety = {}, seed = 7, ...more }: Partial<PlannerAsked> = {}): FaultPlanner =>
  createFaultPlanner({
    rules: whens.map((when, n) => ({ rule: ruleOf(CUT, { name: `f${n}`, when }), expiresAtMs: null })),
    safety,
    seed,
    ...more,
  })

interface Call {
  readonly method?: string
  readonly tool?: string
  readonly args?: unknown
  readonly id?: number
  readonly headers?: readonly string[]
  readonly target?: string
  readonly meta?: unknown
}
const bodyOf = ({ method = 'tools/call', tool = 'search', args = {}, id = 1, meta = { progressToken: id } }: Call): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method,
    params: method === 'tools/call' ? { _meta: meta, name: tool, arguments: args } : { _meta: meta },
  })
const headOf = ({ headers = [], target = '/mcp' }: Call, method = 'POST'): Request => ({
  is: 'request',
  method,
  target,
  rawHeaders: headers,
})

/** The names of the rules that fired on it. */
function fatesOf(plans: FaultPlanner, call: Call, { connection = 1, atMs = 0 } = {}): string[] {
  const bodyText = bodyOf(call)
  const head = headOf(call)
  const decisions = plans.decide(readAsk(head, bodyText), head, connection, atMs, { bodyText })
  return decisions.filter(({ decision }) => decision === 'fired').map(({ name }) => name)
}
const modern = (method: string, name?: string): string[] => [
  'MCP-Protocol-Version',
  '2026-07-28',
  'Mcp-Method',
  method,
  ...(name === undefined ? [] : ['Mcp-Name', name]),
]

test('when: each key alone, and all of them together [faults.matching]', () => {
  const call: Call = {
    tool: 'search_web',
    target: '/mcp?x=1',
    headers: ['X-Tenant', 'staging', 'MCP-Protocol-Version', '2025-11-25', 'User-Agent', 'inspector/1.0'],
  }
  const right = {
    method: 'tools/call',
    tool: 'search_*',
    headers: { 'x-tenant': 'stag*' },
    path: '/mcp',
    revision: '2025-11-25',
    kind: 'call',
    client: 'inspector',
    connection: 2,
  }
  const wrong = {
    method: 'tools/list',
    tool: 'find_*',
    headers: { 'x-tenant': 'prod' },
    path: '/sse',
    revision: '2026-07-28',
    kind: 'get_sse',
    client: 'other',
    connection: 3,
  }
  expect(fatesOf(planner([right]), call, { connection: 2 })).toEqual(['f0'])
  expect(fatesOf(planner([{}]), call)).toEqual(['f0'])
  for (const key of Object.keys(right) as (keyof typeof right)[]) {
    expect([key, fatesOf(planner([{ [key]: right[key] }]), call, { connection: 2 })]).toEqual([key, ['f0']])
    expect([key, fatesOf(planner([{ ...right, [key]: wrong[key] }]), call, { connection: 2 })]).toEqual([key, []])
  }
})
test('when: headers that are not there, batches, requests that are no MCP [faults.matching]', () => {
  expect(fatesOf(planner([{ headers: { 'x-none': '*' } }]), {})).toEqual([])
  const batch = JSON.stringify([
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'b' } },
  ])
  const decide = (when: object, bodyText: string | null, head: Request) =>
    planner([when])
      .decide(readAsk(head, bodyText), head, 1, 0, { bodyText })
      .map(({ decision }) => decision)
  expect(decide({ method: 'tools/call', tool: 'b' }, batch, headOf({}))).toEqual(['fired'])
  expect(decide({ method: 'ping', tool: 'b' }, batch, headOf({}))).toEqual([])
  const get: Request = { is: 'request', method: 'GET', target: '/mcp', rawHeaders: ['Accept', 'text/event-stream'] }
  expect(decide({ kind: 'get_sse' }, null, get)).toEqual(['fired'])
  expect(decide({ method: 'tools/call' }, null, get)).toEqual([])
  expect(decide({}, 'not json', headOf({}))).toEqual(['fired'])
})
test('nth counts matches, before the probability; both faults of one exchange come in list order [faults.matching]', () => {
  const plans = planner([{ tool: 'a', nth: [2, 4] }, { nth: 3 }])
  const seen = ['a', 'b', 'a', 'a', 'a'].map((tool) => fatesOf(plans, { tool }))
  expect(seen).toEqual([[], [], ['f0', 'f1'], [], ['f0']])
})
test('globs: * and ?, nothing else is special, and no pattern is slow [faults.matching]', () => {
  expect([
    createGlob('search_*')('search_'),
    createGlob('s?')('so'),
    createGlob('s?')('s'),
    createGlob('a.c')('abc'),
    createGlob('*')(''),
  ]).toEqual([true, true, false, false, true])
  expect(createGlob('a*b*c')('a-bb-c-b-c')).toBe(true)
  expect(createGlob(`${'a*'.repeat(500)}b`)('a'.repeat(5_000))).toBe(false)
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'b', '*', '?', '.'), { maxLength: 8 }),
      fc.array(fc.constantFrom('a', 'b', '.'), { maxLength: 8 }),
      (pattern, text) => {
        const regexp = new RegExp(`^${pattern.map((char) => (char === '*' ? '.*' : char === '?' ? '.' : `[${char}]`)).join('')}$`, 's')
        return createGlob(pattern.join(''))(text.join('')) === regexp.test(text.join(''))
      },
    ),
  )
})

const calls = fc.array(
  fc.record({ tool: fc.constantFrom('a', 'b'), args: fc.constantFrom({}, { q: 1 }, { q: 2, r: [1] }), id: fc.nat(99) }),
  { maxLength: 40 },
)

test('the same calls meet the same fates, in any order, whatever other faults there are [faults.chance]', () => {
  fc.assert(
    fc.property(
      calls,
      fc.integer(),
      fc.double({ min: 0.1, max: 0.9, noNaN: true }),
      fc.infiniteStream(fc.nat()),
      (list, seed, probability, order) => {
        const shuffled = list
          .map((call) => ({ call, key: order.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ call }) => call)
        const tally = (input: readonly Call[], whens: readonly object[]): string[] => {
          const plans = planner(whens, { seed })
          return input.map((call) => `${call.tool} ${JSON.stringify(call.args)} ${fatesOf(plans, call).includes('f0')}`).sort()
        }
        const first = tally(list, [{ probability }])
        expect(tally(shuffled, [{ probability }])).toEqual(first)
        expect(tally(shuffled, [{ probability }, { probability: 0.5 }, { tool: 'a' }])).toEqual(first)
      },
    ),
  )
})
test('chance: ids, tokens and the order of keys do not matter; seed, name and parameters do; the share is right [faults.chance]', () => {
  const run = (seed: number, made: (n: number) => Call): boolean[] => {
    const plans = planner([{ probability: 0.25 }], { seed })
    return Array.from({ length: 4_000 }, (_, n) => fatesOf(plans, made(n)).length > 0)
  }
  const fates = run(7, () => ({ args: { a: 1, b: 2 } }))
  expect(run(7, (n) => ({ id: n, meta: { traceparent: String(n) }, args: { b: 2, a: 1 } }))).toEqual(fates)
  expect(run(8, () => ({ args: { a: 1, b: 2 } }))).not.toEqual(fates)
  expect(run(7, () => ({ args: { a: 1, b: 3 } }))).not.toEqual(fates)
  const share = fates.filter(Boolean).length / fates.length
  expect(share).toBeGreaterThan(0.22)
  expect(share).toBeLessThan(0.28)
  const distinct = run(7, (n) => ({ args: { n } })).filter(Boolean).length / 4_000
  expect(distinct).toBeGreaterThan(0.22)
  expect(distinct).toBeLessThan(0.28)
})
test("a seat's jitter belongs to the call, not to when it came [faults.chance]", () => {
  const dueOf = (before: readonly Call[], call: Call): string | undefined => {
    const rule = ruleOf({ latency: { delay: '1s', jitter: '500ms' } })
    const plans = createFaultPlanner({ rules: [{ rule, expiresAtMs: null }], safety: {}, seed: 3 })
    for (const other of before) fatesOf(plans, other)
    const bodyText = bodyOf(call)
    const [made] = plans.decide(readAsk(headOf(call), bodyText), headOf(call), 1, 0, { bodyText })
    return made?.plan == null ? undefined : rig([made.plan]).ask().server(0, sse).until(2_000).toClient()[0]
  }
  const due = dueOf([], { tool: 'a' })
  expect(due).toMatch(/^\+\d+(\.\d+)? head 200$/)
  expect(dueOf([{ tool: 'b' }, { tool: 'c' }], { tool: 'a' })).toBe(due)
  expect(dueOf([{ tool: 'a' }], { tool: 'a' })).not.toBe(due)
})
test('at probability 0, disabled or expired nothing whatever changes [faults.probability-0] [faults.expiry]', () => {
  const memory = createFaultMemory()
  const rule = (more: object) => ({ rule: ruleOf(CUT, more), expiresAtMs: null })
  const plans = createFaultPlanner({
    rules: [
      rule({ name: 'zero', when: { probability: 0 } }),
      rule({ name: 'off', enabled: false }),
      { rule: ruleOf({ refuse: {} }, { name: 'r', when: { probability: 0 } }), expiresAtMs: null },
    ],
    safety: {},
    seed: 1,
    memory,
  })
  for (let n = 0; n < 100; n += 1) {
    expect(plans.needsBody(headOf({}))).toBe(false)
    expect(plans.decide(readAsk(headOf({}), null), headOf({}), n, n)).toEqual([])
    expect(plans.decideAccept(n, n)).toBeNull()
  }
  expect(memory.tally('zero')).toEqual({ matched: 0, fired: 0, skipped: 0, exempt: 0, capped: 0 })
  const ending = createFaultPlanner({ rules: [{ rule: ruleOf(CUT), expiresAtMs: 1_000 }], safety: {}, seed: 1 })
  expect([999, 1_000, 1_001].map((atMs) => fatesOf(ending, {}, { atMs }).length)).toEqual([1, 0, 0])
})
test('exempt methods are left alone, and that is said [faults.exempt]', () => {
  const safety: Safety = { exempt: { methods: ['initialize', 'notifications/*'] } }
  const decided = (when: object, body: object) => {
    const bodyText = JSON.stringify({ jsonrpc: '2.0', ...body })
    return planner([when], { safety })
      .decide(readAsk(headOf({}), bodyText), headOf({}), 1, 0, { bodyText })
      .map(({ decision, plan }) => [decision, plan === null])
  }
  expect(decided({}, { id: 1, method: 'initialize' })).toEqual([['exempt', true]])
  expect(decided({}, { method: 'notifications/cancelled' })).toEqual([['exempt', true]])
  expect(decided({ tool: 'x' }, { id: 1, method: 'initialize' })).toEqual([])
  expect(decided({}, { id: 1, method: 'tools/list' })).toEqual([['fired', false]])
})
test('affectedMax: a share of the open exchanges, one always; cuts a minute slide [faults.caps]', () => {
  const caps = createCaps()
  const safety: Safety = { affectedMax: '50%', cutsPerMinuteMax: 2 }
  const plans = planner([{}], { safety })
  const open = Array.from({ length: 4 }, () => caps.open(safety))
  const decisions = open.map((exchange) => plans.decide(readAsk(headOf({}), null), headOf({}), 1, 0, { caps: exchange })[0]?.decision)
  expect(decisions).toEqual(['fired', 'fired', 'capped', 'capped'])
  open[0]?.close()
  open[0]?.close()
  expect([caps.affectedOpen(), open[2]?.affect()]).toEqual([1, false]) // 3 open: one may be affected
  open[3]?.close()
  open[1]?.close()
  expect(open[2]?.affect()).toBe(true) // one always
  const alone = createCaps().open({ affectedMax: '0%' })
  expect(alone.affect()).toBe(true)
  const cutting = createCaps().open({ cutsPerMinuteMax: 2 })
  expect([0, 30_000, 59_999, 60_000, 60_001, 90_000, 90_001].map(cutting.mayCut)).toEqual([true, true, false, true, false, true, false])
  expect(createCaps().open({}).mayCut(0)).toBe(true)
})
test('a cap comes after the draw: the fates of later calls stay the same [faults.caps] [faults.chance]', () => {
  const run = (isCapped: boolean): string[] => {
    const plans = planner([{ probability: 0.5 }], { seed: 5 })
    return Array.from({ length: 50 }, (_, n) => {
      const bodyText = bodyOf({ args: { n } })
      const caps = { affect: () => !isCapped || n >= 25, mayCut: () => true, close: () => undefined }
      return plans.decide(readAsk(headOf({}), bodyText), headOf({}), 1, 0, { bodyText, caps })[0]?.decision ?? 'none'
    })
  }
  const free = run(false)
  expect(run(true)).toEqual(free.map((fate, n) => (n < 25 && fate === 'fired' ? 'capped' : fate)))
})
test('a body is needed only where a rule depends on it [faults.needs-body]', () => {
  const needs = (when: object, call: Call & { http?: string }, safety: Safety = {}) =>
    planner([when], { safety }).needsBody(headOf(call, call.http))
  expect(needs({}, {})).toBe(false)
  expect(needs({ tool: 'a' }, {})).toBe(true)
  expect(needs({ method: 'tools/call' }, {})).toBe(true)
  expect(needs({ kind: 'call' }, {})).toBe(true)
  expect(needs({ tool: 'a' }, { headers: modern('tools/call', 'a') })).toBe(false)
  expect(needs({ tool: 'a' }, { headers: modern('tools/call') })).toBe(true)
  expect(needs({ probability: 0.5 }, { headers: modern('tools/call', 'a') })).toBe(true)
  expect(needs({ client: 'x' }, { headers: modern('tools/call', 'a') })).toBe(true)
  expect(needs({ revision: '2026-07-28' }, { headers: modern('ping') })).toBe(false)
  expect(needs({ tool: 'a', path: '/other' }, {})).toBe(false)
  expect(needs({ tool: 'a', headers: { 'x-a': '1' } }, {})).toBe(false)
  expect(needs({ tool: 'a' }, { http: 'GET' })).toBe(false)
  expect(needs({}, {}, { exempt: { methods: ['initialize'] } })).toBe(true)
  expect(needs({}, { headers: modern('ping') }, { exempt: { methods: ['initialize'] } })).toBe(false)
  expect(needs({ tool: 'a' }, { headers: ['Content-Length', '1048577'] })).toBe(false)
  expect(needs({ tool: 'a' }, { headers: ['Content-Encoding', 'gzip'] })).toBe(false)
})
test('what cannot be read does not match, and that is said; what needs no body matches all the same [faults.needs-body]', () => {
  const head = headOf({ headers: ['Content-Length', '1048577'] })
  const decisions = planner([{ tool: 'a' }, {}, { probability: 0.999999 }, { path: '/other', tool: 'a' }]).decide(
    readAsk(head, null),
    head,
    1,
    0,
  )
  expect(decisions.map(({ name, decision }) => [name, decision])).toEqual([
    ['f0', 'skipped'],
    ['f1', 'fired'],
    ['f2', 'skipped'],
  ])
})
test('refuse and stall: accept, by connection and chance; the veto on cuts holds for refuse [faults.connection-level]', () => {
  const plans = createFaultPlanner({
    rules: [
      { rule: ruleOf({ refuse: { ending: 'fin' } }, { name: 'second', when: { connection: 2 } }), expiresAtMs: null },
      { rule: ruleOf({ stall: { from: 'accept', for: '1s' } }, { name: 'some', when: { probability: 0.5 } }), expiresAtMs: 5_000 },
    ],
    safety: {},
    seed: 1,
  })
  expect(plans.decideAccept(2, 0)).toEqual({ name: 'second', what: { is: 'refuse', ending: 'fin' } })
  expect(plans.decideAccept(2, 9_999, () => false)).toBeNull()
  const stalled = Array.from({ length: 200 }, (_, n) => plans.decideAccept(n + 10, 0)?.what)
  expect(stalled.filter((what) => what?.is === 'stall' && what.forMs === 1_000).length).toBeGreaterThan(70)
  expect(stalled.filter((what) => what === undefined).length).toBeGreaterThan(70)
  expect(plans.decideAccept(10, 5_000)).toBeNull()
  expect(plans.needsBody(headOf({}))).toBe(false)
  expect(plans.decide(readAsk(headOf({}), null), headOf({}), 2, 0)).toEqual([])
})
test('stall: next-request takes the next request on the same connection, whatever it is [faults.stall]', () => {
  const rules = [{ rule: ruleOf({ stall: { from: 'next-request' } }, { when: { tool: 'a', nth: 1 } }), expiresAtMs: null }]
  const plans = createFaultPlanner({ rules, safety: {}, seed: 1 })
  expect([
    fatesOf(plans, { tool: 'a' }),
    fatesOf(plans, { tool: 'b' }, { connection: 2 }),
    fatesOf(plans, { method: 'ping' }),
    fatesOf(plans, { method: 'ping' }),
  ]).toEqual([[], [], ['f'], []])
})
test('announce: a header where a head is still to be sent, unless the fault cannot act [faults.announce]', () => {
  const headersSeen = (form: object, head = sse): unknown => {
    const plans = createFaultPlanner({
      rules: [{ rule: ruleOf(form, { announce: true, name: 'cut-it' }), expiresAtMs: null }],
      safety: {},
      seed: 1,
    })
    const [made] = plans.decide(readAsk(headOf({}), null), headOf({}), 1, 0)
    if (made?.plan == null) throw new Error('it did not fire')
    const r = rig([made.plan]).client(0, request, asked).server(1, head, done)
    const sent = r.effects.find((effect) => effect.do === 'toClient' && effect.signal.is === 'head')
    return sent?.do === 'toClient' && sent.signal.is === 'head' ? sent.signal.rawHeaders.slice(-2) : null
  }
  const header = ['x-impatient-fault', 'cut-it']
  expect(headersSeen({ cut: { after: { time: '1s' } } })).toEqual(header)
  expect(headersSeen({ drop: { what: 'progress' } })).toEqual(header)
  expect(headersSeen({ 'hide-disconnect': {} })).toEqual(header)
  expect(headersSeen({ 'max-duration': { after: '1s' } })).toEqual(header)
  expect(headersSeen({ respond: { status: 503 } })).toEqual(header)
  expect(headersSeen({ drop: { what: 'progress' } }, { ...sse, rawHeaders: ['Content-Type', 'application/json'] })).toEqual([
    'Content-Type',
    'application/json',
  ])
})
test('it acted: said once an exchange; a rule that never matched is seen [faults.fired-once]', () => {
  const memory = createFaultMemory()
  const rules = [
    { rule: ruleOf({ drop: { what: 'event' } }, { name: 'drops' }), expiresAtMs: null },
    { rule: ruleOf({ drop: { what: 'event' } }, { name: 'never', when: { tool: 'none' } }), expiresAtMs: null },
  ]
  const plans = createFaultPlanner({ rules, safety: {}, seed: 1, memory })
  const [made] = plans.decide(readAsk(headOf({}), bodyOf({})), headOf({}), 1, 0, { bodyText: bodyOf({}) })
  if (made?.plan == null) throw new Error('it did not match')
  expect(memory.tally('drops')).toMatchObject({ matched: 1, fired: 0 })
  const r = rig([made.plan]).ask().server(1, sse)
  expect(r.notes).toEqual([])
  r.server(
    2,
    ...['a', 'b'].map(
      (word) =>
        ({
          is: 'piece',
          bytes: Buffer.from(`data: ${word}\n\n`),
          mark: { earlier: null, bytes: Buffer.from(`data: ${word}\n\n`), isTooLong: false },
        }) as const,
    ),
  )
  expect(r.notes).toEqual(['+2 drops decided fired', '+2 drops dropped event', '+2 drops dropped event'])
  expect([memory.tally('drops'), memory.tally('never')]).toMatchObject([
    { matched: 1, fired: 1 },
    { matched: 0, fired: 0 },
  ])
  memory.forget('drops')
  expect(memory.tally('drops').matched).toBe(0)
})
test('memory is bounded: of very many different calls the oldest are told apart no more [faults.bounded]', () => {
  const memory = createFaultMemory()
  for (let n = 0; n < 10_001; n += 1) memory.countCall('f', `call ${n}`)
  expect([memory.countCall('f', 'call 0'), memory.countCall('f', 'call 10000')]).toEqual([0, 1])
})
