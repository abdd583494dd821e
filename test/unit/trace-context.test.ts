/** Trace context: parsed strictly, handed on sampled, spliced into `_meta` without touching another byte. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { childTraceparent, parseTraceparent, spliceMeta } from '../../src/core/trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const OURS = `00-${TRACE}-b7ad6b7169203331-01`
const splice = (text: string): string | null => {
  const out = spliceMeta(Buffer.from(text), OURS)
  return out === null ? null : Buffer.from(out).toString()
}

describe('parseTraceparent', () => {
  test('reads trace, span and flags', () => {
    expect(parseTraceparent(`00-${TRACE}-${PARENT}-01`)).toEqual({ traceId: TRACE, spanId: PARENT, flags: 1 })
    expect(parseTraceparent(` 00-${TRACE}-${PARENT}-00 `)?.flags).toBe(0)
    expect(parseTraceparent(`cc-${TRACE}-${PARENT}-01-what-the-future-will-be`)?.traceId).toBe(TRACE)
  })
  test.each([
    ['upper case', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
    ['version ff', `ff-${TRACE}-${PARENT}-01`],
    ['more in version 00', `00-${TRACE}-${PARENT}-01-more`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a short span', `00-${TRACE}-${PARENT.slice(1)}-01`],
    ['two joined', `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`],
    ['nothing', ''],
  ])('refuses %s', (_what, text) => {
    expect(parseTraceparent(text)).toBeNull()
  })
})

describe('childTraceparent', () => {
  test('keeps the trace, changes the span, samples [work.trace-kept]', () => {
    const child = childTraceparent({ traceId: TRACE, spanId: PARENT, flags: 0 }, () => 'b7ad6b7169203331')
    expect(child).toEqual({ traceId: TRACE, spanId: 'b7ad6b7169203331', header: OURS })
  })
  test('begins a trace where none came in; never all zeros', () => {
    const child = childTraceparent(null, (bytes) => '00'.repeat(bytes))
    expect(parseTraceparent(child.header)).toEqual({ traceId: child.traceId, spanId: child.spanId, flags: 1 })
  })
})

describe('spliceMeta', () => {
  const tp = `"traceparent":"${OURS}"`
  test.each([
    ['an empty _meta', '{"id":1,"method":"m","params":{"_meta":{}}}', `{"id":1,"method":"m","params":{"_meta":{${tp}}}}`],
    ['a full _meta', '{"id":1,"method":"m","params":{"_meta":{"a":1}}}', `{"id":1,"method":"m","params":{"_meta":{${tp},"a":1}}}`],
    [
      'no _meta',
      '{"id":1,"method":"m","params":{"n":9007199254740993}}',
      `{"id":1,"method":"m","params":{"_meta":{${tp}},"n":9007199254740993}}`,
    ],
    ['no params', '{"id":1,"method":"m"}', `{"params":{"_meta":{${tp}}},"id":1,"method":"m"}`],
    [
      'one already there, with tracestate and odd spacing',
      ' { "id" : "x" ,\n"method":"m","params": {"_meta" :{ "traceparent"\t: "old" , "tracestate":"k=v"} } } ',
      ` { "id" : "x" ,\n"method":"m","params": {"_meta" :{ "traceparent"\t: "${OURS}" , "tracestate":"k=v"} } } `,
    ],
    [
      'a traceparent of the wrong type',
      '{"id":1,"method":"m","params":{"_meta":{"traceparent":[1,{}]}}}',
      `{"id":1,"method":"m","params":{"_meta":{${tp}}}}`,
    ],
    [
      'keys that come twice: the last counts',
      '{"id":1,"method":"m","params":{"_meta":{}},"params":{"a":1,"a":2}}',
      `{"id":1,"method":"m","params":{"_meta":{}},"params":{"_meta":{${tp}},"a":1,"a":2}}`,
    ],
    [
      'escaped keys',
      '{"id":1,"method":"m","par\\u0061ms":{"\\u005fmeta":{}}}',
      `{"id":1,"method":"m","par\\u0061ms":{"\\u005fmeta":{${tp}}}}`,
    ],
    [
      'strings that look like structure',
      '{"id":1,"method":"m","params":{"x":"}],\\"_meta\\":{","y":[[{"_meta":{}}]],"_meta":{}}}',
      `{"id":1,"method":"m","params":{"x":"}],\\"_meta\\":{","y":[[{"_meta":{}}]],"_meta":{${tp}}}}`,
    ],
    [
      'a batch: requests only',
      '[{"id":1,"method":"a","params":{}}, {"method":"n","params":{}},{"id":2,"result":{}},7,{"id":3,"method":"b","params":{"_meta":{}}}]',
      `[{"id":1,"method":"a","params":{"_meta":{${tp}}}}, {"method":"n","params":{}},{"id":2,"result":{}},7,{"id":3,"method":"b","params":{"_meta":{${tp}}}}]`,
    ],
    [
      'a snowman and a lone surrogate',
      '{"id":1,"method":"☃","params":{"s":"\\ud800 ☃"}}',
      `{"id":1,"method":"☃","params":{"_meta":{${tp}},"s":"\\ud800 ☃"}}`,
    ],
  ])('%s', (_what, before, after) => {
    expect(splice(before)).toBe(after)
  })
  test.each([
    ['no JSON', '{"id":1,"method":"m","params":{}'],
    ['nothing', ''],
    ['a number', '7'],
    ['a notification', '{"method":"notifications/initialized","params":{}}'],
    ['an answer', '{"id":1,"result":{"params":{}}}'],
    ['a null id', '{"id":null,"method":"m","params":{}}'],
    ['params by position', '{"id":1,"method":"m","params":[1]}'],
    ['a _meta that is no object', '{"id":1,"method":"m","params":{"_meta":7}}'],
    ['a byte order mark', '\ufeff{"id":1,"method":"m","params":{}}'],
  ])('leaves %s alone', (_what, body) => {
    expect(splice(body)).toBeNull()
  })
  test('leaves broken UTF-8 alone, and never writes what is no traceparent', () => {
    expect(spliceMeta(Buffer.from('{"id":1,"method":"\xff","params":{}}', 'latin1'), OURS)).toBeNull()
    expect(spliceMeta(Buffer.from('{"id":1,"method":"m","params":{}}'), '","x":"')).toBeNull()
  })
  test('nests as deep as it likes', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(splice(`{"id":1,"method":"m","params":{"a":${deep}}}`)).toBe(`{"id":1,"method":"m","params":{"_meta":{${tp}},"a":${deep}}}`)
  })
  test('any request parses to the same with the traceparent set [work.splice-bytewise]', () => {
    const request = fc.record({
      id: fc.oneof(fc.integer(), fc.string()),
      method: fc.string(),
      params: fc.dictionary(fc.string(), fc.jsonValue()),
    })
    fc.assert(
      fc.property(request, fc.constantFrom(undefined, 1, '\t'), (message, indent) => {
        const before = JSON.stringify(message, null, indent)
        const meta = message.params['_meta']
        const isMendable = meta === undefined || (typeof meta === 'object' && meta !== null && !Array.isArray(meta))
        const after = splice(before)
        if (!isMendable) return expect(after).toBeNull()
        const { params, ...rest } = JSON.parse(after ?? 'null')
        const { traceparent, ...metaRest } = params._meta
        expect(traceparent).toBe(OURS)
        expect(rest).toEqual(JSON.parse(JSON.stringify({ id: message.id, method: message.method })))
        const expected = JSON.parse(before).params
        if (expected._meta === undefined) expect(metaRest).toEqual({})
        expect({ ...params, _meta: { ...metaRest, traceparent: null } }).toEqual({
          ...expected,
          _meta: { ...expected._meta, traceparent: null },
        })
      }),
    )
  })
})
