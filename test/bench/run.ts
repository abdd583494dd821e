/** `npm run bench`: the measures, each proxy a process of its own, repetitions interleaved; a table and JSON. `--help` says what may be asked. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { readArgs } from './args.ts'
import type { Results, RunAbout } from './page.ts'
import { pageOf } from './page.ts'
import { LAST_RESULTS, RESULTS_PAGE, ROOT, SIDECAR_DIR, WORKSHOP } from './places.ts'
import type { Planned } from './plan.ts'
import { aboutMsOf, FULL, MILLION, planOf, QUICK, QUICK_TARGETS } from './plan.ts'
import { canPin, endAll, standUp } from './stage.ts'
import type { Row } from './summary.ts'
import type { Target } from './targets.ts'
import { TARGETS } from './targets.ts'

const given = readArgs(process.argv.slice(2))
const isQuick = given.quick === true
const sidecarDir = resolve(given.sidecar ?? SIDECAR_DIR)
const besideDir = given.beside ?? ''

const listOf = (name: 'targets' | 'measures'): readonly string[] | null => given[name]?.split(',') ?? null

/** What is built once: the processes of the benchmark, and the sidecar where it is ours. */
function build(): void {
  mkdirSync(WORKSHOP, { recursive: true })
  writeFileSync(join(WORKSHOP, 'package.json'), '{ "type": "module" }\n')
  const run = (...args: string[]): void => {
    execFileSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 2, 2] })
  }
  run('node_modules/typescript/bin/tsc', '-p', 'test/bench/tsconfig.json', '--outDir', join(WORKSHOP, 'actors'))
  if (sidecarDir === SIDECAR_DIR) run('.ci/ensure.mjs', 'build')
}

/** Those asked for, without those that are not installed. */
function chosenTargets(): readonly Target[] {
  const wanted = listOf('targets')
  const beside = TARGETS.filter(({ name }) => besideDir !== '' && name === 'sidecar').map((target) => ({
    ...target,
    name: 'beside',
    title: 'the build beside',
  }))
  return [...TARGETS, ...beside].filter(({ name, version }) => {
    const asked = name === 'beside' ? 'sidecar' : name
    if (wanted !== null && !wanted.includes(asked)) return false
    if (wanted === null && isQuick && !QUICK_TARGETS.includes(asked)) return false
    const isThere = version() !== null
    if (!isThere) console.error(`bench: ${name} is not installed and left out`)
    return isThere
  })
}

type Done = Pick<Results, 'rows' | 'failures'> & { readonly rows: Row[]; readonly failures: string[] }

async function runAll(planned: readonly Planned[], targets: readonly Target[]): Promise<Done> {
  const done: Done = { rows: [], failures: [] }
  const wholeMs = aboutMsOf(planned)
  let passedMs = 0
  for (const one of planned) {
    const tell = (what: string): void => progress(passedMs / wholeMs, `${one.step.measure} · ${what}`, (wholeMs - passedMs) / 1_000)
    const chosen = one.targets.flatMap((name) => targets.filter((target) => target.name === name))
    tell(`${one.targets.join(', ')} · ${one.repetition}`)
    try {
      await runOne(one, chosen, done, tell)
    } catch (error) {
      done.failures.push(`${one.step.measure}, ${one.targets.join(', ')}, repetition ${one.repetition}: ${textOf(error)}`)
    }
    passedMs += one.aboutMs
  }
  progress(1, '', 0)
  return done
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function runOne(planned: Planned, targets: readonly Target[], { rows }: Done, tell: (what: string) => void): Promise<void> {
  const { measure, clientArgs, idleMs, limitMs, rounds = 1, isTwice = false } = planned.step
  const [{ name: first } = { name: '' }] = targets
  const stood = isTwice ? targets.flatMap((target) => [target, { ...target, name: `${target.name} twin` }]) : targets
  const sidecarDirOf = (name: string): string => (name.startsWith('beside') ? resolve(besideDir) : sidecarDir)
  const standing = await standUp({ targets: stood, idleMs, sidecarDirOf })
  const args = planned.step.rounds === undefined ? clientArgs : [...clientArgs, '--rounds', String(rounds)]
  try {
    await standing.measure(
      stood.map(({ name }) => name),
      {
        ...{ measure, clientArgs: args, limitMs },
        onSet({ target = first, round = 1, ...set }) {
          const repetition = (planned.repetition - 1) * rounds + round
          rows.push({ ...set, target, repetition, isTogether: planned.step.rounds !== undefined })
          tell(`${target} · ${repetition}`)
        },
      },
    )
  } finally {
    await standing.end()
  }
}

/** On a terminal one line that moves; elsewhere a line each tenth. */
let toldTenth = -1
function progress(share: number, what: string, leftS: number): void {
  const filled = Math.round(share * 20)
  const text = `[${'█'.repeat(filled)}${'░'.repeat(20 - filled)}] ${Math.round(share * 100)} %  about ${Math.ceil(leftS)} s left  ${what}`
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${share === 1 ? '' : text}`)
  else if (Math.floor(share * 10) > toldTenth) {
    toldTenth = Math.floor(share * 10)
    process.stderr.write(`${text}\n`)
  }
}

const loadOf = (): number => Math.round((loadavg()[0] ?? 0) * 100) / 100

async function main(): Promise<void> {
  build()
  const targets = chosenTargets()
  const measures = listOf('measures')
  const all = given.million === true ? [...FULL.filter(({ measure }) => measure !== 'memory'), MILLION] : FULL
  const steps = (isQuick ? QUICK : all)
    .filter(({ measure }) => measures === null || measures.includes(measure))
    .map((one) => (one.only?.includes('sidecar') === true && besideDir !== '' ? { ...one, only: [...one.only, 'beside'] } : one))
  const planned = planOf({ steps, targets, repetitions: given.reps === undefined ? null : Number(given.reps) })
  const startedAt = new Date()
  const loadBefore = loadOf()
  const { rows, failures } = await runAll(planned, targets)
  const about: RunAbout = {
    isQuick,
    command: `npm run bench${process.argv.length > 2 ? ` -- ${process.argv.slice(2).join(' ')}` : ''}`,
    startedAt: startedAt.toISOString().slice(0, 16).replace('T', ' '),
    tookS: Math.round((Date.now() - startedAt.getTime()) / 1_000),
    loadBefore,
    loadAfter: loadOf(),
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}, Node ${process.version}`,
    isPinned: canPin,
    targets: Object.fromEntries(targets.map(({ name, title, version }) => [name, { title, version: version() ?? '' }])),
  }
  const results: Results = { about, rows, failures }
  const json = given.json ?? LAST_RESULTS
  writeFileSync(json, JSON.stringify(results, null, 1))
  const page = pageOf(results)
  console.log(page)
  console.log(`JSON: ${json}`)
  const isWhole = !isQuick && measures === null && listOf('targets') === null && besideDir === ''
  if (isWhole || given.write === true) {
    writeFileSync(RESULTS_PAGE, page)
    console.log(`page: ${RESULTS_PAGE}`)
  }
  if (failures.length > 0) process.exitCode = 1
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    endAll()
    process.exit(130)
  })
}
await main()
