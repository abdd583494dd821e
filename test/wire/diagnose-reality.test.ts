/** Diagnosis against reality: each limit of each preset, scaled, played by another data path in front, recognised from the records alone. */
import { expect, test } from 'vitest'
import { presetHops } from '../../src/config/presets.ts'
import { compileLine } from '../../src/hops/compile.ts'
import type { Hop } from '../../src/hops/hop.ts'
import { createDiagnosis } from '../../src/predict/diagnosis.ts'
import type { KnownLimit } from '../../src/predict/known-limits.ts'
import { knownLimits } from '../../src/predict/known-limits.ts'
import type { Script } from '../support/judged-call.ts'
import { answering, callThrough, judgedRig, scriptedServer, streaming } from '../support/judged-call.ts'
import type { RawServer } from '../support/raw-server.ts'
import { wireRig } from '../support/wire-rig.ts'

/** What every limit is scaled to, in turn; all others by the same factor. */
const LIMIT_MS = 1_500
const CALLS = 5
/** How many limits are played at once; those missed because this machine was late are played again with fewer. */
const ROUNDS = [12, 6, 3]
const JITTER_MS = 150

const hops = presetHops()
const known = knownLimits(hops)
/** Where a hop has no `headers` its idle limit covers the wait: one limit, played once. */
const played = known.filter(({ kind, preset }) => kind !== 'wait' || hops.find((hop) => hop.preset === preset)?.headers !== undefined)
const drops = ({ kind, tells }: KnownLimit): boolean => kind !== 'total' && typeof tells === 'object'

/** Calls of different lengths that this limit, and only this kind, cuts. */
function scriptFor(limit: KnownLimit, n: number): Script {
  if (limit.kind === 'wait') return answering(2 * LIMIT_MS)
  if (limit.kind === 'idle') {
    const last = 40 + n * 90
    // What drops in silence shows when the server writes again; the last call stays within it.
    const again = drops(limit) ? (n === CALLS ? last + LIMIT_MS - 250 : last + LIMIT_MS + 150 + n * 100) : 2 * LIMIT_MS + last
    return streaming([last, ...(drops(limit) ? [again] : [])], again + 300)
  }
  return streaming(
    Array.from({ length: 30 }, (_, k) => (k + 1) * 100 + n * 15),
    3_200,
  )
}

/** The hop with this limit alone, at its scaled length. */
function playing({ preset, kind, ms }: KnownLimit): Hop {
  const hop = hops.find((one) => one.preset === preset)
  if (hop === undefined) throw new Error(`no preset ${preset}`)
  const { headers, idle, total, ...manners } = hop
  const factor = LIMIT_MS / ms
  const shortIdle = idle === undefined ? {} : { idle: { ...idle, afterMs: LIMIT_MS, rearmMs: idle.rearmMs * factor } }
  if (kind === 'total') return { ...manners, ...(total === undefined ? {} : { total: { ...total, afterMs: LIMIT_MS } }) }
  if (kind === 'idle' || headers === undefined || headers === 'none') return { ...manners, ...shortIdle }
  return { ...manners, headers: { ...headers, afterMs: LIMIT_MS } }
}

const caseName = ({ preset, kind }: KnownLimit): string => `${preset}_${kind}`

interface Verdict {
  readonly limit: KnownLimit
  readonly isNamed: boolean
  readonly lines: readonly string[]
}

/** Plays it in front of a sidecar, and asks the sidecar's records alone. */
async function judge(limit: KnownLimit, server: RawServer): Promise<Verdict> {
  const sidecar = await judgedRig(server.url)
  const front = await wireRig(new URL(`http://127.0.0.1:${sidecar.rig.port}`), { plans: compileLine([playing(limit)], []) })
  const calls = drops(limit) ? CALLS + 1 : CALLS
  await Promise.all(Array.from({ length: calls }, (_, n) => callThrough(front, `${caseName(limit)}/${n}`, 2 * LIMIT_MS)))
  await expect.poll(() => sidecar.journal.openCount(), { timeout: 10_000 }).toBe(0)
  const factor = LIMIT_MS / limit.ms
  const diagnosis = createDiagnosis(() => known.map((one) => ({ ...one, ms: one.ms * factor })), { jitterMs: JITTER_MS })
  for (const record of sidecar.journal.calls()) diagnosis.take(record)
  const named = diagnosis
    .findings()
    .flatMap((finding) => (finding.is === 'cluster' || finding.is === 'drops' ? [finding.explanation] : []))
    .filter(
      ({ fits, kinds }) =>
        kinds.includes(limit.kind) && (limit.kind === 'wait' || kinds.length === 1) && fits.some(({ preset }) => preset === limit.preset),
    )
  return { limit, isNamed: named.length > 0, lines: diagnosis.lines() }
}

const tellsNever = ({ tells }: KnownLimit): boolean => tells === 'none'
const inWords = ({ limit, lines }: Verdict): string => `${caseName(limit)}: ${lines.join(' | ')}`

test('every limit of every preset is recognised, but those that never tell [diagnose.reality]', async () => {
  const cases = new Map(played.map((limit) => [caseName(limit), limit]))
  const server = await scriptedServer((tool) => {
    const [name = '', n] = tool.split('/')
    const limit = cases.get(name)
    return limit === undefined ? [] : scriptFor(limit, Number(n))
  })
  const verdicts = new Map<string, Verdict>()
  let missed: readonly KnownLimit[] = played
  for (const atOnce of ROUNDS) {
    for (let from = 0; from < missed.length; from += atOnce) {
      const batch = await Promise.all(missed.slice(from, from + atOnce).map((limit) => judge(limit, server)))
      for (const verdict of batch) verdicts.set(caseName(verdict.limit), verdict)
    }
    missed = [...verdicts.values()].filter(({ limit, isNamed }) => !isNamed && !tellsNever(limit)).map(({ limit }) => limit)
  }
  const judged = [...verdicts.values()]
  expect(judged.filter(({ limit, isNamed }) => !isNamed && !tellsNever(limit)).map(inWords)).toEqual([])
  // Nobody is told of these, so nothing can show.
  const untold = judged.filter(({ limit }) => tellsNever(limit))
  expect(untold.map(inWords)).toEqual(untold.map(({ limit }) => `${caseName(limit)}: `))
  expect(untold.map(({ limit }) => caseName(limit))).toEqual(['cloud-run_total', 'heroku_wait', 'mcp-typescript-sdk_total'])
  expect(judged.filter(({ isNamed }) => isNamed).length).toBeGreaterThan(35)
}, 120_000)
