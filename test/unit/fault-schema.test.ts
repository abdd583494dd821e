/** The forms of faults: every one of the list as documented, and what is said of wrong ones. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { compileFault } from '../../src/faults/compile-fault.ts'
import { faultRuleSchema, refusalOf, safetySchema } from '../../src/faults/fault-schema.ts'
import { FAULT_KINDS } from '../../src/faults/index.ts'
import { placeOf, problemsOf } from '../../src/hops/shape.ts'

/** `do:` as the documentation writes it, choices written out, and where it sits by default. */
const VALID: readonly (readonly [at: 'client' | 'server', form: object])[] = [
  ['client', { 'idle-timeout': { after: '60s', counts: 'progress', ending: 'clean', upstream: 'none' } }],
  ['client', { 'idle-timeout': { after: '1m30s' } }],
  ['client', { 'max-duration': { after: '5m', ending: 'fin' } }],
  ['client', { 'header-timeout': { after: '30s', answer: { status: 504 } } }],
  ['client', { 'header-timeout': { after: '30s', answer: 'none', ending: 'rst' } }],
  ['server', { buffer: { mode: 'full' } }],
  ['server', { buffer: { mode: 'bytes', size: '4KiB', holdHeaders: true } }],
  ['server', { buffer: { mode: 'bytes', size: 100 } }],
  ['server', { buffer: { mode: 'time', every: '2s' } }],
  ['server', { buffer: { mode: 'one-behind' } }],
  ['server', { buffer: { mode: 'gzip' } }],
  ['client', { cut: { after: { time: '2s' }, ending: 'rst' } }],
  ['client', { cut: { after: { bytes: 100 } } }],
  ['client', { cut: { after: { events: 3 }, ending: 'rst' } }],
  ['client', { cut: { before: 'result', ending: 'fin' } }],
  ['client', { cut: { before: 'request' } }],
  ['client', { cut: { inside: 'event', nth: 2, ending: 'fin' } }],
  ['client', { cut: { inside: 'character' } }],
  ['client', { stall: { from: 'accept' } }],
  ['client', { stall: { from: 'headers', for: '30s' } }],
  ['client', { stall: { from: 'body' } }],
  ['client', { stall: { from: 'next-request' } }],
  ['client', { 'half-open': { for: '30s' } }],
  ['client', { 'half-open': {} }],
  ['server', { latency: { delay: '200ms', jitter: '50ms', distribution: 'pareto', on: 'result' } }],
  ['server', { latency: { delay: '200ms' } }],
  ['server', { bandwidth: { bytesPerSecond: 1000, on: 'request' } }],
  ['server', { slice: { size: 1, every: '5ms' } }],
  ['server', { respond: { status: 503, headers: { 'Retry-After': '7' }, body: 'html' } }],
  ['server', { respond: { status: 429, headers: { 'Retry-After': 7 }, body: 'slow down' } }],
  ['server', { respond: { status: 204 } }],
  ['server', { drop: { what: 'progress', nth: 2 } }],
  ['server', { drop: { what: 'comments' } }],
  ['server', { duplicate: { what: 'event', nth: 1 } }],
  ['server', { delay: { what: 'result', by: '5s' } }],
  ['server', { malform: { what: 'json', nth: 1 } }],
  ['server', { malform: { what: 'field' } }],
  ['server', { headers: { request: { set: { Host: 'evil.example' }, remove: ['accept'] }, response: { set: {}, remove: [] } } }],
  ['server', { 'hide-disconnect': {} }],
  ['client', { refuse: { ending: 'rst' } }],
  ['client', { refuse: {} }],
]

test.each(VALID)('takes, at the %s: %j [faults.schemas]', (at, form) => {
  const rule = faultRuleSchema.parse({ name: 'x', do: form })
  expect(rule.do).toEqual(form) // as written: what is shown is what was asked
  expect(compileFault({ rule, expiresAtMs: null })).toMatchObject({ name: 'x', at, isEnabled: true })
})
test('every kind of the list is among them, and has a docs line [faults.schemas]', () => {
  const shown = new Set(VALID.flatMap(([, form]) => Object.keys(form)))
  expect(FAULT_KINDS.map(({ key }) => key).filter((key) => !shown.has(key))).toEqual([])
  expect(FAULT_KINDS).toHaveLength(18)
  expect(FAULT_KINDS.filter(({ docs }) => docs.length < 20 || docs.includes('\n'))).toEqual([])
})

const complaints = (schema: z.ZodType, input: unknown): string[] => {
  const read = schema.safeParse(input)
  return read.success ? [] : problemsOf(read.error.issues).map(({ path, message }) => `${placeOf(path)}: ${message}`)
}
const ofDo = (form: unknown): string[] => complaints(faultRuleSchema, { name: 'x', do: form })

const WRONG: readonly (readonly [form: unknown, complaint: RegExp])[] = [
  [{ 'idle-timeout': { after: 60 } }, /^do\.idle-timeout\.after: expected a duration such as "30s".*got 60.*"60s"/],
  [{ 'idle-timeout': { after: '60' } }, /^do\.idle-timeout\.after: expected a duration/],
  [{ 'idle-timeout': {} }, /^do\.idle-timeout\.after: expected a duration.*got nothing/],
  [{ 'idle-timeout': { after: '1s', ending: 'reset' } }, /^do\.idle-timeout\.ending: expected fin, rst, clean, got "reset"/],
  [{ 'idle-timeout': { after: '1s', count: 'bytes' } }, /^do\.idle-timeout\.count: unknown key "count"; did you mean "counts"/],
  [{ cutt: {} }, /^do\.cutt: unknown key "cutt"; did you mean "cut"/],
  [{}, /^do: expected one of idle-timeout, .*refuse; got none/],
  [{ cut: { before: 'result' }, slice: { size: 1 } }, /^do: expected one of .*; got cut and slice/],
  [{ cut: {} }, /^do\.cut: expected one of after, before, inside/],
  [{ cut: { after: { time: '1s', bytes: 1 } } }, /^do\.cut\.after: expected one of time, bytes, events/],
  [{ cut: { after: { bytes: 0 } } }, /^do\.cut\.after\.bytes: expected 1 byte or more/],
  [{ cut: { after: { events: 0 } } }, /^do\.cut\.after\.events: expected a number of events from 1, got 0/],
  [{ cut: { before: 'result', nth: 2 } }, /^do\.cut\.nth: nth belongs to inside/],
  [{ buffer: { mode: 'full', size: '4KiB' } }, /^do\.buffer\.size: size belongs to mode bytes, not full/],
  [{ buffer: { mode: 'bytes', every: '1s' } }, /^do\.buffer\.every: every belongs to mode time/],
  [{ slice: { size: '0B' } }, /^do\.slice\.size: expected a size of 1 byte or more/],
  [{ slice: { size: 'big' } }, /^do\.slice\.size: expected a size such as/],
  [{ bandwidth: { bytesPerSecond: 0.5 } }, /^do\.bandwidth\.bytesPerSecond: expected a number of bytes from 1, got 0\.5/],
  [{ respond: { status: 99 } }, /^do\.respond\.status: expected a status from 200 to 599, got 99/],
  [{ respond: { status: 204, body: 'x' } }, /^do\.respond\.body: this status has no body/],
  [
    { respond: { status: 503, headers: { 'Content-Length': 3 } } },
    /^do\.respond\.headers\.Content-Length: the header "Content-Length" frames/,
  ],
  [{ respond: { status: 503, headers: { a: 'x\r\nb: y' } } }, /^do\.respond\.headers\.a: a header's value is one line/],
  [{ headers: { request: { set: { 'bad name': 'x' } } } }, /^do\.headers\.request\.set\.bad name: expected a header name/],
  [
    { headers: { response: { remove: ['Transfer-Encoding'] } } },
    /^do\.headers\.response\.remove\[0\]: the header "Transfer-Encoding" frames/,
  ],
  [{ headers: {} }, /^do\.headers: expected request, response, or both/],
  [{ stall: { from: 'start' } }, /^do\.stall\.from: expected accept, headers, body, next-request, got "start"/],
  [{ drop: { what: 'progress', nth: 0 } }, /^do\.drop\.nth: expected a number such as 2 from 1, got 0/],
]
test.each(WRONG)('refuses %j [faults.schemas]', (form, complaint) => {
  const said = ofDo(form)
  expect(said).toHaveLength(1)
  expect(said[0]).toMatch(complaint)
})

test.each([
  [{ do: { cut: { before: 'result' } } }, /^name: expected a name, got nothing/],
  [{ name: 'a b', do: { cut: { before: 'result' } } }, /^name: expected a name of letters/],
  [{ name: 'x', when: { probability: 25 }, do: { cut: { before: 'result' } } }, /^when\.probability: .*from 0 to 1, got 25; 25 % is 0\.25/],
  [{ name: 'x', when: { nth: [0] }, do: { cut: { before: 'result' } } }, /^when\.nth\[0\]: expected a number from 1, got 0/],
  [{ name: 'x', when: { tools: 'a' }, do: { cut: { before: 'result' } } }, /^when\.tools: unknown key "tools"; did you mean "tool"/],
  [{ name: 'x', when: { kind: 'stream' }, do: { cut: { before: 'result' } } }, /^when\.kind: expected call, subscription/],
  [{ name: 'x', until: 'tomorrow', do: { cut: { before: 'result' } } }, /^until: expected a time such as 2026/],
  [{ name: 'x', for: '1m', until: '2026-12-01T18:00:00Z', do: { cut: { before: 'result' } } }, /^until: for and until exclude each other/],
  [{ name: 'x', when: { method: 'tools/call' }, do: { refuse: {} } }, /^when\.method: this fault acts before any request is known/],
  [{ name: 'x', when: { nth: [1], connection: 2 }, do: { stall: { from: 'accept' } } }, /^when\.nth: this fault acts before/],
])('refuses the rule %j [faults.schemas]', (rule, complaint) => {
  const said = complaints(faultRuleSchema, rule)
  expect(said).toHaveLength(1)
  expect(said[0]).toMatch(complaint)
})

test('safety: shares, counts, exemptions; an end may be required [faults.schemas]', () => {
  const safety = { affectedMax: '50%', cutsPerMinuteMax: 20, requireUntil: true, exempt: { methods: ['initialize', 'notifications/*'] } }
  expect(safetySchema.parse(safety)).toEqual(safety)
  expect(complaints(safetySchema, { affectedMax: 0.5 })).toEqual(['affectedMax: expected a share such as "50%", got 0.5'])
  expect(complaints(safetySchema, { affectedMax: '150%' })).toEqual(['affectedMax: expected a share from 0% to 100%, got "150%"'])
  expect(complaints(safetySchema, { cutsPerMinute: 1 })[0]).toMatch(/did you mean "cutsPerMinuteMax"/)
  const endless = faultRuleSchema.parse({ name: 'x', do: { cut: { before: 'result' } } })
  expect(refusalOf(endless, safety)).toMatch(/^for: expected an end/)
  expect(refusalOf({ ...endless, for: '1m' }, safety)).toBeNull()
  expect(refusalOf(endless, {})).toBeNull()
})
test('the schemas can be written as JSON Schema [faults.schemas]', () => {
  const schema = z.toJSONSchema(faultRuleSchema, { io: 'input' }) as unknown as { properties: { do: { properties: object } } }
  expect(Object.keys(schema.properties.do.properties)).toEqual(FAULT_KINDS.map(({ key }) => key))
})
