/** Diagnosis: closes by others, and whose limit they look like. */
import { describe, expect, test } from 'vitest'
import { presetHops } from '../../src/config/presets.ts'
import type { CallRecord, TimelineEntry } from '../../src/core/record.ts'
import { createDiagnosis } from '../../src/predict/diagnosis.ts'
import { knownLimits } from '../../src/predict/known-limits.ts'
import { createSummary } from '../../src/sinks/summary.ts'
import { callRecord } from '../support/call-record.ts'
import { typed } from '../support/cli-world.ts'

const S = 1_000
const presets = knownLimits(presetHops())

interface Closing {
  /** When the server sent something; the head comes at once, unless there is nothing. */
  readonly sent: readonly number[]
  readonly closed: number
  readonly cause?: 'client_abort' | 'client_reset' | 'server_close' | 'server_reset' | 'complete'
  readonly more?: Partial<CallRecord>
}

/** Times in seconds. */
function closing({ sent, closed, cause = 'client_abort', more = {} }: Closing): CallRecord {
  const events = sent.map((s): TimelineEntry => [s * S, 'event', 150, 'progress'])
  const headers: TimelineEntry[] = sent.length === 0 ? [] : [[4, 'headers', 200]]
  return callRecord({
    closedMs: closed * S,
    silenceAtCloseMs: (closed - (sent.at(-1) ?? 0)) * S,
    longestSilenceMs: 0,
    closedBy: cause.startsWith('client') ? 'client' : 'server',
    cause,
    result: 'none',
    timeline: [...headers, ...events, [closed * S, 'closed', cause]],
    ...more,
  })
}
const headAndEvent = (headS: number, eventS: number): TimelineEntry[] => [
  [headS * S, 'headers', 200],
  [eventS * S, 'event', 1, 'progress'],
]
const whole = (longestSilenceS: number) => callRecord({ longestSilenceMs: longestSilenceS * S })
const wobble = (n: number): number => ((n * 37) % 41) / 100 - 0.2 // ± 0.2 s, always the same
const times = (n: number, make: (n: number) => CallRecord): CallRecord[] => Array.from({ length: n }, (_, index) => make(index))

function linesOf(records: readonly CallRecord[], known = presets): readonly string[] {
  const diagnosis = createDiagnosis(() => known)
  for (const record of records) diagnosis.take(record)
  return diagnosis.lines()
}

const idled = (n: number) => closing({ sent: [1 + n * 6], closed: 61 + n * 6 + wobble(n) })

describe('what does not vary is the limit', () => {
  test('an idle limit, whose neighbours are ruled out [diagnose.names]', () => {
    const people = [closing({ sent: [3], closed: 17 }), closing({ sent: [1], closed: 99 }), closing({ sent: [8], closed: 8.5 })]
    const lines = linesOf([...times(31, idled), ...people, whole(20)])
    expect(lines[0]).toMatch(/^31 of 34 client closes came 60\.0 ± 0\.2 s after the last byte, totals 61–241 s: an idle limit of 60 s \(/)
    const [, fits = ''] = /\(([^)]*)\)/.exec(lines[0] ?? '') ?? []
    expect(fits.split(', ')).toEqual(expect.arrayContaining(['nginx', 'ingress-nginx', 'aws-alb', 'fly']))
    expect(fits).not.toMatch(/sdk|claude|copilot|heroku|cloudflare/)
    expect(lines[0]).toMatch(/ Not .*mcp-typescript-sdk.*: a total of 60 s\./)
    expect(lines[1]).toBe('3 of 34 client closes came after no time in common: people who left, or crashes, and no limit.')
  })
  test('a total [diagnose.idle-or-total]', () => {
    const lines = linesOf(times(12, (n) => closing({ sent: [1, 5 + n], closed: 30 + wobble(n) / 4 })))
    expect(lines).toEqual([
      expect.stringMatching(
        /^All 12 client closes came 30\.0 ± 0\.1 s after the request, silences 14–25 s: a total limit of 30 s \(.*gcp-https-lb.*\)\. Not .*cloudfront/,
      ),
    ])
  })
  test('all silent since the request: a total, an idle limit and one on the headers look alike', () => {
    const lines = linesOf(times(6, (n) => closing({ sent: [], closed: 60 + wobble(n) })))
    expect(lines[0]).toMatch(
      /^All 6 client closes came 60\.. ± 0\.. s after the request, with nothing sent since: a limit of 60 s on the headers or silence or the whole \(/,
    )
    expect(lines[0]).toMatch(/\(.*nginx.*claude-desktop.*\)|\(.*claude-desktop.*nginx.*\)/)
  })
  test('two limits at once', () => {
    const lines = linesOf([...times(10, idled), ...times(10, (n) => closing({ sent: [1, 2 + n, 285 - n * 3], closed: 300 + wobble(n) }))])
    expect(lines).toHaveLength(2)
    expect(lines.join('\n')).toMatch(/10 of 20 client closes came 60\.0 .* an idle limit of 60 s/)
    expect(lines.join('\n')).toMatch(/10 of 20 client closes came 300\.0 .* a total limit of 300 s \(.*cursor/)
  })
  test('one that no preset has', () => {
    expect(linesOf(times(6, (n) => closing({ sent: [3 * n], closed: 3 * n + 77 })))[0]).toMatch(
      /an idle limit of 77 s, which no preset has\./,
    )
  })
  test('a total counted from the headers', () => {
    const late = (n: number) =>
      closing({
        sent: [n * 20, n * 20 + 300, n * 20 + 595 - n],
        closed: n * 20 + 600,
        more: {
          timeline: [
            [n * 20 * S, 'headers', 200],
            [(n * 20 + 300) * S, 'event', 1, 'progress'],
            [(n * 20 + 595 - n) * S, 'event', 1, 'progress'],
          ],
        },
      })
    expect(linesOf(times(6, late))[0]).toMatch(/600\.0 ± 0\.1 s after the headers.*total limit of 10m \(varnish\)/)
  })
  test.each([
    [0.1, 'request'],
    [0.6, 'headers'],
  ])('heads within %s s of the requests: a total counted from either [diagnose.idle-or-total]', (withinS, since) => {
    // Exact since the head, as a busy machine makes it now and then.
    const late = (n: number) => {
      const headS = (n * withinS) / 5
      return closing({ sent: [headS, 5 + n], closed: 30 + headS, more: { timeline: headAndEvent(headS, 5 + n) } })
    }
    const lines = linesOf(times(6, late))
    expect(lines).toEqual([expect.stringMatching(new RegExp(`after the ${since}.*: a total limit of 30 s \\(.*gcp-https-lb`))])
    expect(lines[0]).not.toMatch(/Not .*gcp-https-lb/)
  })
  test('a reset is not a FIN', () => {
    const at = (cause: 'client_abort' | 'client_reset') => linesOf(times(6, (n) => closing({ sent: [n], closed: n + 50, cause })))[0]
    expect(at('client_reset')).toMatch(/an idle limit of 50 s \(haproxy, haproxy-no-delay\)/)
    expect(at('client_abort')).toMatch(/Not haproxy, haproxy-no-delay: it resets, and these were FINs/)
  })
  test('a call that was silent for longer and lived is told', () => {
    expect(linesOf([...times(6, idled), whole(90)])[0]).toMatch(/Yet a call was silent for 90\.0 s and lived/)
    expect(linesOf([...times(6, idled), whole(59)])[0]).not.toMatch(/Yet/)
  })
})

test('under five it cannot tell [diagnose.too-few]', () => {
  expect(linesOf(times(4, idled))).toEqual(['4 client closes: too few to tell who made them (5 at least).'])
  expect(linesOf([])).toEqual([])
  expect(linesOf(times(9, () => whole(1)))).toEqual([])
})

test('people who leave are no limit [diagnose.people]', () => {
  const lines = linesOf(times(60, (n) => closing({ sent: [(n * 7) % 50], closed: 50 + ((n * 53) % 240) + ((n * 31) % 17) / 17 })))
  expect(lines).toEqual(['All 60 client closes came after no time in common: people who left, or crashes, and no limit.'])
})

test('what drops without a word [diagnose.drops]', () => {
  const dropped = (n: number) => closing({ sent: [2, 2 + 245 + n * 30], closed: 247.01 + n * 30, cause: 'client_reset' })
  const [line] = linesOf([...times(8, dropped), whole(230)])
  expect(line).toMatch(
    /^All 8 client closes came at the server's first write after 245\.0–455\.0 s of silence: an idle limit of at most 245 s and more than 230 s that drops without a word \(azure-lb: 240 s\)\.$/,
  )
})

describe('a hop behind the sidecar', () => {
  test('by its closes; a client library is not among them [diagnose.behind]', () => {
    const [line] = linesOf(times(6, (n) => closing({ sent: [n * 9], closed: n * 9 + 300, cause: 'server_close' })))
    expect(line).toMatch(/^All 6 server closes came 300\.0 ± 0\.1 s after the last byte.*\(railway|envoy/)
    expect(line).toMatch(/Not .*node-fetch.*: it is no proxy/)
  })
  test('by its answers [diagnose.behind]', () => {
    const answered = (status: number) =>
      times(6, (n) =>
        closing({
          sent: [],
          closed: 100 + wobble(n),
          cause: 'complete',
          more: {
            seenStatus: status,
            status,
            timeline: [
              [100 * S, 'headers', status],
              [100 * S, 'server-over', 'clean'],
            ],
          },
        }),
      )
    expect(linesOf(answered(524))[0]).toMatch(
      /^All 6 answers 524 in the server's place came 100\.. ± 0\.. s after the request.*\(cloudflare\)/,
    )
    expect(linesOf(answered(504))[0]).toMatch(/Not cloudflare: it answers 524/)
    expect(linesOf(answered(500))).toEqual([])
  })
})

test('a client that cancels and leaves its stream open', () => {
  const cancelled = (n: number) =>
    closing({
      sent: [1 + n],
      closed: 200,
      cause: 'complete',
      more: { abandonedBy: 'notification', abandonedMs: 60 * S + n, result: 'seen' },
    })
  expect(linesOf(times(6, cancelled))[0]).toMatch(
    /^All 6 cancellations came 60\.0 ± 0\.1 s after the request.*total limit of 60 s \(.*mcp-typescript-sdk.*\)/,
  )
})

test('a hundred thousand calls keep two thousand [diagnose.bounded]', () => {
  const diagnosis = createDiagnosis(() => presets, { closesMax: 2_000 })
  const records = times(50, idled)
  for (let n = 0; n < 100_000; n += 1) diagnosis.take(records[n % 50] as CallRecord)
  const [finding] = diagnosis.findings()
  expect(finding).toMatchObject({ is: 'cluster', of: 2_000 })
})

test('the summary ends with it [diagnose.summary]', () => {
  const summary = createSummary(
    { nowMs: () => 0 },
    createDiagnosis(() => presets),
  )
  for (const record of times(6, idled)) summary.sink.settled?.(record, { isToolCall: false, orphanMs: 0 } as never)
  expect(summary.lines().at(-1)).toMatch(/^cut by others {2}All 6 client closes came 60\.\d/)
  expect(
    createSummary({ nowMs: () => 0 })
      .lines()
      .join('\n'),
  ).not.toContain('others')
})

describe('diagnose', () => {
  const files = {
    'calls.jsonl': times(6, idled)
      .map((record) => JSON.stringify(record))
      .join('\n'),
    'fine.jsonl': JSON.stringify(whole(1)),
  }
  test('a line a limit [diagnose.cli]', async () => {
    const { code, out, err } = await typed('diagnose --events calls.jsonl', { files })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^All 6 client closes came 60\.\d .*nginx/)
    expect((await typed('diagnose --events fine.jsonl', { files })).out).toBe('Nobody else cut any of these 1 calls.\n')
  })
  test('--json [diagnose.cli]', async () => {
    const { out } = await typed('diagnose --events calls.jsonl --json', { files })
    expect(JSON.parse(out)).toMatchObject({
      findings: [
        {
          is: 'cluster',
          side: 'client',
          calls: 6,
          of: 6,
          measure: 'silence',
          limitMs: 60_000,
          kinds: ['idle'],
          ruledOut: expect.arrayContaining([{ preset: 'mcp-typescript-sdk', why: 'kind' }]),
        },
      ],
    })
  })
  test('without a file', async () => {
    expect((await typed('diagnose')).err).toContain('diagnose: expected --events FILE')
  })
})
