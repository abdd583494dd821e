/** The process as the commands see it: what they read, where they print, what they start. Tests give their own. */
import type { AppPorts, RunningApp } from '../app-types.ts'
import type { Environment } from '../config/given.ts'
import type { Settings } from '../config/snapshot.ts'
import type { DemoCode, DemoOptions, DemoPorts } from '../demo/demo.ts'
import type { Paint } from './paint.ts'

export type StopSignal = 'SIGINT' | 'SIGTERM'

/** A stream for people and pipes. */
export interface Printer {
  /** One or more lines, the last without its newline. */
  print(text: string): void
  /** As it is. */
  write(text: string): void
  readonly paint: Paint
  /** People watch it come: a line may be written over. */
  readonly isTerminal?: boolean
}

export interface Sent {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface World {
  readonly env: Environment
  /** What was asked for goes to `out`; what went wrong and what happens meanwhile to `err`. */
  readonly out: Printer
  readonly err: Printer
  /** The file's text. Throws the system's error, with its `code`. */
  readFile(path: string): string
  /** Calls back for each such signal, instead of dying of it, until the returned function is called. */
  onSignal(run: (signal: StopSignal) => void): () => void
  /** Calls back for each SIGHUP, instead of dying of it, until the returned function is called. Absent: there are none. */
  onHangup?(run: () => void): () => void
  /** Ends at once, as if the signal had never been caught. */
  dieOf(signal: StopSignal): void
  startApp(settings: Settings, ports: AppPorts): Promise<RunningApp>
  runDemo(options: DemoOptions, ports: DemoPorts): Promise<DemoCode>
  /** An HTTP GET of the admin API. Rejects where nobody answers. */
  get(url: string, headers: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly text: string }>
  /** Any other request of it, with JSON where there is a body. Rejects where nobody answers. Absent: this world only looks. */
  send?(asked: Sent): Promise<{ readonly status: number; readonly text: string }>
  /** The time of day, in ms since 1970. */
  wallMs(): number
  /** All of stdin. Absent: there is none. */
  readInput?(): string
}
