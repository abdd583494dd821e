/** The running sidecar as its callers see it: what it needs from the process, and what it gives back. */
import type { Loaded } from './config/load.ts'
import type { Address } from './config/snapshot.ts'
import type { Log } from './core/log.ts'
import type { ScenarioReport } from './scenario/report.ts'
import type { Scenario } from './scenario/schema.ts'

/** What the process lends to the app. */
export interface AppPorts {
  readonly log: Log
  /** Takes the lines of `--events -`. */
  writeOut(text: string): void
  /** Reads the settings anew, for the file's sake; absent: they stay as they are. */
  load?(): Loaded
}

export interface RunningApp {
  /** Where it really listens: a configured port 0 is replaced by the one the system gave. `null`: off. */
  readonly addresses: {
    readonly listen: Address
    readonly admin: Address
    readonly metrics: Address | null
    readonly otlp: Address | null
  }
  /** What went otherwise than asked, yet did not keep it from running: one line each. */
  readonly warnings: readonly string[]
  /** Calls, closes by cause, orphan work: what Ctrl-C prints. */
  summaryLines(): readonly string[]
  /** Readiness off, no new connections, drains for `drainMs` at most, then cuts as `shutdown`. A second call gives the same promise. */
  stop(): Promise<void>
  /** What a stop under way still waits for is cut now. */
  hurry(): void
  /** Open exchanges that a stop waits for: calls and uploads, not streams that only listen. */
  openCalls(): number
  /** Plays a scenario; gives what it came to. Rejects where one runs already. Absent: this app plays none. */
  play?(scenario: Scenario): Promise<ScenarioReport>
  /** Reads the file again now; absent where there is none. */
  reload?(): void
}
