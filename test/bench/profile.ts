/**
 * Where the sidecar's microseconds go: runs one measure with `--cpu-prof` and prints the self time by place and by kind.
 * `node --import tsx test/bench/profile.ts --measure events|rtt [--target sidecar] [--sidecar DIR] [--top 30]`; needs the actors of a run before.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { argOf } from './actors/wire-words.ts'
import { SIDECAR_DIR } from './places.ts'
import { stage } from './stage.ts'
import { TARGETS } from './targets.ts'

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const KINDS: readonly (readonly [string, RegExp])[] = [
  ['socket writes (system calls)', /^(writev|writeBuffer|writeLatin1String|writeUtf8String|shutdown) /],
  ['garbage collection', /garbage/],
  ['native: polling, reading, the parser', /^\(program\)|^execute |consume |resume /],
  ['ours: wire', /\/wire\//],
  ['ours: core', /\/core\//],
  ['ours: journal and sinks', /\/(journal|sinks|work|app)\//],
  ['prom-client', /prom-client/],
  ['http-proxy', /http-proxy/],
  ['node: http', /_http_/],
  ['node: streams', /streams\//],
  ['node: net', /node:net|stream_base_commons/],
  ['node: timers', /timers/],
  ['node: ticks and async hooks', /async_hooks|task_queues/],
  ['node: other', /node:/],
]

function selfTimes({ nodes, samples, timeDeltas }: Profile): ReadonlyMap<string, number> {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const file = url.replace(/^.*\/(node_modules|dist)\//, '/').replace('file://', '')
      return [id, `${functionName === '' ? '(anonymous)' : functionName} ${file}${file === '' ? '' : `:${lineNumber + 1}`}`] as const
    }),
  )
  const times = new Map<string, number>()
  for (const [at, id] of samples.entries()) {
    const name = names.get(id) ?? '?'
    if (!name.startsWith('(idle)')) times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] ?? 0))
  }
  return times
}

function print(times: ReadonlyMap<string, number>, units: number): void {
  const busy = [...times.values()].reduce((sum, us) => sum + us, 0)
  const say = (name: string, us: number): void =>
    console.log(`${((us / busy) * 100).toFixed(1).padStart(5)} %  ${(us / units).toFixed(2).padStart(7)} µs  ${name}`)
  const kinds = new Map<string, number>()
  for (const [name, us] of times) {
    const kind = KINDS.find(([, pattern]) => pattern.test(name))?.[0] ?? 'native: other'
    kinds.set(kind, (kinds.get(kind) ?? 0) + us)
  }
  console.log(`busy ${Math.round(busy / 1_000)} ms; per unit of the whole run, warm-up and all`)
  for (const [kind, us] of [...kinds].sort((a, b) => b[1] - a[1])) say(kind, us)
  console.log('')
  for (const [name, us] of [...times].sort((a, b) => b[1] - a[1]).slice(0, Number(argOf('top', '40')))) say(name, us)
}

const measure = argOf('measure', 'events')
const target = TARGETS.find(({ name }) => name === argOf('target', 'sidecar'))
if (target === undefined) throw new Error(`--target: expected one of ${TARGETS.map(({ name }) => name).join(', ')}`)
const dir = mkdtempSync(join(tmpdir(), 'impatient-prof-'))
const clientArgs =
  measure === 'rtt' ? ['--c', '64', '--warm', '3000', '--ms', '8000', '--warm-count', '12000'] : ['--warm', '100', '--ms', '8000']
const sidecarDir = resolve(argOf('sidecar', SIDECAR_DIR))
const nodeArgs = ['--cpu-prof', '--cpu-prof-dir', dir, '--cpu-prof-interval', '200']
const [set] = await stage({ target, measure, clientArgs, idleMs: null, sidecarDir, limitMs: 120_000, nodeArgs })
const [file = ''] = readdirSync(dir)
const figures = set?.figures ?? {}
console.log(JSON.stringify(figures))
const units = measure === 'rtt' ? (figures['rps'] ?? 1) * 8 : (figures['deliveredPerS'] ?? 1) * 8
print(selfTimes(JSON.parse(readFileSync(join(dir, file), 'utf8')) as Profile), units)
rmSync(dir, { recursive: true, force: true })
