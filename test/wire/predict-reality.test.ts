/** Prediction against reality: a call recorded without hops, predicted, then run through the data path with the hop. */
import { expect, test } from 'vitest'
import { presetHops } from '../../src/config/presets.ts'
import type { CallRecord } from '../../src/core/record.ts'
import { compileLine } from '../../src/hops/compile.ts'
import type { Hop } from '../../src/hops/hop.ts'
import { candidateOf } from '../../src/predict/candidate.ts'
import type { Prediction } from '../../src/predict/predict.ts'
import { predict } from '../../src/predict/predict.ts'
import { recordingOf } from '../../src/predict/recording.ts'
import type { JudgedRig, Script } from '../support/judged-call.ts'
import { answering, callThrough, judgedRig, recordOf, scriptedServer, streaming, watchLag } from '../support/judged-call.ts'

const SCRIPTS: Readonly<Record<string, Script>> = {
  quiet: streaming([80, 200], 2_400),
  chatty: streaming([350, 700, 1_050, 1_250, 1_750, 2_100], 2_400), // nothing near 1500, and no 800 of silence
  late: answering(2_400),
}
const TOLERANCE_MS = 50
const AT_ONCE = 11

/** Minutes become a second, so far apart that a late timer leaves their order; most else stays as it is. */
function scaled(hop: Hop): Hop {
  const { headers, idle, total } = hop
  return {
    ...hop,
    ...(headers === undefined || headers === 'none' ? {} : { headers: { ...headers, afterMs: 800 } }),
    ...(idle === undefined ? {} : { idle: { ...idle, afterMs: 800, rearmMs: Math.min(idle.rearmMs, 20) } }),
    ...(total === undefined ? {} : { total: { ...total, afterMs: 1_500 } }),
  }
}

interface Judged {
  readonly name: string
  readonly hop: Hop
  readonly predicted: Prediction
  readonly real: CallRecord
  /** How differently the server kept its times in the two runs. */
  readonly driftMs: number
}

test('for every preset: who cuts, when, and what was sent [predict.reality]', async () => {
  const server = await scriptedServer((tool) => SCRIPTS[tool] ?? [])
  const lagMs = watchLag()
  const bare = await judgedRig(server.url)
  const recorded = await runAll(bare)
  const judged: Judged[] = []
  const hops = presetHops().map(scaled)
  for (let from = 0; from < hops.length; from += AT_ONCE) {
    const batch = hops.slice(from, from + AT_ONCE).map(async (hop) => {
      const through = await judgedRig(server.url, compileLine([hop], []))
      const real = await runAll(through)
      for (const tool of Object.keys(SCRIPTS)) {
        const [before, after] = [recorded.get(tool), real.get(tool)]
        if (before === undefined || after === undefined) throw new Error('every call was made')
        const predicted = predict(recordingOf(before), candidateOf(hop.preset, [hop]))
        judged.push({ name: `${hop.preset} ${tool}`, hop, predicted, real: after, driftMs: driftOf(before, after) })
      }
    })
    await Promise.all(batch)
  }
  const toleranceMs = TOLERANCE_MS + 2 * lagMs()
  expect(judged.map(({ name, predicted }) => `${name}: ${outcomeOf(predicted)}`)).toEqual(
    judged.map(({ name, real }) => `${name}: ${realOutcome(real)}`),
  )
  // By the record's own clock there is no drift: what really came is judged as it really was.
  const own = judged.map(({ name, real, hop }) => ({ name, real, predicted: predict(recordingOf(real), candidateOf(hop.preset, [hop])) }))
  const isCut = ({ real }: { readonly real: CallRecord }): boolean => real.hop !== null
  expect(own.filter(isCut).map(({ name, predicted }) => `${name}: ${outcomeOf(predicted)}`)).toEqual(
    own.filter(isCut).map(({ name, real }) => `${name}: ${realOutcome(real)}`),
  )
  const late = judged.filter(({ predicted, real, driftMs }) => !isOnTime(predicted, real, toleranceMs + driftMs))
  expect(
    late.map(
      ({ name, predicted, real, driftMs }) =>
        `${name}: ${predicted.atMs} told ${predicted.told?.atMs}, really ${real.closedMs} told ${real.toldMs} (drift ${driftMs}, tolerance ${toleranceMs})`,
    ),
  ).toEqual([])
  const cutting = new Set(judged.filter(({ predicted }) => predicted.verdict === 'cut').map(({ predicted }) => predicted.hop))
  expect(cutting.size).toBeGreaterThan(30)
}, 60_000)

async function runAll(through: JudgedRig): Promise<ReadonlyMap<string, CallRecord>> {
  const tools = Object.keys(SCRIPTS)
  await Promise.all(tools.map((tool) => callThrough(through.rig, tool, 4_000)))
  return new Map(await Promise.all(tools.map(async (tool) => [tool, await recordOf(through, tool)] as const)))
}

function driftOf(before: CallRecord, after: CallRecord): number {
  const traffic = ({ timeline }: CallRecord) => timeline.filter(([, what]) => what === 'headers' || what === 'event').map(([atMs]) => atMs)
  const [a, b] = [traffic(before), traffic(after)]
  return Math.max(0, ...a.slice(0, b.length).map((atMs, index) => Math.abs(atMs - (b[index] ?? atMs))))
}

/** `idle_timeout by nginx, 200 with 2 events, 301 B, told`: of an answer made by the hop its status only. */
function outcomeOf({ verdict, cause, hop, seen, told }: Prediction): string {
  const who = verdict === 'cut' ? `${cause} by ${hop}` : verdict
  const got = seen.by === 'server' ? `${seen.bytes} B` : 'no server byte'
  return `${who}, ${seen.status}, ${got}, ${told === null ? 'not told' : `told ${told.ending}`}`
}
function realOutcome({ cause, hop, status, bytes, toldMs, timeline }: CallRecord): string {
  const who = hop === null ? (cause === 'complete' ? 'survives' : cause) : `${cause} by ${hop}`
  const isHops = timeline.some(([, what]) => what === 'answered')
  const got = status === null || isHops ? 'no server byte' : `${bytes.sent} B`
  const told = timeline.find(([, what]) => what === 'told')
  return `${who}, ${status}, ${got}, ${toldMs === null || hop === null ? 'not told' : `told ${told?.[2]}`}`
}

function isOnTime({ verdict, atMs, told }: Prediction, real: CallRecord, toleranceMs: number): boolean {
  if (verdict !== 'cut' || atMs === null || real.closedMs === null) return verdict === 'survives'
  const isToldOnTime = told === null || Math.abs(told.atMs - (real.toldMs ?? Infinity)) <= toleranceMs
  return Math.abs(atMs - real.closedMs) <= toleranceMs && isToldOnTime
}
