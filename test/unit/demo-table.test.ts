/** What the demo prints, from records: pure. */
import { expect, test } from 'vitest'
import type { CallRecord } from '../../src/core/record.ts'
import type { RunName, StoryLine } from '../../src/demo/story.ts'
import type { Paint } from '../../src/demo/table.ts'
import { orphanSentence, seconds, storyTable } from '../../src/demo/table.ts'
import { DEMO_TIMING } from '../../src/demo/timing.ts'
import { callRecord } from '../support/call-record.ts'

const plain: Paint = (_colour, text) => text
const line = (run: RunName, tool: StoryLine['tool'], record: CallRecord | null): StoryLine => ({
  run,
  tool,
  record,
  client: { is: 'waiting' },
})
const left = { closedBy: 'client', cause: 'client_abort', result: 'none', abandonedBy: 'close', ending: 'fin' } as const
const cut = { closedBy: 'sidecar', cause: 'idle_timeout', hop: 'custom', result: 'none', abandonedBy: 'close', ending: 'fin' } as const
const work = (endedMs: number, outcome: CallRecord['work']['outcome'], afterCloseMs: number) =>
  ({ source: 'probe', startedMs: 3, endedMs, outcome, afterCloseMs }) as const

const story: readonly StoryLine[] = [
  line('undisturbed', 'render_obedient', callRecord()),
  line('undisturbed', 'render_deaf', callRecord()),
  line(
    'client-leaves',
    'render_obedient',
    callRecord({ ...left, closedMs: 2_001, abandonedMs: 2_001, toldMs: 2_002, work: work(2_009, 'stopped', 8) }),
  ),
  line(
    'client-leaves',
    'render_deaf',
    callRecord({ ...left, closedMs: 2_001, abandonedMs: 2_001, toldMs: 2_002, work: work(6_012, 'orphaned', 4_011) }),
  ),
  line(
    'idle-timeout',
    'render_obedient',
    callRecord({ ...cut, closedMs: 3_004, abandonedMs: 3_004, toldMs: 3_004, work: work(3_010, 'stopped', 6) }),
  ),
  line(
    'idle-timeout',
    'render_deaf',
    callRecord({ ...cut, closedMs: 3_004, abandonedMs: 3_004, toldMs: 3_004, work: work(6_004, 'orphaned', 3_000) }),
  ),
]

test('who closed, when, when the work ended, how long after, the verdict [demo.table]', () => {
  expect(storyTable(story, DEMO_TIMING, plain)).toEqual([
    '                                closed by                      when   work ended   after the close   verdict',
    '',
    'nothing in the way',
    '  a tool that stops when told   the server, with its result   6.0 s        6.0 s                 –   finished in time',
    '  a tool that does not listen   the server, with its result   6.0 s        6.0 s                 –   finished in time',
    '',
    'the client leaves after 2.0 s',
    '  a tool that stops when told   the client                    2.0 s        2.0 s              8 ms   stopped when told',
    '  a tool that does not listen   the client                    2.0 s        6.0 s             4.0 s   orphan work',
    '',
    'a hop allows 2.0 s of silence, the tool falls silent after 1.0 s',
    '  a tool that stops when told   the hop: idle timeout         3.0 s        3.0 s              6 ms   stopped when told',
    '  a tool that does not listen   the hop: idle timeout         3.0 s        6.0 s             3.0 s   orphan work',
  ])
})
test('colour is put on, never in the way: taken off again, the table is the plain one [demo.plain-without-colour]', () => {
  const marked: Paint = (colour, text) => `<${colour}>${text}</>`
  const painted = storyTable(story, DEMO_TIMING, marked)
  expect(painted.map((text) => text.replace(/<\/?\w*>/g, ''))).toEqual(storyTable(story, DEMO_TIMING, plain))
  expect(painted.at(-1)).toMatch(/<red>orphan work<\/>$/)
  expect(painted[3]).toMatch(/<green>finished in time<\/>$/)
})
test('the sentence is the record in words, and there is none without orphan work [demo.sentence]', () => {
  const record = (more: Partial<CallRecord>) => callRecord({ ...left, ...more })
  expect(orphanSentence(record({ abandonedMs: 2_003, work: work(6_021, 'orphaned', 4_018) }))).toBe(
    'client gone at 2.0 s, server worked until 6.0 s: 4.0 s orphaned',
  )
  expect(orphanSentence(record({ abandonedMs: 1_400, work: work(9_700, 'orphaned', 8_300) }))).toBe(
    'client gone at 1.4 s, server worked until 9.7 s: 8.3 s orphaned',
  )
  // One decimal where it adds up, else more: 6.3 - 1.9 is not 4.3.
  expect(orphanSentence(record({ abandonedMs: 1_940, work: work(6_260, 'orphaned', 4_320) }))).toBe(
    'client gone at 1.94 s, server worked until 6.26 s: 4.32 s orphaned',
  )
  expect(orphanSentence(record({ abandonedMs: 1_944, work: work(6_268, 'orphaned', 4_324) }))).toMatch(
    /^client gone at 1\.944 s.*: 4\.324 s/,
  )
  expect(orphanSentence(callRecord({ ...cut, abandonedMs: 3_000, work: work(6_000, 'orphaned', 3_000) }))).toMatch(/^stream cut at 3\.0 s/)
  expect(orphanSentence(record({ abandonedMs: 2_000, work: work(2_010, 'stopped', 10) }))).toBeNull()
  expect(
    orphanSentence(
      record({ abandonedMs: 2_000, work: { source: null, startedMs: null, endedMs: null, outcome: 'unobserved', afterCloseMs: null } }),
    ),
  ).toBeNull()
})
test('what was not measured is said, not made up', () => {
  const unseen = storyTable([line('undisturbed', 'render_deaf', null)], DEMO_TIMING, plain).at(-1)
  expect(unseen).toMatch(/not seen by the sidecar +– +– +– +unknown$/)
  const unobserved = callRecord({
    ...left,
    closedMs: 2_000,
    work: { source: null, startedMs: null, endedMs: null, outcome: 'unobserved', afterCloseMs: null },
  })
  expect(storyTable([line('client-leaves', 'render_deaf', unobserved)], DEMO_TIMING, plain).at(-1)).toMatch(
    /2\.0 s +– +– +nobody reported$/,
  )
})
test.each([
  [null, '–'],
  [0, '0.0 s'],
  [0.4, '1 ms'],
  [8.2, '8 ms'],
  [94, '94 ms'],
  [96, '0.1 s'],
  [1_949, '1.9 s'],
  [61_000, '61.0 s'],
])('%s ms reads %s', (ms, text) => {
  expect(seconds(ms)).toBe(text)
})
