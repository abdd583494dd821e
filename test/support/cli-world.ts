/** A command's world that writes down what is printed, holds files in memory, and sends signals when told. */
import type { RunningApp } from '../../src/app-types.ts'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { plain } from '../../src/cli/paint.ts'
import type { StopSignal, World } from '../../src/cli/world.ts'

export interface Asked {
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly startApp?: World['startApp']
  readonly runDemo?: World['runDemo']
  readonly get?: World['get']
  readonly send?: NonNullable<World['send']>
  readonly input?: string
  readonly wallMs?: number
}

export interface CliWorld {
  readonly world: World
  out(): string
  err(): string
  signal(name: StopSignal): void
  readonly deaths: StopSignal[]
}

export function cliWorld({ files = {}, env = {}, startApp, runDemo, get, send, input, wallMs = 0 }: Asked = {}): CliWorld {
  let [out, err] = ['', '']
  const listeners = new Set<(signal: StopSignal) => void>()
  const deaths: StopSignal[] = []
  const printer = (write: (text: string) => void) => ({ write, print: (text: string) => write(`${text}\n`), paint: plain })
  const unexpected = (what: string) => async () => {
    throw new Error(`unexpected: ${what}`)
  }
  return {
    deaths,
    out: () => out,
    err: () => err,
    signal: (name) => {
      for (const listener of [...listeners]) listener(name)
    },
    world: {
      env,
      out: printer((text) => {
        out += text
      }),
      err: printer((text) => {
        err += text
      }),
      readFile: fileReader(files),
      onSignal(run) {
        listeners.add(run)
        return () => listeners.delete(run)
      },
      dieOf: (signal) => deaths.push(signal),
      startApp: startApp ?? unexpected('startApp'),
      runDemo: runDemo ?? unexpected('runDemo'),
      get: get ?? unexpected('get'),
      send: send ?? unexpected('send'),
      readInput: () => input ?? '',
      wallMs: () => wallMs,
    },
  }
}

/** As `readFileSync`, of files in memory. */
export const fileReader =
  (files: Readonly<Record<string, string>>) =>
  (path: string): string => {
    const text = files[path]
    if (text === undefined) throw Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT', syscall: 'open' })
    return text
  }

/** The words as a shell would split them (no quotes). */
export async function typed(line: string, asked: Asked = {}): Promise<{ code: number; out: string; err: string }> {
  const at = cliWorld(asked)
  const code = await runCommandLine(
    line.split(' ').filter((word) => word !== ''),
    COMMANDS,
    at.world,
  )
  return { code, out: at.out(), err: at.err() }
}

/** A sidecar that only says it runs. */
export function fakeApp(more: Partial<RunningApp> = {}): RunningApp {
  return {
    addresses: { listen: { host: '127.0.0.1', port: 8080 }, admin: { host: '127.0.0.1', port: 8475 }, metrics: null, otlp: null },
    warnings: [],
    summaryLines: () => ['3 calls'],
    stop: async () => undefined,
    hurry: () => undefined,
    openCalls: () => 0,
    ...more,
  }
}

/** A promise settled from outside. */
export function deferred<Value>(): { promise: Promise<Value>; resolve(value: Value): void } {
  let resolve: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
