/**
 * Draws dashboards/preview/*.png: `node --import tsx test/preview/write.ts`, by hand, two minutes. Real sidecars live through a
 * story with an experiment in it, a real Prometheus scrapes them, and a real browser takes the pictures.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { boards } from '../support/boards.ts'
import { peerBinary } from '../support/peers.ts'
import { startPrometheus } from '../support/prometheus.ts'
import type { Sidecar } from '../support/prometheus-sidecar.ts'
import { ask, call, nginx, startSidecar } from '../support/prometheus-sidecar.ts'
import { RULE_FILES } from '../support/prometheus-story.ts'
import { ROOT } from '../support/source-tree.ts'
import { boardPage } from './page.ts'

const STORY_SECONDS = 110
const EXPERIMENT = { fromSeconds: 45, forSeconds: 35 }
const EVERY_MS = 300
const WIDTH = 1_456
const HEIGHT_MAX = 1_290
const FOLDER = join(ROOT, 'dashboards/preview')

const binaryOf = (peer: 'prometheus' | 'chromium'): string => {
  const binary = peerBinary(peer)
  if (binary === null) throw new Error(`${peer} is not installed`)
  return binary
}
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The same calls each time, if not at the same moments. */
function createDice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * sides)
  }
}

const sidecars: readonly Sidecar[] = [
  await startSidecar({ path: [nginx(2_500)] }),
  await startSidecar({ path: [nginx(2_500, true)] }),
  await startSidecar({ path: [nginx(2_000)], afterCut: 'drain' }),
]
const prometheus = await startPrometheus(binaryOf('prometheus'), [{ job: 'mcp', ports: sidecars.map(({ port }) => port) }], RULE_FILES)
const from = Date.now() / 1_000
await tell(sidecars)
await sleep(8_000)
await takePictures(Date.now() / 1_000)
await prometheus.stop()
for (const sidecar of sidecars) await sidecar.close()

async function tell(all: readonly Sidecar[]): Promise<void> {
  const dice = createDice(7)
  const open: Promise<void>[] = []
  const experiment = sleep(EXPERIMENT.fromSeconds * 1_000).then(() => startExperiment(all[0]))
  for (const sidecar of all) await ask(sidecar, 'tools/list')
  await sleep(3_000)
  while (Date.now() / 1_000 - from < STORY_SECONDS) {
    const sidecar = all[dice(all.length)]
    if (sidecar === undefined) throw new Error('no sidecar')
    open.push(oneCall(sidecar, dice))
    await sleep(EVERY_MS)
  }
  await experiment
  await Promise.all(open)
}

function oneCall(sidecar: Sidecar, dice: (sides: number) => number): Promise<void> {
  const leftAfterMs = 300 + dice(1_500)
  const face = dice(20)
  if (face < 9) return call(sidecar, 'fast')
  if (face < 12) return call(sidecar, 'held')
  if (face < 14) return call(sidecar, 'obedient', { leftAfterMs })
  if (face < 17) return call(sidecar, 'deaf', { leftAfterMs, orphanMs: 1_000 + dice(5_000) })
  if (face < 18) return call(sidecar, 'mute', { leftAfterMs })
  return call(sidecar, face < 19 ? 'silent' : 'talker')
}

async function startExperiment(sidecar: Sidecar | undefined): Promise<void> {
  const rules = [
    { name: 'withhold-results', when: { tool: 'held' }, do: { cut: { before: 'result' } } },
    { name: 'slow-answers', when: { tool: 'fast', probability: 0.5 }, do: { latency: { delay: '800ms' } } },
  ]
  for (const rule of rules) {
    const answer = await fetch(new URL('/api/v1/faults', sidecar?.adminUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...rule, for: `${EXPERIMENT.forSeconds}s` }),
    })
    if (!answer.ok) throw new Error(await answer.text())
  }
}

async function takePictures(to: number): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const chosen = { __range: `${Math.round(to - from)}s`, __rate_interval: '12s', __interval: '2s', before: '40s' }
  const browser = await chromium.launch({ executablePath: binaryOf('chromium'), args: ['--no-sandbox'] })
  for (const board of boards()) {
    const html = await boardPage(board, { prometheus, from: from + 2, to, stepSeconds: 2, chosen })
    const page = await browser.newPage({ viewport: { width: WIDTH, height: 900 } })
    await page.setContent(html)
    // The upper rows say it; a picture of all is large.
    const clip = { x: 0, y: 0, width: WIDTH, height: Math.min(HEIGHT_MAX, await page.evaluate<number>('document.body.offsetHeight')) }
    const file = join(FOLDER, `${board.uid.replace('impatient-hop-', '')}.png`)
    writeFileSync(file, await page.screenshot({ fullPage: true, clip }))
    await page.close()
  }
  await browser.close()
}
