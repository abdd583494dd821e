/** The log as a port: what the process says to whoever runs it, apart from its records and metrics. */

/** Small values that belong to a message; never secrets, never bodies. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** Says nothing: for tests and for `--log-level silent`. */
export const silentLog: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
