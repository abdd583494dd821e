/** All scenarios on a real proxy and on our preset of it, side by side, and what the differences are worth. */
import { readPreset } from '../../src/config/presets.ts'
import { compileLine } from '../../src/hops/compile.ts'
import { overrideHop, resolveHop } from '../../src/hops/resolve.ts'
import { REFUSED_PORT } from './free-port.ts'
import type { Difference } from './hop-peer-compare.ts'
import { compare } from './hop-peer-compare.ts'
import { knownFor } from './hop-peer-known.ts'
import type { Scenario } from './hop-peer-scenarios.ts'
import type { PlayedSide } from './hop-peer-seen.ts'
import { play } from './hop-peer-seen.ts'
import { scriptedServer } from './hop-peer-upstream.ts'
import type { ProxyPeer } from './proxy-list.ts'
import { startProxy } from './proxy-process.ts'
import { wireRig } from './wire-rig.ts'

export interface Verdict {
  readonly scenario: string
  readonly is: 'same' | 'known' | 'different'
  /** Differences that nobody knows of, and known ones that did not show. */
  readonly complaints: readonly string[]
  readonly reasons: readonly string[]
}

/** A busy machine delays one side or the other; a true difference shows at every look. */

const LOOKS_MAX = 5
const LAG_STEP_MS = 10

export async function lookAt(binary: string, peer: ProxyPeer, scenarios: readonly Scenario[]): Promise<readonly Verdict[]> {
  const [realServer, ourServer] = [await scriptedServer(), await scriptedServer()]
  const headers = peer.headers ?? []
  const proxy = await startProxy(binary, peer.program, realServer.server.port)
  const real: PlayedSide = { port: proxy.port, server: realServer, headers }
  const ours: PlayedSide = { port: await ourPort(peer, ourServer.server.url), server: ourServer, headers }
  const refused: PlayedSide = { ...ours, port: await ourPort(peer, new URL(`http://127.0.0.1:${REFUSED_PORT}`)) }
  const verdicts = new Map<string, Verdict>()
  let left = scenarios
  for (let look = 1; look <= LOOKS_MAX && left.length > 0; look += 1) {
    const lag = watchLag()
    const found = await Promise.all(
      left.map(async (scenario) => {
        const ourSide = scenario.prefix === '/refused' ? refused : ours
        const [realSeen, ourSeen] = await Promise.all([play(real, scenario, look), play(ourSide, scenario, look)])
        return judge(peer, scenario, compare(realSeen, ourSeen, peer, scenario, lag.worstMs()))
      }),
    )
    lag.stop()
    for (const verdict of found) verdicts.set(verdict.scenario, verdict)
    left = left.filter(({ name }) => (verdicts.get(name)?.complaints.length ?? 0) > 0)
  }
  await proxy.stop()
  return scenarios.flatMap(({ name }) => verdicts.get(name) ?? [])
}

/** How long this process stood still at worst: both sides' times are read here. */
function watchLag(): { worstMs(): number; stop(): void } {
  let [lastMs, worstMs] = [performance.now(), 0]
  const timer = setInterval(() => {
    const nowMs = performance.now()
    worstMs = Math.max(worstMs, nowMs - lastMs - LAG_STEP_MS)
    lastMs = nowMs
  }, LAG_STEP_MS)
  return { worstMs: () => worstMs, stop: () => clearInterval(timer) }
}

/** Our data path with the preset alone in its path, and the limits of the real configuration. */
async function ourPort({ name, limits }: ProxyPeer, upstream: URL): Promise<number> {
  const read = readPreset(name)
  if (read === null || 'errors' in read) throw new Error(`no preset ${name}`)
  const hop = resolveHop(overrideHop(read.value, limits), { name: `path[0]:${name}`, preset: name })
  return (await wireRig(upstream, { plans: compileLine([hop], []) })).port
}

/** What the differences are worth beside those that are known. */
export function judge({ name: peer }: ProxyPeer, { name: scenario }: Scenario, differences: readonly Difference[]): Verdict {
  const known = knownFor(peer, scenario)
  const isKnown = (aspect: string): boolean => known.some((one) => one.aspect === aspect)
  const occurs = (aspect: string): boolean => differences.some((one) => one.aspect === aspect)
  const strange = differences.filter(({ aspect }) => !isKnown(aspect))
  const gone = known.filter(({ aspect, flaky }) => flaky === undefined && !occurs(aspect))
  const complaints = [
    ...strange.map(({ aspect, real, ours }) => `${peer}, ${scenario}: ${aspect}: really ${real}, ours ${ours}`),
    ...gone.map(({ aspect }) => `${peer}, ${scenario}: ${aspect} is listed as a known difference, and there is none`),
  ]
  return {
    scenario,
    is: complaints.length > 0 ? 'different' : differences.length > 0 ? 'known' : 'same',
    complaints,
    reasons: known.filter(({ aspect }) => occurs(aspect)).map(({ because }) => because),
  }
}
