/** The demo with the real sidecar in it: the same story, told faster. */
import { expect, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import { silentLog } from '../../src/core/log.ts'
import type { CallRecord } from '../../src/core/record.ts'
import type { DemoPorts } from '../../src/demo/demo.ts'
import { runDemo } from '../../src/demo/demo.ts'
import { orphanSentence } from '../../src/demo/table.ts'

const TIMING = { workMs: 3_000, progressEveryMs: 100, leaveAfterMs: 700, silentAfterMs: 300, idleTimeoutMs: 700, graceMs: 1_000 }

function rig(more: Partial<DemoPorts> = {}) {
  const printed: string[] = []
  const records: CallRecord[] = []
  const ports: DemoPorts = {
    async startSidecar(settings) {
      const { addresses, stop } = await startApp(settings, { log: silentLog, writeOut: () => undefined })
      return {
        url: new URL(`http://127.0.0.1:${addresses.listen.port}`),
        adminUrl: new URL(`http://127.0.0.1:${addresses.admin.port}`),
        stop,
      }
    },
    print: (text) => void printed.push(...text.split('\n')),
    paint: (_colour, text) => text,
    untilStopped: () => Promise.resolve(),
    async writeReport(of) {
      records.push(...of)
      return 'report.html'
    },
    ...more,
  }
  return { ports, printed, records }
}

test('six calls: measured, told as measured, code 0 [demo.six-calls]', async () => {
  const { ports, printed, records } = rig()
  const code = await runDemo({ isServing: false, timing: TIMING }, ports)
  expect(code, printed.join('\n')).toBe(0)
  const story = records.map(({ tool, closedBy, cause, work }) => [tool, closedBy, cause, work.outcome])
  expect(story).toEqual([
    ['render_obedient', 'server', 'complete', 'finished'],
    ['render_deaf', 'server', 'complete', 'finished'],
    ['render_obedient', 'client', expect.stringMatching(/^client_(abort|reset)$/), 'stopped'],
    ['render_deaf', 'client', expect.stringMatching(/^client_(abort|reset)$/), 'orphaned'],
    ['render_obedient', 'sidecar', 'idle_timeout', 'stopped'],
    ['render_deaf', 'sidecar', 'idle_timeout', 'orphaned'],
  ])
  const [, patient, , left, , cut] = records
  for (const record of [patient, left, cut]) expect(record?.work.endedMs).toBeGreaterThan(2_900)
  expect(left?.abandonedMs).toBeLessThan(2_000)
  expect(cut?.silenceAtCloseMs).toBeGreaterThan(690)
  const sentences = records.map(orphanSentence).filter((sentence) => sentence !== null)
  expect(sentences).toHaveLength(2)
  expect(printed).toEqual(expect.arrayContaining([...sentences, 'report    report.html']))
  expect(printed.join('\n')).toContain('The MCP client of the 2 cut calls has not noticed')
})
test('--serve stays up: its metrics and records answer until the user has had enough [demo.serve]', async () => {
  const seen: number[] = []
  const { ports, printed } = rig()
  const untilStopped = async (): Promise<void> => {
    for (const line of printed) {
      const url = /^(?:metrics|records) +(http\S+)$/.exec(line)?.[1]
      if (url !== undefined) seen.push((await fetch(url)).status)
    }
  }
  const code = await runDemo({ isServing: true, timing: { ...TIMING, workMs: 2_400 } }, { ...ports, untilStopped })
  expect(code, printed.join('\n')).toBe(0)
  expect(seen).toEqual([200, 200])
})
