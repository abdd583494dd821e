/** Reports become facts: refused, late and double ones are counted and kept out. Time is a number. */
import { describe, expect, test } from 'vitest'
import { call, mcpSpan, parentOf, WALL_MS, workRig } from '../support/otlp-spans.ts'

const ended = (more: Record<string, unknown> = {}) => ({ event: 'end', traceparent: parentOf(1), requestId: 7, ...more })

describe('refused', () => {
  test('a start 251 ms before the opening is refused, one 250 ms before is not [work.refused]', () => {
    const r = workRig()
    r.register(call('c1', { openedAtMs: 1_000 }))
    r.at(2_000)
    r.spans(mcpSpan({ id: 2, startMs: 749, endMs: 1_500 }), mcpSpan({ id: 3, startMs: 750, endMs: 1_500 }))
    expect(r.counted).toEqual(['otlp refused', 'otlp matched'])
    expect(r.told).toEqual(['c1#7 otlp start 750', 'c1#7 otlp end 1500 ok'])
  })
  test('an end before the call began, an end over 5 s ahead, an end before its start', () => {
    const r = workRig()
    r.register(call('c1', { openedAtMs: 1_000 }))
    r.at(2_000)
    for (const at of [749, 7_001]) r.probe(ended({ at: WALL_MS + at }))
    r.spans(mcpSpan({ id: 2, startMs: 1_500, endMs: 1_400 }), mcpSpan({ id: 3, startMs: 1_100, endMs: 7_001 }))
    expect(r.counted).toEqual(['probe refused', 'probe refused', 'otlp refused', 'otlp refused'])
    expect(r.told).toEqual([])
    r.probe(ended({ at: WALL_MS + 7_000 }))
    expect(r.told).toEqual(['c1#7 probe end 7000 ok'])
  })
})

describe('what became of it', () => {
  test('the journal’s word is what is counted; a start it does not take is followed by no end', () => {
    const r = workRig({ answers: (event) => (event === 'start' ? 'expired' : 'matched') })
    r.register(call('c1'))
    r.spans(mcpSpan({ id: 2 }))
    r.probe(ended())
    expect(r.counted).toEqual(['otlp expired', 'probe matched'])
    expect(r.told).toEqual(['c1#7 otlp start 0', 'c1#7 probe end 0 ok'])
  })
  test('an open call is preferred to a settled one of the same span and id', () => {
    const r = workRig()
    r.register(call('old'))
    r.forget('old')
    r.register(call('new'))
    r.probe(ended())
    expect(r.told).toEqual(['new#7 probe end 0 ok'])
  })
  test('an exporter that sends again is a duplicate', () => {
    const r = workRig()
    r.register(call('c1'))
    r.spans(mcpSpan({ id: 2 }), mcpSpan({ id: 2 }))
    expect(r.counted).toEqual(['otlp matched', 'otlp duplicate'])
    expect(r.told).toHaveLength(2)
  })
  test('a call known by its headers first, its id later, is one call', () => {
    const r = workRig()
    r.register(call('c1', { requestId: '' }), call('c1'))
    r.spans(mcpSpan({ id: 2 }))
    expect(r.counted).toEqual(['otlp matched'])
  })
})

describe('what is told', () => {
  test('probe: start, abort, end; `at` is wall time, absent is now', () => {
    const r = workRig()
    r.register(call('c1'))
    r.at(500)
    expect(r.probe({ event: 'start', traceparent: parentOf(1), requestId: 7, at: WALL_MS + 100 })).toBe(202)
    expect(r.probe({ event: 'abort', traceparent: parentOf(1), requestId: 7 })).toBe(202)
    expect(r.told).toEqual(['c1#7 probe start 100', 'c1#7 probe abort 500 aborted'])
  })
  test('spans: error status, error.type, cancelled', () => {
    const r = workRig()
    r.register(call('a'))
    r.spans(mcpSpan({ id: 2, isError: true }), mcpSpan({ id: 3, attributes: { 'error.type': 'tool_error' } }))
    r.spans(mcpSpan({ id: 4, attributes: { 'error.type': 'CancelledError' } }))
    expect(r.told.filter((line) => !line.includes('start'))).toEqual([
      'a#7 otlp end 1000 error',
      'a#7 otlp end 1000 error',
      'a#7 otlp abort 1000 aborted',
    ])
  })
  test.each([
    ['no object', 7, 'expected a JSON object with "event" and "traceparent"'],
    ['null', null, 'expected a JSON object with "event" and "traceparent"'],
    ['another event', ended({ event: 'begin' }), 'event: expected "start", "end" or "abort", got "begin"'],
    [
      'no traceparent',
      { event: 'end' },
      'traceparent: expected a W3C traceparent such as "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", got nothing',
    ],
    ['a bad traceparent', ended({ traceparent: '00-x' }), 'got "00-x"'],
    ['a time of text', ended({ at: '12:00' }), 'at: expected Unix milliseconds, got "12:00"'],
    ['an id of the wrong type', ended({ requestId: {} }), 'requestId: expected the JSON-RPC id, a string or a number, got {}'],
    ['another outcome', ended({ outcome: 'fine' }), 'outcome: expected "ok", "error" or "aborted", got "fine"'],
  ])('a message that is %s is a 400 that names the key [work.probe-problem]', (_what, message, problem) => {
    const r = workRig()
    const taken = r.port.takeProbeMessage(message)
    expect(taken.status).toBe(400)
    expect(taken.problem).toContain(problem)
    expect(r.counted).toEqual([])
  })
  test('a well-formed message of an unknown call is taken, and unmatched after the wait', () => {
    const r = workRig()
    expect(r.probe(ended())).toBe(202)
    r.at(61_000)
    expect(r.counted).toEqual(['probe unmatched'])
  })
})
