/** The command line as users have it: built, in a process of its own. */
import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { whenTestEnds } from './raw-socket.ts'
import { ROOT } from './source-tree.ts'

export const MAIN = join(ROOT, 'dist/main.js')

/** Builds only if something changed; throws with the compiler's words. */
export function ensureBuilt(): void {
  execFileSync(process.execPath, [join(ROOT, '.ci/ensure.mjs'), 'install', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] })
}

export interface Running {
  readonly child: ChildProcess
  /** Both streams, as they came. */
  said(): string
  /** Resolves as soon as `what` was said. */
  until(what: RegExp, limitMs?: number): Promise<string>
  /** The exit code. */
  ended(): Promise<number | null>
}

/** A shell line in the project's folder; killed when the current test ends, if it still runs. */
export function runShell(line: string, env: Readonly<Record<string, string>> = {}): Running {
  const child = spawn('bash', ['-c', `exec ${line}`], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const hear = (text: Buffer): void => {
    said += text.toString()
  }
  child.stdout?.on('data', hear)
  child.stderr?.on('data', hear)
  const closed = once(child, 'close').then(([code]) => code as number | null)
  whenTestEnds(() => child.exitCode === null && child.kill('SIGKILL'))
  return {
    child,
    said: () => said,
    ended: () => closed,
    async until(what, limitMs = 20_000) {
      for (const untilMs = performance.now() + limitMs; !what.test(said); ) {
        if (child.exitCode !== null || performance.now() > untilMs) throw new Error(`${line}: waited for ${what}; it said:\n${said}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      return said
    },
  }
}
